package main

import "fmt"

// entries are the rows of the register by what they show. The numbers name the subjects, so that a suppression or a request
// can reach one of them and nobody else.
func (d *data) entries() []*entry {
	var all []*entry
	add := func(list ...*entry) { all = append(all, list...) }
	add(provenEntries()...)
	add(assertedEntries()...)
	add(contestedEntries()...)
	add(callEntries()...)
	add(skippedEntries()...)
	add(rejectedEntries()...)
	// Exact copies of a receipt, of an assertion and of a row that also opts out from calls.
	for _, i := range []int{3, 52, 103} {
		add(&entry{who: all[i].who, repeats: all[i], outcome: "row.repeat", skipped: true})
	}
	return all
}

// provenEntries answer all six questions: receipts, whatever they say.
func provenEntries() []*entry {
	var list []*entry
	for n := 1; n <= 40; n++ {
		purpose := purposes[n%len(purposes)]
		e := receipt(n, purpose, channels[n%len(channels)], on(n, purpose))
		e.consent = yes[n%len(yes)]
		switch n {
		case 7, 19:
			e.consent = "N"
		case 31:
			e.consent = "nein"
		case 10, 22, 34: // recent enough for the retention rule of withdrawn consents
			e = receipt(n, purpose, "E-Mail", day{2025, n % 12, 9})
			e.consent = "widerrufen"
			e.method = "link in a mail"
		case 12:
			e.remarks = "möchte nur vormittags angerufen werden"
		case 25:
			e.email = e.who.email + " " // a space behind, which the mapping trims
		}
		list = append(list, e)
	}
	return list
}

// assertedEntries lack an answer, each group another one.
func assertedEntries() []*entry {
	groups := []struct {
		missing string
		strip   func(e *entry)
	}{
		{"notice", func(e *entry) { e.version = "" }},
		{"notice", func(e *entry) { e.notice, e.version = "", "" }},
		{"actor", func(e *entry) { e.role = "" }},
		{"proof", func(e *entry) { e.proofType, e.proofRef = "website", "" }},
		{"proof", func(e *entry) { e.proofRef = "Y" }}, // a bare word is no reference
		{"time", func(e *entry) { e.date = nil }},
		{"notice actor proof", func(e *entry) {
			e.notice, e.version, e.actor, e.role, e.proofType, e.proofRef = "", "", "", "", "Y", ""
		}},
		{"purpose notice actor proof time", func(e *entry) {
			e.purpose, e.notice, e.version, e.actor, e.role, e.proofType, e.proofRef, e.date = "", "", "", "", "", "", "", nil
		}},
	}
	var list []*entry
	for g, group := range groups {
		for i := range 5 {
			n := 41 + 5*g + i
			purpose := purposes[n%len(purposes)]
			e := receipt(n, purpose, channels[n%len(channels)], on(n, purpose))
			e.consent = yes[n%len(yes)]
			group.strip(e)
			e.missing = group.missing
			if group.missing == "time" { // without a time nobody can show that the notice was in force
				e.missing = "notice time"
			}
			if i == 4 {
				e.noPhone = true
			}
			list = append(list, e)
		}
	}
	list[6].remarks = "Zettel lag der Karteikarte bei, Unterschrift fehlt"
	// The notice was not in force yet, or no longer, on the day of the consent.
	early := receipt(104, "OFFERS", "E-Mail", day{2024, 3, 14})
	early.version = "v4"
	late := receipt(106, "NEWSLETTER", "E-Mail", day{2023, 2, 6})
	late.version = "v2"
	for _, e := range []*entry{early, late} {
		e.missing, e.findings = "notice", []string{"notice.not_in_force"}
		list = append(list, e)
	}
	return list
}

