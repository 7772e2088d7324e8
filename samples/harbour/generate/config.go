package main

// The configuration workbook: what consents and cases point to.

func (d *data) config() []*sheet {
	purposes := [][]any{
		{"Code", "Purpose", "Description", "DPV", "Legal basis", "Owner"},
		{"NEWSLETTER", "Newsletter", "Weekly newsletter about offers of our own shops", "DirectMarketing", "Consent (Art. 6(1)(a))", "Marketing"},
		{"OFFERS", "Personal offers", "Offers chosen by what a customer bought before", "PersonalisedAdvertising", "Consent (Art. 6(1)(a))", "Marketing"},
		{"PROFILE", "Recommendations", "Recommendations in shop and app", "ProvideProductRecommendations", "Consent (Art. 6(1)(a))", "Online shop"},
		{"SURVEY", "Customer surveys", "Invitations to surveys, at most twice a year", "CommercialResearch", "Consent (Art. 6(1)(a))", "Market research"},
		{"LOYALTY", "Harbour card", "Bonus points and account of the customer card", "CustomerManagement", "Contract (Art. 6(1)(b))", "Customer service"},
	}
	notices := [][]any{
		{"Notice", "Version", "Title", "Language", "Wording", "URL", "In force from", "In force to"},
		{"DSE-SHOP", "v1", "Privacy notice of the online shop", "de", "Ich möchte Neuigkeiten und Angebote erhalten. Widerruf jederzeit.", "https://shop.harbour.example/datenschutz/v1", day{2018, 5, 25}, day{2020, 6, 30}},
		{"DSE-SHOP", "v2", "Privacy notice of the online shop", "de", "Ich willige ein, dass Harbour mir Angebote auf dem gewählten Weg sendet. Widerruf jederzeit.", "https://shop.harbour.example/datenschutz/v2", day{2020, 7, 1}, day{2022, 12, 31}},
		{"DSE-SHOP", "v3", "Privacy notice of the online shop", "de", "Ich willige ein, dass Harbour mir Angebote auf dem gewählten Weg sendet und dafür meine Einkäufe auswertet.", "https://shop.harbour.example/datenschutz/v3", day{2023, 1, 1}, day{2024, 12, 31}},
		{"DSE-SHOP", "v4", "Privacy notice of the online shop", "de", "Ich willige in den oben gewählten Zweck ein. Widerruf jederzeit im Kundenkonto.", "https://shop.harbour.example/datenschutz/v4", day{2025, 1, 1}, nil},
		{"DSE-STORE", "v1", "Consent form of the branches", "de", "Ich willige ein. (Formular F-7)", nil, day{2019, 1, 1}, day{2023, 12, 31}},
		{"DSE-STORE", "v2", "Consent form of the branches", "de", "Ich willige in die angekreuzten Zwecke ein. (Formular F-9)", nil, day{2024, 1, 1}, nil},
	}
	activities := [][]any{
		{"Record", "Processing", "Controller", "Purpose", "Legal basis", "Data subjects", "Data", "Recipients", "Transfers", "Retention", "Security", "Owner"},
		{"VVT-01", "Sending the newsletter", "Harbour Retail (made up), data protection office", "NEWSLETTER", "Consent (Art. 6(1)(a))", "Subscribers", "Contact data, openings", "Mail service provider", "none", "until consent is withdrawn", "Access by role, encryption in transit", "Marketing"},
		{"VVT-02", "Personal offers", "Harbour Retail (made up), data protection office", "OFFERS", "Consent (Art. 6(1)(a))", "Customers", "Contact data, purchases", "Mail service provider, call centre", "none", "until consent is withdrawn", "Access by role, encryption in transit", "Marketing"},
		{"VVT-03", "Recommendations in shop and app", "Harbour Retail (made up), data protection office", "PROFILE", "Consent (Art. 6(1)(a))", "Customers with an account", "Purchases, clicks", "none", "none", "13 months", "Pseudonyms, access by role", "Online shop"},
		{"VVT-04", "Customer surveys", "Harbour Retail (made up), data protection office", "SURVEY", "Consent (Art. 6(1)(a))", "Customers", "Contact data, answers", "Survey institute", "none", "24 months", "Pseudonyms", "Market research"},
		{"VVT-05", "Harbour card", "Harbour Retail (made up), data protection office", "LOYALTY", "Contract (Art. 6(1)(b))", "Card holders", "Master data, points", "none", "none", "10 years (tax law)", "Access by role, backups", "Customer service"},
	}
	retention := [][]any{
		{"Rule", "Applies to", "Purpose", "Months", "Counts from", "Then", "Ground"},
		{"AUF-1", "consent", nil, 36, "withdrawal", "delete", "Limitation period, section 195 BGB"},
		{"AUF-2", "consent", "SURVEY", 24, "consent", "delete", "Decision of the data protection office"},
		{"AUF-3", "request", nil, 36, "closing", "anonymise", "Limitation period, section 195 BGB"},
		{"AUF-4", "suppression", nil, 120, "export", "review", "Article 21 GDPR"},
	}
	var sheets []*sheet
	for _, s := range []struct {
		name, source, entity string
		rows                 [][]any
	}{
		{"Purposes", "purposes", "purpose", purposes},
		{"Notices", "notices", "notice", notices},
		{"Processing", "activities", "activity", activities},
		{"Retention", "retention", "retention_rule", retention},
	} {
		t := d.source(s.source)
		for i := range s.rows[1:] {
			d.accept(t, i+2)
			d.record(s.entity)
		}
		sheets = append(sheets, &sheet{name: s.name, header: 1, rows: s.rows, widths: map[string]float64{"A": 14, "B": 24, "C": 40}})
	}
	return sheets
}
