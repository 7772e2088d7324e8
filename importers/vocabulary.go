package importers

// DPV terms are those of the W3C Data Privacy Vocabulary 2.1 (https://w3id.org/dpv) and its EU GDPR extension
// (https://w3id.org/dpv/legal/eu/gdpr). A term without an IRI is ours: no published vocabulary has it.
const (
	dpv  = "https://w3id.org/dpv#"
	gdpr = "https://w3id.org/dpv/legal/eu/gdpr#"
)

var (
	consentStatus = []Term{
		{"given", dpv + "ConsentGiven"},
		{"refused", dpv + "ConsentRefused"},
		{"withdrawn", dpv + "ConsentWithdrawn"},
		{"expired", dpv + "ConsentExpired"},
	}
	lawfulBasis = []Term{
		{"consent", gdpr + "A6-1-a"},
		{"contract", gdpr + "A6-1-b"},
		{"legal_obligation", gdpr + "A6-1-c"},
		{"vital_interest", gdpr + "A6-1-d"},
		{"public_task", gdpr + "A6-1-e"},
		{"legitimate_interest", gdpr + "A6-1-f"},
	}
	channel = []Term{
		{"email", ""}, {"sms", ""}, {"phone", ""}, {"post", ""}, {"push", ""}, {"whatsapp", ""}, {"web", ""}, {"any", ""},
	}
	proofKind = []Term{
		{"signed_token", ""},
		{"double_opt_in_log", ""},
		{"signed_document", ""},
		{"recorded_call", ""},
		{"served_notice_history", ""},
	}
	suppressionReason = []Term{
		{"objection", gdpr + "A21"}, {"opt_out", dpv + "ConsentWithdrawn"}, {"complaint", ""}, {"bounce", ""}, {"invalid", ""}, {"legal", ""},
	}
	requestType = []Term{
		{"access", gdpr + "A15"},
		{"rectification", gdpr + "A16"},
		{"erasure", gdpr + "A17"},
		{"restriction", gdpr + "A18"},
		{"portability", gdpr + "A20"},
		{"objection", gdpr + "A21"},
		{"automated_decision", gdpr + "A22"},
		{"withdraw_consent", gdpr + "A7-3"},
		{"complaint", gdpr + "A77"},
		{"other", ""},
	}
	caseStatus = []Term{
		{"open", dpv + "RequestInitiated"}, {"closed_fulfilled", dpv + "RequestFulfilled"}, {"closed_refused", dpv + "RequestRejected"}, {"withdrawn", ""},
	}
	entityNames = []Term{
		{"purpose", ""}, {"notice", ""}, {"activity", ""}, {"retention_rule", ""}, {"suppression", ""}, {"case", ""}, {"consent", ""},
	}
	retentionStart = []Term{
		{"occurred", ""}, {"closed", ""}, {"withdrawn", ""}, {"obtained", ""},
	}
	retentionAction = []Term{
		{"delete", ""}, {"anonymise", ""}, {"review", ""},
	}
)
