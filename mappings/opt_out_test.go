package mappings

import (
	"strings"
	"testing"
)

// A remark that may say that somebody wants no more is known in seven languages; one about something else is not.
func TestSaysToStop(t *testing.T) {
	for text := range strings.SplitSeq("asked to be removed|please delete me|unsubscribed by phone|opted out 3 May|no longer wants emails|doesn't want the newsletter|do not contact|stop sending mail|"+
		"hat sich abgemeldet|möchte keine E-Mails mehr|Widerruf am Telefon|bitte keine Werbung|will gelöscht werden|Newsletter gekündigt|bitte austragen|"+
		"ne souhaite plus recevoir la lettre|s'est désabonné|ne pas contacter|demande à être supprimé|refuse la publicité|"+
		"pidió la baja por teléfono|no quiere recibir correos|pide que le quiten de la lista de correo... sin publicidad|ha revocado|"+
		"non vuole più ricevere email|si è disiscritto|chiede di essere rimosso|ha revocato|"+
		"não quer mais receber|pediu para ser removido|revogou por telefone|cancelou a newsletter|"+
		"heeft zich afgemeld|wil geen mail meer|graag verwijderen uit lijst|niet meer benaderen|toestemming ingetrokken", "|") {
		if !SaysToStop(text) {
			t.Errorf("%q is not known", text)
		}
	}
	for text := range strings.SplitSeq("called in May|paid in cash|prefers the vegetarian menu|pays by invoice|lives in block 4|Rollstuhl|zahlt bar|Schlüssel beim Nachbarn|kommt mit zwei Kindern|"+
		"vient le mardi|allergie aux noix|viene los martes|alérgico|viene il martedì|paga alla cassa|vem às terças|betaalt contant|komt op dinsdag|new address since March|neue Anschrift seit Mai|interested in the summer camp", "|") {
		if SaysToStop(text) {
			t.Errorf("%q is taken for one", text)
		}
	}
}

// Headers that deny, decline or end something are none to which a yes is a consent; those that ask for one are told apart.
func TestHeadersThatDecline(t *testing.T) {
	for header := range strings.SplitSeq("Doesn't want newsletter|Doesn’t want newsletter|Doesnt want newsletter|Won't receive mail|Isn't subscribed|Hasn't consented|No longer wants newsletter|Hates newsletter|Ne veut plus la newsletter|"+
		"Ne souhaite plus recevoir|Nega consenso|Verzichtet auf Newsletter|Newsletter ungewollt|Newsletter unterbinden|Renonce à la newsletter|Renuncia a publicidad|Rinuncia alla newsletter|Prescinde de publicidad|Evitar newsletter|Dispensa newsletter", "|") {
		if asks := OptOutOf(header); asks != SureOptOut {
			t.Errorf("%q: %d", header, asks)
		}
	}
	for header := range strings.SplitSeq("Newsletter-Ende|Arrêt newsletter|Newsletter stoppen|Newsletter anulado|Nieuwsbrief uit|Consent asked|Newsletter invited|Needs newsletter consent|Einwilligung gefragt", "|") {
		if asks := OptOutOf(header); asks != MaybeOptOut && asks != SureOptOut {
			t.Errorf("%q: %d", header, asks)
		}
	}
	for header := range strings.SplitSeq("Newsletter|Wants newsletter|Newsletter plus|Consent|Uit Nederland|Wonnummer|Event attended|Cantonal newsletter", "|") {
		if asks := OptOutOf(header); asks != NoOptOut {
			t.Errorf("%q: %d", header, asks)
		}
	}
}
