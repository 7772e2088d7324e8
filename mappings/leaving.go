package mappings

import (
	"regexp"
	"slices"
	"strings"
)

// The words below are without case and marks, in the seven languages. A word of a text fits if it begins with one.
var (
	// leaving are what leaving and a deletion are called by, besides the words for an opt-out.
	leaving = strings.Fields("leaver austritt ausgetret austret ausscheid ausgeschied abgang abgemeld kundig gekundigt losch loesch gelosch geloesch delet erase erasing erasure effac supprim suprim elimin borrad borrar cancel annul anul storn opzeg opgezegd uitschr uitgeschr uitgetred uittred uitdienst " +
		"verwijder gewist rimoss rimoz rimuov remov remoc entfernt entfernen resign resil resilia disdett disdic deactiv deaktiv desactiv disattiv desativ gedeactiv departur departed churn removal gone")
	// unusable are what a complaint, a death and an address that takes no mail are called by.
	unusable = strings.Fields("complain beschwerde plainte queja reclamo reclami reclamac klacht spam bounc unzustell undeliver rebond rebot rimbalz inval ungultig ungeldig ongeldig " +
		"verstorb gestorben todes deceas death deced fallec decedut decesso overled defunt difunt falecid")
	// leavingWhole say so as whole words only.
	leavingWhole = strings.Fields("leaving left quit exit exited dead uscito uscita saiu vertrokken")
	// leavingDays are pieces of headers that say so, as PlainHeader has them.
	leavingDays = strings.Fields("exitdate datedesortie datesortie sortiele datedepart datededepart fechasalida fechadesalida datasaida datadesaida datumuit uitdatum nonvalid novalid nichtgultig nonvalable optout optedout")
	// leavingHeaders are headers that say so by themselves.
	leavingHeaders = strings.Fields("sorti sortis sortie sorties parti partis salida salido saida vertrek")
	// staying begin like those, and are others: a distance, and what is looked for in a message.
	staying = strings.Fields("entfernung spamscore spamcheck spamfilter loschfrist loeschfrist")
	// quitting are words for leaving what the header names, as whole words: verbs, and an end.
	quitting = strings.Fields("leave leaves leaving verlassen quitter quitte quittez salir salirse salgo sair saio deixar dejar lascia lascio lasciare uscire esci esco abandon abandonner abandonar abbandona abbandonare abandona verlaten mute muting stumm stummschalten einstellen beenden terminar terminare terminer drop exit " +
		"quit loswerden desengager stop stopzetten skip avoid eviter vermeiden vermijden silence end ends ending fin fim einde")
	// quittingBehind say so where they stand last, quittingFirst where they stand first.
	quittingBehind = strings.Fields("out raus weg ab fuori fora fuera dehors")
	quittingFirst  = strings.Fields("against gegen contre contra contro tegen wider")
	// failing say of a confirmation that it did not come about.
	failing = strings.Fields("fail fehlgeschl gescheit misslung unsuccess error fehler echou echec erreur fallid fallo fallit falhou falhad falha erro mislukt fout falsch faux errad wrong onjuist " +
		"expired expirad expire abgelaufen lapsed caducad vencid scadut verlopen verfallen vervallen perime timedout timeout")
	// until say up to when something holds.
	until = strings.Fields("bis until till tot hasta jusqu jusque jusquau jusqua fino ate end ends ending enddatum enddate endedatum einddatum einde fin fim fine finale endet ende")
	// untilHeaders are headers that say so by themselves.
	untilHeaders = strings.Fields("to al au validto through")
	// endless words stand before an end that is none.
	endless = strings.Fields("week high low dead front back open year month tail book")
	// returned say that what was sent came back, wherever in a word they stand.
	returned = strings.Fields("retoure retour rucklauf ruecklauf ruckpost ruecksend rucksend npai returnedmail mailreturned returnedpost devuelt devolucion devolvid restitui ritornat respint onbestelbaar geretourneerd nichtzustellbar undeliv")
)

