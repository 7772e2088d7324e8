package importers

import "strings"

// RecordField is one field of a consent record as ISO/IEC TS 27560:2023 (clause 6.3) lists it, and what answers it here. Names,
// obligation, related articles of the GDPR and terms follow the public W3C guide "Consent Records and Receipts as per ISO/IEC TS
// 27560:2023 using DPV" (https://w3id.org/dpv/guides/consent-27560); terms are of DPV 2 and of DCMI Metadata Terms (dct).
//
// Any of the places may hold it: fields of the consent itself, of the imported notice that it points to, of its purpose, or of
// an activity (a record of processing) of that purpose. A field with no place at all can't be kept by the register yet, and
// Assigned ones are the register's to give.
type RecordField struct {
	Section  string // of the record: header, processing, pii, party, event
	Name     string
	Required bool   // mandatory in TS 27560
	GDPR     string // articles that ask for the same, empty for none
	DPV      string

	Consent   []string
	Notice    []string
	Purpose   []string
	Activity  []string
	Retention bool // a retention rule for consents, of the purpose or of all purposes
	Assigned  bool // given by the register to every record
}

// HasPlace reports whether the register has any place for the field.
func (f *RecordField) HasPlace() bool {
	return f.Assigned || f.Retention || len(f.Consent)+len(f.Notice)+len(f.Purpose)+len(f.Activity) > 0
}