// contestedEntries are consents that something speaks against.
func contestedEntries() []*entry {
	withdrawal := func(n int, purpose, channel string, date any) *entry {
		return &entry{
			who: subject(n), purpose: purpose, channel: channel, consent: "widerrufen", date: date, method: "mail to customer service",
			actor: "Customer service", role: "staff of the controller", missing: "notice proof",
		}
	}
	overruled, suppressed := []string{"consent.overruled"}, []string{"suppression.overrules"}

	// A dated withdrawal, and a receipt that is provably later: the receipt stands.
	w81 := withdrawal(81, "NEWSLETTER", "E-Mail", "01.03.2025 10:00")
	r81 := receipt(81, "NEWSLETTER", "E-Mail", day{2025, 6, 1})

	// A withdrawal and a receipt of the same minute: a tie goes to the withdrawal.
	w82 := withdrawal(82, "OFFERS", "E-Mail", "2025-03-04 10:15")
	r82 := receipt(82, "OFFERS", "E-Mail", day{2025, 3, 4})
	r82.date, r82.findings = moment{2025, 3, 4, 10, 15}, overruled

	// An undated withdrawal counts as of the export, so it beats a dated assertion and a dated receipt.
	w83 := withdrawal(83, "NEWSLETTER", "E-Mail", nil)
	w83.missing = "notice proof time"
	a83 := receipt(83, "NEWSLETTER", "E-Mail", day{2026, 1, 10})
	a83.proofType, a83.proofRef, a83.missing, a83.findings = "", "", "proof", overruled
	w84 := withdrawal(84, "PROFILE", "E-Mail", nil)
	w84.missing = "notice proof time"
	r84 := receipt(84, "PROFILE", "E-Mail", day{2026, 2, 11})
	r84.findings = overruled

	// A later assertion never overrides a withdrawal. The newsletter list says Y for this subject, too.
	w85 := withdrawal(85, "NEWSLETTER", "E-Mail", "12.09.2024")
	a85 := receipt(85, "NEWSLETTER", "E-Mail", day{2025, 5, 5})
	a85.version, a85.missing, a85.findings = "", "notice", overruled

	// An old receipt, withdrawn since.
	r86 := receipt(86, "OFFERS", "SMS", day{2024, 4, 2})
	r86.findings = overruled
	w86 := withdrawal(86, "OFFERS", "SMS", day{2025, 10, 20})

	// Suppressed but given; see suppressions.go. 88 gave a receipt after the opt-out, so it stands.
	r87 := receipt(87, "NEWSLETTER", "E-Mail", day{2024, 5, 3})
	r88 := receipt(88, "NEWSLETTER", "E-Mail", day{2025, 2, 17})
	r89 := receipt(89, "OFFERS", "E-Mail", day{2025, 7, 7})
	r90 := receipt(90, "OFFERS", "E-Mail", day{2026, 3, 30})
	a91 := receipt(91, "PROFILE", "E-Mail", day{2025, 1, 21})
	a91.role, a91.missing = "", "actor"
	for _, e := range []*entry{r87, r89, r90, a91} {
		e.findings = suppressed
	}

	// An objection in the request tracker speaks against 92; the request of 94 was taken back.
	a92 := receipt(92, "PROFILE", "E-Mail", day{2024, 8, 19})
	a92.version, a92.missing, a92.findings = "", "notice", overruled
	r94 := receipt(94, "OFFERS", "E-Mail", day{2025, 8, 8})

	// The erasure of 93 was fulfilled in March 2026: what is older is not brought back, the receipt of June is.
	a93 := receipt(93, "NEWSLETTER", "E-Mail", day{2024, 2, 29})
	a93.outcome = "subject.erased"
	r93 := receipt(93, "NEWSLETTER", "E-Mail", day{2026, 6, 2})

	return []*entry{w81, r81, w82, r82, w83, a83, w84, r84, w85, a85, r86, w86, r87, r88, r89, r90, a91, a92, r94, a93, r93}
}

// callEntries use the column "Do not call", where yes means no: an opt-out without a date.
func callEntries() []*entry {
	var list []*entry
	for i, word := range []string{"Y", "ja", "x", "Y", "ja"} {
		n := 95 + i
		purpose := purposes[i%3]
		e := receipt(n, purpose, "E-Mail", on(n, purpose))
		e.doNotCall, e.optOut = word, true
		list = append(list, e)
	}
	// Consent to calls with all six answers, and the undated opt-out of the same subject in another row: the opt-out wins.
	phone := receipt(99, "OFFERS", "Telefon", day{2026, 1, 15})
	phone.findings = []string{"consent.overruled"}
	// Never asked about anything else, but does not want calls.
	only := &entry{who: subject(100), purpose: "OFFERS", channel: "E-Mail", doNotCall: "Y", optOut: true, noStatus: true, source: "Call centre list"}
	list = append(list, phone, only)
	for _, n := range []int{101, 102} { // "no" to "do not call" is no consent to calls; it says nothing
		e := receipt(n, "OFFERS", "E-Mail", on(n, "OFFERS"))
		e.doNotCall = "N"
		list = append(list, e)
	}
	return list
}