// speaksOfLeaving reports whether a header speaks of leaving, an opt-out, a deletion, a complaint or an address that takes no mail, whatever else it says of
// it. What a header denies, such as a confirmation that is not there, does not count.
func speaksOfLeaving(header string) bool {
	words, text := oneOptIn(HeaderWords(uncamel(header))), strings.ReplaceAll(PlainHeader(header), "trabaj", "")
	if beginsOne(text, staying) {
		return false
	}
	return slices.Contains(leavingHeaders, text) || holdsOne(text, leavingDays) || slices.ContainsFunc(words, func(word string) bool {
		return !beginsOne(word, harmless) && !beginsOne(word, staying) && (beginsOne(word, barred) || holdsOne(word, barring) || beginsOne(word, leaving) || beginsOne(word, unusable)) || slices.Contains(leavingWhole, word)
	})
}

// quits reports whether the word of a header at i says that somebody leaves what the header names, as in Leave newsletter and Newsletter (x = stop).
func quits(words []string, i int) bool {
	word := words[i]
	before := ""
	if i > 0 {
		before = words[i-1]
	}
	switch {
	case before == "non" || before == "one" || slices.Contains(endless, before), beginsOne(word, staying): // one-stop, week-end
		return false
	case word == "fine":
		return i+1 < len(words) && beginsOne(words[i+1], agreed)
	}
	return slices.Contains(quitting, word) || beginsOne(word, leaving) || strings.HasPrefix(word, "stumm") ||
		i > 0 && i+1 == len(words) && slices.Contains(quittingBehind, word) || i == 0 && slices.Contains(quittingFirst, word)
}

// Failing reports whether a header of confirmations says that one did not come about, as Confirmation failed does, or is still to come.
func Failing(header string) bool {
	return holdsOne(PlainHeader(header), toConfirm) || slices.ContainsFunc(HeaderWords(uncamel(header)), func(word string) bool { return beginsOne(word, failing) })
}

// Leaving reports whether a header, a name or a word speaks of people who left, or of something that ended or was deleted.
func Leaving(header string) bool {
	text := PlainHeader(header)
	return speaksOfLeaving(header) || !beginsOne(text, staying) && OptOutOf(offWord.ReplaceAllString(header, " ")) == EndedOptOut
}

// offWord is what a day off and a one-off have, where nothing ended.
var offWord = regexp.MustCompile(`(?i)\boff\b`)

// The words of names below fit if a word begins with one, or is one.
var (
	formerly      = strings.Fields("ehemal former fruher frueher vormal ancien voormal oudled oudklant antigu antigos antigas exmembr exmember exmitgl exsoci exabonn exclient exkund exleden exlid exsubscr exassoc exaderen exadher exiscritt exdonat lapsed")
	awaiting      = strings.Fields("unconfirm unbestatig unbestaetig onbevestig unverif unvalid nonconfirm pending ausstehend pendient pendent attente attesa aguardando afwachting awaiting wartend unactivated")
	aged          = strings.Fields("old oud oude alt alte alter vecchi viejos velhos")
	people        = strings.Fields("leden lid mitglied member membr kund customer client klant subscr abonn kontakt contact contatt soci adherent donor spender donat")
	awaitingWhole = strings.Fields("offen offene offenen waiting wartet espera expire")
)

// FormerOrPending reports whether a name, such as that of a sheet, says that the people in it left, or have not confirmed yet.
func FormerOrPending(name string) bool {
	words := HeaderWords(uncamel(name))
	for i, word := range words {
		if beginsOne(word, formerly) || beginsOne(word, awaiting) || slices.Contains(awaitingWhole, word) || word == "ex" && i+1 < len(words) && strings.Trim(words[i+1], "0123456789") != "" ||
			i+1 < len(words) && slices.Contains(aged, word) && beginsOne(words[i+1], people) ||
			i+1 < len(words) && slices.Contains(undone, word) && holdsOne(words[i+1], []string{"confirm", "bestat", "conferma", "bevestig", "valid", "verif", "aktiv", "activ", "attiv", "ativ", "actif", "actief"}) {
			return true
		}
	}
	return Leaving(name) && !holdsOne(PlainHeader(name), []string{"limitad"})
}

