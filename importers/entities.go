package importers

// Entities is the table of what is imported, in the order of import.
//
// Std names ISO/IEC TS 27560:2023 fields through the W3C DPV guide ("27560: field (dpv term)"), or the letter of GDPR
// Article 30(1) for records of processing.
var Entities = []Entity{
	{
		Name: "purpose", Tables: []string{"purposes"}, Config: true,
		Doc: "A purpose that data is processed for; consents and activities point to it.",
		Fields: []Field{
			{Name: "purpose_id", Type: ID, Required: true, Data: None, Max: 100, Std: "27560: purpose identifier (dpv:hasPurpose)", Doc: "the purpose's code in the source"},
			{Name: "name", Type: Text, Required: true, Data: None, Max: 200, Std: "27560: purpose (dpv:hasPurpose)", Doc: "short name people see"},
			{Name: "description", Type: Text, Data: None, Max: 4000, Std: "27560: purpose description (dct:description)", Doc: "what is done and why"},
			{Name: "dpv_purpose", Type: ID, Data: None, Max: 100, Std: "27560: purpose type (dpv:Purpose)", Doc: "the DPV purpose it is a kind of, such as DirectMarketing"},
			{Name: "lawful_basis", Type: Enum, Data: None, Max: 40, Terms: lawfulBasis, Std: "27560: lawful_basis (dpv:hasLegalBasis)", Doc: "GDPR Article 6(1) basis"},
			{Name: "owner", Type: Text, Data: Contact, Max: 200, Std: "27560: pii_controller contact (dpv:hasResponsibleEntity)", Doc: "who answers for the purpose"},
		},
	},
	{
		Name: "notice", Tables: []string{"notices"}, Config: true,
		Doc: "One version of a privacy notice or consent wording, and when it was in force.",
		Fields: []Field{
			{Name: "notice_id", Type: ID, Required: true, Data: None, Max: 100, Std: "27560: privacy_notice (dpv:hasNotice)", Doc: "the notice's code in the source"},
			{Name: "notice_version", Type: ID, Required: true, Data: None, Max: 50, Std: "27560: privacy_notice version (dct:hasVersion)", Doc: "version of the wording"},
			{Name: "title", Type: Text, Data: None, Max: 300, Std: "27560: privacy_notice title (dct:title)", Doc: "title"},
			{Name: "language", Type: ID, Data: None, Max: 35, Std: "27560: language (dct:language)", Doc: "BCP 47 language tag"},
			{Name: "wording", Type: Text, Data: None, Max: 32000, Std: "27560: privacy_notice (dpv:hasNotice)", Doc: "the wording that was shown"},
			{Name: "wording_digest", Type: ID, Data: None, Max: 64, Std: "27560: privacy_notice digest (dpv:hasNotice)", Doc: "SHA-256 of the wording, hex; consents may point to a notice by it"},
			{Name: "url", Type: Text, Data: None, Max: 2000, Std: "27560: privacy_notice location (dct:source)", Doc: "where it was published"},
			{Name: "valid_from", Type: Date, Required: true, Data: None, Std: "27560: privacy_notice validity (dct:valid)", Doc: "first day in force"},
			{Name: "valid_to", Type: Date, Data: None, Std: "27560: privacy_notice validity (dct:valid)", Doc: "last day in force; blank while it still is"},
		},
	},
	{
		Name: "activity", Tables: []string{"activities"}, Config: true,
		Doc: "A record of processing (GDPR Article 30).",
		Fields: []Field{
			{Name: "activity_id", Type: ID, Required: true, Data: None, Max: 100, Std: "Art. 30(1): record identifier", Doc: "the record's code in the source"},
			{Name: "name", Type: Text, Required: true, Data: None, Max: 300, Std: "Art. 30(1): name of the processing activity", Doc: "name of the processing"},
			{Name: "controller", Type: Text, Data: Contact, Max: 300, Std: "Art. 30(1)(a): controller and contact details", Doc: "controller, joint controller, representative, DPO"},
			{Name: "purpose", Type: ID, Data: None, Max: 100, Ref: "purpose", Std: "Art. 30(1)(b): purposes of the processing", Doc: "code of an imported purpose"},
			{Name: "lawful_basis", Type: Enum, Data: None, Max: 40, Terms: lawfulBasis, Std: "Art. 6(1): lawful basis", Doc: "GDPR Article 6(1) basis"},
			{Name: "subject_categories", Type: Text, Data: None, Max: 2000, Std: "Art. 30(1)(c): categories of data subjects", Doc: "categories of data subjects"},
			{Name: "data_categories", Type: Text, Data: None, Max: 2000, Std: "Art. 30(1)(c): categories of personal data", Doc: "categories of personal data"},
			{Name: "recipients", Type: Text, Data: None, Max: 2000, Std: "Art. 30(1)(d): categories of recipients", Doc: "categories of recipients"},
			{Name: "transfers", Type: Text, Data: None, Max: 2000, Std: "Art. 30(1)(e): transfers to third countries", Doc: "third countries and safeguards"},
			{Name: "retention", Type: Text, Data: None, Max: 1000, Std: "Art. 30(1)(f): envisaged time limits for erasure", Doc: "time limits for erasure"},
			{Name: "security", Type: Text, Data: None, Max: 4000, Std: "Art. 30(1)(g): technical and organisational measures", Doc: "security measures in general terms"},
			{Name: "owner", Type: Text, Data: Contact, Max: 200, Std: "Art. 30(1)(a): responsible contact", Doc: "who answers for the activity"},
		},
	},
	{
		Name: "retention_rule", Tables: []string{"retention_rules"}, Config: true,
		Doc: "How long one kind of record is kept, and what happens then.",
		Fields: []Field{
			{Name: "rule_id", Type: ID, Required: true, Data: None, Max: 100, Std: "27560: storage conditions identifier (dpv:hasStorageCondition)", Doc: "the rule's code in the source"},
			{Name: "entity", Type: Enum, Required: true, Data: None, Max: 20, Terms: entityNames, Std: "Art. 30(1)(f): category of data", Doc: "which kind of record it governs"},
			{Name: "purpose", Type: ID, Data: None, Max: 100, Ref: "purpose", Std: "27560: purpose (dpv:hasPurpose)", Doc: "only records of this purpose"},
			{Name: "months", Type: Integer, Required: true, Data: None, Std: "27560: storage duration (dpv:StorageDuration)", Doc: "how long, in months"},
			{Name: "starts", Type: Enum, Required: true, Data: None, Max: 20, Terms: retentionStart, Std: "27560: storage condition (dpv:StorageCondition)", Doc: "from when the months count"},
			{Name: "action", Type: Enum, Data: None, Max: 20, Terms: retentionAction, Std: "Art. 30(1)(f): envisaged erasure", Doc: "what happens at the end"},
			{Name: "authority", Type: Text, Data: None, Max: 500, Std: "Art. 30(1)(f): ground of the time limit", Doc: "law or decision the rule rests on"},
		},
	},
	{
		Name: "suppression", Tables: []string{"suppressions"},
		Doc: "A contact point that must not be used on a channel; applied before consent.",
		Fields: []Field{
			{Name: "external_id", Type: ID, Data: Identifier, Max: 200, Std: "27560: record_id (dct:identifier)", Doc: "the entry's id in the source"},
			{Name: "subject_id", Type: ID, Data: Identifier, Max: 200, Std: "27560: pii_principal_id (dpv:hasDataSubject)", Doc: "the subject's id in the source system"},
			{Name: "email", Type: Email, Data: Contact, Max: 254, Std: "27560: pii_principal contact (dpv:hasContact)", Doc: "address that must not be used"},
			{Name: "phone", Type: Phone, Data: Contact, Max: 20, Std: "27560: pii_principal contact (dpv:hasContact)", Doc: "number that must not be used, E.164"},
			{Name: "channel", Type: Enum, Required: true, Data: None, Max: 20, Terms: channel, Std: "27560: collection or communication channel", Doc: "channel it covers; any covers all"},
			{Name: "reason", Type: Enum, Required: true, Data: None, Max: 20, Terms: suppressionReason, Std: "27560: event_type (dpv:hasConsentStatus)", Doc: "why; a bounce is no withdrawal"},
			{Name: "occurred_at", Type: DateTime, Data: None, Std: "27560: event_time (dpv:isIndicatedAtTime)", Doc: "when it was declared; blank counts as the export's obtained_at"},
			{Name: "note", Type: Text, Data: FreeText, Max: 4000, Std: "27560: event description (dct:description)", Doc: "free text of the source"},
		},
	},
	{
		Name: "case", Tables: []string{"cases"},
		Doc: "A data-subject request and its history; imported history is never an approval of ours.",
		Fields: []Field{
			{Name: "external_id", Type: ID, Data: Identifier, Max: 200, Std: "27560: record_id (dct:identifier)", Doc: "the case's id in the source"},
			{Name: "request_type", Type: Enum, Required: true, Data: None, Max: 30, Terms: requestType, Std: "GDPR Art. 15 to 22: right exercised (dpv:DataSubjectRight)", Doc: "right that was exercised"},
			{Name: "status", Type: Enum, Required: true, Data: None, Max: 20, Terms: caseStatus, Std: "dpv:RequestStatus", Doc: "the source's status as one of ours"},
			{Name: "status_text", Type: Text, Data: None, Max: 200, Std: "dpv:hasRequestStatus", Doc: "the source's status word for word"},
			{Name: "subject_id", Type: ID, Data: Identifier, Max: 200, Std: "27560: pii_principal_id (dpv:hasDataSubject)", Doc: "the requester's id in the source system"},
			{Name: "email", Type: Email, Data: Contact, Max: 254, Std: "27560: pii_principal contact (dpv:hasContact)", Doc: "requester's address"},
			{Name: "phone", Type: Phone, Data: Contact, Max: 20, Std: "27560: pii_principal contact (dpv:hasContact)", Doc: "requester's number, E.164"},
			{Name: "requester_name", Type: Text, Data: Contact, Max: 200, Std: "27560: pii_principal (dpv:hasName)", Doc: "requester's name"},
			{Name: "purpose", Type: ID, Data: None, Max: 100, Ref: "purpose", Std: "27560: purpose (dpv:hasPurpose)", Doc: "purpose the request is about, if one"},
			{Name: "channel", Type: Enum, Data: None, Max: 20, Terms: channel, Std: "27560: collection channel", Doc: "how it came in"},
			{Name: "received_at", Type: DateTime, Required: true, Data: None, Std: "GDPR Art. 12(3): receipt of the request (dpv:isExercisedAt)", Doc: "when it was received"},
			{Name: "due_at", Type: Date, Data: None, Std: "GDPR Art. 12(3): time limit", Doc: "the source's due date"},
			{Name: "extended_to", Type: Date, Data: None, Std: "GDPR Art. 12(3): extension", Doc: "due date after an extension"},
			{Name: "identity_verified", Type: Bool, Data: None, Std: "GDPR Art. 12(6): identity confirmed", Doc: "whether identity was checked"},
			{Name: "closed_at", Type: DateTime, Data: None, Std: "dpv:RequestFulfilled time", Doc: "when it was closed"},
			{Name: "refusal_reason", Type: Text, Data: FreeText, Max: 4000, Std: "GDPR Art. 12(4): reasons for not taking action", Doc: "why it was refused"},
			{Name: "handler", Type: Text, Data: Contact, Max: 200, Std: "27560: responsible agent (dpv:isIndicatedBy)", Doc: "who handled it in the source"},
			{Name: "details", Type: Text, Data: FreeText, Max: 32000, Std: "27560: event description (dct:description)", Doc: "free text of the source"},
		},
		Derived: []Column{
			{Name: "origin", Field: -1, NotNull: true}, // always "imported"
			{Name: "rule_due_at", Field: -1},           // our due date: one month after receipt, open cases only
			{Name: "approved_by", Field: -1},           // ours; an import leaves it empty
			{Name: "approved_at", Storage: AsInt, Field: -1},
		},
	},
	{
		Name: "consent", Tables: []string{"receipts", "legacy_assertions"}, Event: true,
		Doc: "A consent event: somebody gave, refused or withdrew consent for a purpose on a channel, or it expired.",
		Fields: []Field{
			{Name: "external_id", Type: ID, Data: Identifier, Max: 200, Std: "27560: record_id (dct:identifier)", Doc: "the event's or entry's id in the source"},
			{Name: "subject_id", Type: ID, Data: Identifier, Max: 200, Std: "27560: pii_principal_id (dpv:hasDataSubject)", Doc: "the subject's id in the source system"},
			{Name: "email", Type: Email, Data: Contact, Max: 254, Std: "27560: pii_principal contact (dpv:hasContact)", Doc: "the subject's address"},
			{Name: "phone", Type: Phone, Data: Contact, Max: 20, Std: "27560: pii_principal contact (dpv:hasContact)", Doc: "the subject's number, E.164"},
			{Name: "device_id", Type: ID, Data: Identifier, Max: 200, Std: "27560: pii_principal_id (pseudonymous device)", Doc: "a device's pseudonym; a device is never a person"},
			{Name: "purpose", Type: ID, Data: None, Max: 100, Ref: "purpose", Std: "27560: purpose (dpv:hasPurpose)", Doc: "code of an imported purpose"},
			{Name: "channel", Type: Enum, Data: None, Max: 20, Terms: channel, Std: "27560: collection or communication channel", Doc: "channel the consent covers; blank covers no channel in particular"},
			{Name: "status", Type: Enum, Required: true, Data: None, Max: 20, Terms: consentStatus, Std: "27560: event_type / consent status (dpv:hasConsentStatus)", Doc: "what was decided"},
			{Name: "occurred_at", Type: DateTime, Data: None, Std: "27560: event_time (dpv:isIndicatedAtTime)", Doc: "when it was decided"},
			{Name: "expires_at", Type: DateTime, Data: None, Std: "27560: validity_duration (dpv:hasDuration)", Doc: "when the consent ends by itself"},
			{Name: "notice_id", Type: ID, Data: None, Max: 100, Std: "27560: privacy_notice (dpv:hasNotice)", Doc: "code of the imported notice that was shown"},
			{Name: "notice_version", Type: ID, Data: None, Max: 50, Std: "27560: privacy_notice version (dct:hasVersion)", Doc: "its version"},
			{Name: "notice_digest", Type: ID, Data: None, Max: 64, Std: "27560: privacy_notice digest (dpv:hasNotice)", Doc: "SHA-256 of the wording shown, hex, instead of id and version"},
			{Name: "actor", Type: Text, Data: Contact, Max: 200, Std: "27560: entity_id (dpv:isIndicatedBy)", Doc: "who recorded the act"},
			{Name: "actor_role", Type: Text, Data: None, Max: 200, Std: "27560: party_role (dpv:hasEntity)", Doc: "in what capacity"},
			{Name: "method", Type: Text, Data: None, Max: 200, Std: "27560: consent_type / method (dpv:hasIndicationMethod)", Doc: "how the act was expressed"},
			{Name: "proof_kind", Type: Enum, Data: None, Max: 30, Terms: proofKind, Std: "27560: evidence type (dpv:hasProof)", Doc: "kind of proof, a closed list"},
			{Name: "proof_ref", Type: ID, Data: Identifier, Max: 500, Std: "27560: evidence reference (dpv:hasProof)", Doc: "where the proof is: a reference or a digest"},
			{Name: "lawful_basis", Type: Enum, Data: None, Max: 40, Terms: lawfulBasis, Std: "27560: lawful_basis (dpv:hasLegalBasis)", Doc: "basis the row rests on; other than consent, the row is no consent"},
			{Name: "collected_via", Type: Text, Data: None, Max: 300, Std: "27560: collection_method (dpv:hasDataSource)", Doc: "form, page or campaign of the source"},
			{Name: "language", Type: ID, Data: None, Max: 35, Std: "27560: language (dct:language)", Doc: "BCP 47 tag of the language used"},
			{Name: "jurisdiction", Type: ID, Data: None, Max: 20, Std: "27560: jurisdiction (dpv:hasJurisdiction)", Doc: "country or region whose law applies"},
			{Name: "note", Type: Text, Data: FreeText, Max: 4000, Std: "27560: event description (dct:description)", Doc: "free text of the source"},
		},
		Derived: []Column{
			{Name: "class", Field: -1, NotNull: true},      // receipt or legacy_assertion
			{Name: "confidence", Field: -1, NotNull: true}, // strong, partial, weak, none
			{Name: "missing", Field: -1, NotNull: true},    // unanswered questions, comma-separated, in the order of the rule
			{Name: "remediation", Field: -1},               // what would complete the evidence
			{Name: "stated", Field: -1},                    // JSON: answers stated by an operator, with name and time
		},
	},
}