// skippedEntries answer nothing or are no consent.
func skippedEntries() []*entry {
	var list []*entry
	for i := range 3 {
		e := receipt(110+i, "NEWSLETTER", "E-Mail", day{2024, 1, 2})
		e.id, e.outcome = fmt.Sprintf("TEST-%02d", i+1), "row.declared_skip"
		list = append(list, e)
	}
	for i, word := range []string{"", "", "", "", "n/a", "N/A", "k.A."} {
		e := receipt(113+i, purposes[i%3], "E-Mail", day{2023, 1 + i, 20})
		e.consent, e.outcome = word, "consent.no_answer"
		list = append(list, e)
	}
	for i, basis := range []string{"contract", "Vertrag", "legitimate interest"} {
		e := receipt(120+i, "LOYALTY", "E-Mail", day{2022, 3 + i, 8})
		e.basis, e.outcome = basis, "consent.not_consent"
		list = append(list, e)
	}
	for _, e := range list {
		e.skipped = true
	}
	return list
}

// rejectedEntries have one fault each.
func rejectedEntries() []*entry {
	n := 122
	var list []*entry
	bad := func(rule string, spoil func(e *entry)) *entry {
		n++
		purpose := purposes[n%3]
		e := receipt(n, purpose, "E-Mail", on(n, purpose))
		spoil(e)
		e.outcome = rule
		list = append(list, e)
		return e
	}
	for _, v := range []string{"2.7600000000000122E+17", "2.7600000000000346E+17", "276000000000004680"} {
		bad("id.precision_lost", func(e *entry) { e.customer = eNotation(v) })
	}
	bad("id.zeros_lost", func(e *entry) { e.customer = padded{41877653, 10} })
	bad("phone.zeros_lost", func(e *entry) { e.phone = 4066969000 + e.who.n })
	bad("phone.zeros_lost", func(e *entry) { e.phone = 3023125000 + e.who.n })
	bad("phone.zeros_lost", func(e *entry) { e.phone = 17604069000 + e.who.n%100 })
	first := bad("key.multiple_match", func(e *entry) {})
	bad("key.multiple_match", func(e *entry) { e.sameID, e.consent = first, "N" })
	bad("ref.not_found", func(e *entry) { e.purpose = "NEWSLETER" })
	bad("ref.not_found", func(e *entry) { e.notice, e.version = "DSE-SHOP", "v9" })
	bad("enum.unmapped", func(e *entry) { e.consent = "grnated" })
	bad("enum.unmapped", func(e *entry) { e.consent = "vielleicht" })
	bad("date.dst_gap", func(e *entry) { e.date = "31.03.2024 02:30" })
	bad("date.dst_fold", func(e *entry) { e.date = "27.10.2024 02:30" })
	bad("date.invalid", func(e *entry) { e.date = "30.02.2025" })
	bad("date.format", func(e *entry) { e.date = "Frühjahr 2023" })
	bad("date.time_only", func(e *entry) { e.date = "09:46" })
	bad("value.too_long", func(e *entry) { e.source = overlong })
	bad("email.invalid", func(e *entry) { e.email = e.who.name() + " <" + e.who.email + ">" })
	bad("value.no_cache", func(e *entry) { e.proofRef = raw{"", ` t="str"`, `<f>"DOI-2025-"&amp;TEXT(ROW(),"00000")</f>`} })
	bad("value.error_cell", func(e *entry) { e.language = raw{"", ` t="e"`, "<f>VLOOKUP(Q6,Lists!A:B,2,FALSE)</f><v>#N/A</v>"} })
	bad("key.incomplete", func(e *entry) { e.noEntryID = true })
	// Withdrawn longer ago, or older, than the retention rules of the configuration workbook allow.
	bad("retention.expired", func(e *entry) {
		e.consent, e.date, e.version, e.notice = "widerrufen", day{2019, 11, 5}, "v1", "DSE-SHOP"
	})
	bad("retention.expired", func(e *entry) { e.purpose, e.date, e.version, e.notice = "SURVEY", day{2022, 2, 24}, "v2", "DSE-SHOP" })
	return list
}

// overlong has more than the 300 characters that the field takes.
var overlong = func() string {
	s := "Check-out page"
	for i := 1; len(s) <= 320; i++ {
		s += fmt.Sprintf(" > variant %02d", i)
	}
	return s
}()