// The words below are those of lists that are put away.
var (
	putAway      = strings.Fields("archiv arxiu papierkorb mullei trash recycle rubbish corbeille papelera cestino lixeira prullenb stopzet stilgeleg stillgeleg discontin desuso dismess obsolet veraltet verouderd inaktiv inactiv inactif inattiv inativ inactief ehem")
	putAwayWhole = strings.Fields("old alt alte alter altes altbestand oud oude ancien anciens ancienne anciennes vecchio vecchi vecchia vecchie viejo viejos vieja viejas velho velhos velha velhas antiguo antiguos antigo antigos black bin tot tote dead bad junk muell mull")
	archivists   = strings.Fields("archivar archivist archivnum archivenum")
	ofPeople     = strings.Fields("list lista lijst liste email mail kontakt contact contatt contat adress address data daten dati datos dados newsletter verteiler export backup sheet blatt tabelle")
)

// PutAway reports whether a name, such as that of a sheet, says that the list is out of use, thrown away, or of what came back: Archiv, Papierkorb, Old contacts.
func PutAway(name string) bool {
	words, aged, others := HeaderWords(uncamel(name)), false, false
	for i, word := range words {
		switch {
		case beginsOne(word, putAway) && !beginsOne(word, archivists), strings.HasSuffix(word, "archiv"),
			word == "old" && i > 0 && i+1 == len(words), // zz_old
			holdsOne(word, returned), i+1 < len(words) && holdsOne(word+words[i+1], returned):
			return true
		case slices.Contains(putAwayWhole, word):
			aged = true
		case !beginsOne(word, ofPeople) && !beginsOne(word, people) && strings.Trim(word, "0123456789") != "":
			others = true
		}
	}
	return aged && !others
}

// The words below are those of columns of states: what such a column is of, as pieces of headers, and an end.
var (
	stateOf  = strings.Fields("status statut estado stato etat zustand toestand situac situaz situation state mitglied membership member membre adhesion adherent socio socia tesserament lidmaatschap subscri abonn suscri iscri inscri typ tipo kategorie categor")
	accounts = strings.Fields("tag tags flag flags label labels segment segments group groups gruppe gruppen merkmal merkmale account accounts konto compte cuenta conta conto vertrag contract contrat contrato contratto")
	stateNo  = strings.Fields("name nom nombre nome naam vorname nachname nr no num numero number nummer nro id ids code codice codigo")
	over     = strings.Fields("closed closure geschloss ferme cloture cerrad chius fechad gesloten radie radiat aufgelos stillgeleg dormant ruht cessat cesad cesse beendigt extinct archived")
)

// HoldsStates reports whether a header is one of states, such as those of accounts, members and subscriptions; orders have others, and names and numbers are none.
func HoldsStates(header string) bool {
	words, text := HeaderWords(uncamel(header)), PlainHeader(header)
	return !OfOrders(header) && (holdsOne(text, stateOf) || slices.Contains(words, "abo") || slices.Contains(accounts, text)) && !slices.ContainsFunc(words, func(word string) bool {
		return slices.Contains(stateNo, word) || strings.HasSuffix(word, "name") || strings.HasSuffix(word, "nummer") || strings.HasSuffix(word, "nr")
	})
}

// EndedState reports whether a state says that something ended, or waits, or that somebody left.
func EndedState(state string) bool {
	return FormerOrPending(state) || OptOutOf(state) != NoOptOut || slices.ContainsFunc(HeaderWords(state), func(word string) bool { return beginsOne(word, over) })
}

// undone stand before what was not done.
var undone = strings.Fields("not no non nicht noch pas sin sans senza sem nao niet zonder without ohne never un")

// Until reports whether a header says up to when something holds, or that what was sent came back: somebody may be out, and it is no answer.
func Until(header string) bool {
	words, text := HeaderWords(uncamel(header)), PlainHeader(header)
	if slices.Contains(untilHeaders, text) || holdsOne(text, returned) {
		return true
	}
	for i, word := range words {
		if slices.Contains(until, word) && !(i > 0 && slices.Contains(endless, words[i-1])) || strings.HasSuffix(word, "ende") && beginsOne(word, agreed) {
			return true
		}
	}
	return false
}

// OfOrders reports whether a header speaks of orders, payments and their kin, which end as well.
func OfOrders(header string) bool {
	return slices.ContainsFunc(HeaderWords(header), func(word string) bool {
		return holdsOne(strings.ReplaceAll(word, "consent", ""), otherConfirmed)
	})
}

// beginsOne reports whether a word begins with one of the pieces.
func beginsOne(word string, pieces []string) bool {
	return slices.ContainsFunc(pieces, func(p string) bool { return strings.HasPrefix(word, p) })
}
