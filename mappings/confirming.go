package mappings

import (
	"slices"
	"strings"
)

// Confirmations are pieces of headers that ask whether an answer was confirmed, as PlainHeader has them, in the seven languages. A piece that begins with
// = has to be the whole header.
const Confirmations = doubles + activations + " " + unconfirmed + " aktivierungslink activationlink liendactivation enlacedeactivacion linkdiattivazione linkdeativacao activatielink =activated =aktiviert =doi doistatus confirmed bestatigt confirme confirmad confermat bevestigd confirmation bestatigung confirmacion conferma confirmacao bevestiging validated validiert valide validad validat gevalideerd verified verifiziert verifie verificad verificat geverifieerd"

const doubles = "2stepopt twostepopt zweistufigesopt zweistufigeropt zweistufigeopt 2stufigesopt 2stufigeropt optinendeuxetapes optinen2etapes optinendospasos optinen2pasos optinduefasi optinindue optinemduasetapas optinem2etapas tweestapsopt 2stapsopt doubleopt doppeloptin doppelteopt doppeltesopt doppelteropt dobleopt doppioopt doppiaopt duploopt duplaopt dubbeleopt dubbelopt optindoppio optinduplo optindoble"

// unconfirmed say that a confirmation is still to come.
const unconfirmed = "sinconfirmar porconfirmar semconfirmar aconfirmer aconfirmar daconfermare zubestatigen tebevestigen tobeconfirmed"

// activations say that an answer was taken into force, looked at, or let pass, which nobody does to one that is not confirmed.
const activations = " =aktiviertam =aktivierung =aktivierungsdatum =activatedat =activatedon =activation =activationdate =activele =dateactivation =datedactivation =activado =activadoel =fechaactivacion =fechadeactivacion =attivato =attivatoil =dataattivazione =datadiattivazione =ativado =ativadoem =dataativacao =datadeativacao =geactiveerd =geactiveerdop =activatiedatum " +
	"newsletteraktiviert aboaktiviert optinaktiviert subscriptionactivated optinactivated newsletteractivated freigeschaltet freischalt =freigegeben =freigegebenam =freigabe =habilitado =habilitada =abilitato =abilitata =unlocked =vrijgegeven =vrijgeschakeld " +
	"emailgepruft emailgeprueft emailadressegepruft mailgepruft mailgeprueft adressegepruft adressegeprueft telefongepruft telefonnummergepruft handygepruft handynummergepruft mobilnummergepruft nummergepruft nummergeprueft optingepruft einwilligunggepruft =gepruft =geprueft =geprueftam =gepruftam emailchecked mailchecked phonechecked mobilechecked numberchecked addresschecked emailcontrole adressecontrole telephonecontrole numerocontrole emailcomprobad correocomprobad telefonocomprobad emailcontrollat telefonocontrollat emailgecontroleerd telefoongecontroleerd adresgecontroleerd " +
	"=acknowledged =acknowledgedat =acknowledgedon =acknowledgement optinacknowledged consentacknowledged subscriptionacknowledged emailacknowledged =approved =approvedat =approvedon =approval =approvalstatus optinapproved consentapproved subscriptionapproved =genehmigt =genehmigtam =approuve =approuvee =approuvele =aprobado =aprobada =approvato =approvata =aprovado =aprovada =goedgekeurd =goedgekeurdop " +
	"=coi =coistatus =coidate =coidatum =coitime =confirm =confirmip =confirmtime =confirmdate =confirmtimestamp =confirmat =confirmon"

// The words below are without case and marks, in the seven languages.
var (
	confirmations = strings.Fields(Confirmations)
	toConfirm     = strings.Fields(unconfirmed)
	doubleOptIn   = strings.Fields(doubles)
	// doubled say of a consent that it was given twice.
	doubled = strings.Fields("double doppel doppelt doppelte doppeltes doppelter zweifach zweifache doble doppio doppia duplo dupla dubbel dubbele")
	// afterDOI are what follows DOI in one word.
	afterDOI = strings.Fields("status state date datum time timestamp am at on ok confirm bestat mail")
	// otherConfirmed are pieces of words for something else that is confirmed, and for a message that was sent, which is no confirmation yet.
	otherConfirmed = strings.Fields("order bestell auftrag buchung booking reserv payment zahlung paiement pagamento betaling invoice rechnung factur fattur liefer delivery livraison termin appointment ident alters ageverif agevalid agecheck ageconfirm leeftijd " +
		"sent gesendet versendet versandt verschickt envoye enviad inviat verzonden verstuurd gestuurd")
	// otherAsWell are as well, but for a double opt-in: there it is what people opt in to.
	otherAsWell = strings.Fields("entrega consegna levering versandadresse shipping ausweis iban bankverb bankkonto bankaccount bankrekening creditcard kreditkart kontodaten steuer ustid vatid vatnum taxid passw kennwort contract vertrag contrat contratto overeenkomst spende donation donacion donazione doacao attendance teilnahme anwesenheit asistencia presenza comparec aanwezig zusage rsvp angebots quote devis bewerbung candidat seminar kurs webinar")
	// otherWhole say so as whole words only.
	otherWhole = strings.Fields("edad edades age alter eta idade vat tva iva kyc pin card karte carte tarjeta carta cartao kaart tax event")
)

// AsksConfirmed reports whether a header asks whether an answer was confirmed, as Double opt-in does: a no there is none. Orders and payments are
// confirmed as well, and so is leaving: Unsubscribe confirmed speaks of an opt-out, and Invalid email of an address.
func AsksConfirmed(header string) bool {
	words, text := HeaderWords(header), PlainHeader(header)
	has := func(is func(word string) bool) bool { return slices.ContainsFunc(words, is) }
	if has(func(word string) bool {
		return holdsOne(strings.ReplaceAll(word, "consent", ""), otherConfirmed) || slices.Contains(otherWhole, word) // consent has a sent in it
	}) {
		return false
	}
	if speaksOfLeaving(header) {
		return false
	}
	twice := holdsOne(text, doubleOptIn) || has(ofDOI) || has(func(word string) bool { return slices.Contains(doubled, word) }) && has(func(word string) bool { return holdsOne(word, agreed) })
	return twice || !has(func(word string) bool { return holdsOne(word, otherAsWell) }) && slices.ContainsFunc(confirmations, func(piece string) bool {
		whole, ok := strings.CutPrefix(piece, "=")
		return ok && text == whole || !ok && strings.Contains(text, piece)
	})
}

// ofDOI reports whether a word is DOI, or begins with it as in doiStatus.
func ofDOI(word string) bool {
	of, ok := strings.CutPrefix(word, "doi")
	return ok && (of == "" || slices.ContainsFunc(afterDOI, func(w string) bool { return strings.HasPrefix(of, w) }) || holdsOne(of, agreed))
}