// RecordFields are the fields of a consent record, in the order of the standard's sections.
var RecordFields = []RecordField{
	{Section: "header", Name: "schema_version", Required: true, DPV: "dct:conformsTo", Assigned: true},
	{Section: "header", Name: "record_id", Required: true, DPV: "dct:identifier, dpv:hasIdentifier", Assigned: true},
	{Section: "header", Name: "pii_principal_id", Required: true, DPV: "dpv:hasDataSubject, dct:identifier", Consent: []string{"subject_id", "email", "phone", "device_id"}},

	{Section: "processing", Name: "privacy_notice", Required: true, GDPR: "13, 14", DPV: "dpv:hasNotice", Notice: []string{"notice_id"}},
	{Section: "processing", Name: "language", Required: true, DPV: "dct:language", Consent: []string{"language"}, Notice: []string{"language"}},
	{Section: "processing", Name: "purpose", Required: true, GDPR: "6(1)(a)", DPV: "dpv:hasPurpose", Consent: []string{"purpose"}},
	{Section: "processing", Name: "purpose_type", DPV: "dpv:hasPurpose", Purpose: []string{"dpv_purpose"}},
	{Section: "processing", Name: "lawful_basis", GDPR: "6", DPV: "dpv:hasLegalBasis", Consent: []string{"lawful_basis"}, Purpose: []string{"lawful_basis"}},
	{Section: "processing", Name: "pii_information", Required: true, DPV: "dpv:hasPersonalData", Activity: []string{"data_categories"}},
	{Section: "processing", Name: "pii_controllers", Required: true, DPV: "dpv:hasDataController", Activity: []string{"controller"}},
	{Section: "processing", Name: "collection_method", GDPR: "13(1), 14(2)(f)", DPV: "dpv:hasDataSource", Consent: []string{"collected_via"}},
	{Section: "processing", Name: "processing_method", GDPR: "4(2), 13(2)(f), 14(2)(g), 30(2)(b)", DPV: "dpv:hasProcessing"},
	{Section: "processing", Name: "storage_locations", Required: true, GDPR: "15(2)", DPV: "dpv:hasStorageCondition, dpv:hasLocation"},
	{Section: "processing", Name: "retention_period", Required: true, GDPR: "13(2)(a), 14(2)(a), 15(1)(d), 30(1)(f)", DPV: "dpv:hasStorageCondition, dpv:hasDuration", Activity: []string{"retention"}, Retention: true},
	{Section: "processing", Name: "processing_locations", GDPR: "13(1)(f), 14(1)(f), 15(2)", DPV: "dpv:hasLocation"},
	{Section: "processing", Name: "geographic_restrictions", GDPR: "13(1)(f), 30(1)(e), 44 to 49", DPV: "dpv:hasLocation, dpv:hasRule", Activity: []string{"transfers"}},
	{Section: "processing", Name: "service", DPV: "dpv:hasService"},
	{Section: "processing", Name: "jurisdiction", Required: true, DPV: "dpv:hasJurisdiction", Consent: []string{"jurisdiction"}},
	{Section: "processing", Name: "recipient_third_parties", Required: true, GDPR: "13(1)(e), 14(1)(e), 30(1)(d)", DPV: "dpv:hasRecipient, dpv:hasThirdParty", Activity: []string{"recipients"}},
	{Section: "processing", Name: "withdrawal_method", Required: true, GDPR: "7(3), 13(2)(c), 14(2)(d)", DPV: "dpv:hasConsentControl"},
	{Section: "processing", Name: "privacy_rights", GDPR: "13 to 22", DPV: "dpv:hasRight"},
	{Section: "processing", Name: "codes_of_conduct", GDPR: "40, 42", DPV: "dpv:hasOrganisationalMeasure"},
	{Section: "processing", Name: "impact_assessment", GDPR: "35", DPV: "dpv:hasImpactAssessment"},
	{Section: "processing", Name: "authority_party", GDPR: "13(2)(d), 14(2)(e), 51", DPV: "dpv:hasAuthority"},

	{Section: "pii", Name: "pii_type", Required: true, GDPR: "14(1)(d), 15(1)(b), 30(1)(c)", DPV: "dpv:hasPersonalData", Activity: []string{"data_categories"}},
	{Section: "pii", Name: "pii_attribute_id", DPV: "dct:identifier"},
	{Section: "pii", Name: "pii_optional", GDPR: "13(2)(e)", DPV: "dpv:hasNecessity"},
	{Section: "pii", Name: "sensitive_pii_category", DPV: "dpv:hasSensitivityLevel"},
	{Section: "pii", Name: "special_pii_category", GDPR: "9", DPV: "dpv:hasPersonalData"},

	{Section: "party", Name: "party_id", Required: true, DPV: "dct:identifier, dpv:hasIdentifier"},
	{Section: "party", Name: "party_address", Required: true, GDPR: "13(1)(a), 14(1)(a)", DPV: "dpv:hasAddress"},
	{Section: "party", Name: "party_email", DPV: "dpv:hasContact"},
	{Section: "party", Name: "party_url", DPV: "dpv:hasContact"},
	{Section: "party", Name: "party_phone", DPV: "dpv:hasContact"},
	{Section: "party", Name: "party_name", Required: true, GDPR: "13(1)(a), 14(1)(a), 30(1)(a)", DPV: "dpv:hasName", Activity: []string{"controller"}},
	{Section: "party", Name: "party_role", GDPR: "4(7) to 4(10)", DPV: "dpv:hasDataController, dpv:hasRecipient", Consent: []string{"actor_role"}, Activity: []string{"controller"}},
	{Section: "party", Name: "party_contact", Required: true, GDPR: "13(1)(a), 14(1)(a)", DPV: "dpv:hasContact", Purpose: []string{"owner"}, Activity: []string{"owner"}},
	{Section: "party", Name: "party_type", Required: true, GDPR: "4(9)", DPV: "dpv:hasRecipient, dpv:hasDataSource"},

	{Section: "event", Name: "event_time", Required: true, GDPR: "7(1)", DPV: "dct:date", Consent: []string{"occurred_at"}},
	{Section: "event", Name: "validity_duration", Required: true, DPV: "dct:valid", Consent: []string{"expires_at"}},
	{Section: "event", Name: "entity_id", Required: true, DPV: "dpv:isImplementedByEntity", Consent: []string{"actor"}},
	{Section: "event", Name: "event_type", Required: true, GDPR: "4(11), 9(2)(a)", DPV: "dpv:hasLegalBasis", Consent: []string{"method"}},
	{Section: "event", Name: "event_state", Required: true, GDPR: "4(11), 7(3)", DPV: "dpv:hasConsentStatus", Consent: []string{"status"}},
}

// Where says in words what answers the field.
func (f *RecordField) Where() string {
	var places []string
	for _, p := range []struct {
		entity string
		fields []string
	}{{"consent", f.Consent}, {"notice", f.Notice}, {"purpose", f.Purpose}, {"activity", f.Activity}} {
		for _, name := range p.fields {
			places = append(places, p.entity+"."+name)
		}
	}
	if f.Retention {
		places = append(places, "retention_rule")
	}
	switch {
	case f.Assigned:
		return "the register, for every record"
	case len(places) == 0:
		return "nothing yet: the register has no place for it"
	}
	return strings.Join(places, " or ")
}
