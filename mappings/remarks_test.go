package mappings

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// A remark that may say that somebody wants no more is known in seven languages; one about something else is not.
func TestSaysToStop(t *testing.T) {
	var many Remarks
	for text := range strings.SplitSeq("asked to be removed|please delete me|unsubscribed by phone|opted out 3 May|no longer wants emails|doesn't want the newsletter|do not contact|stop sending mail|"+
		"hat sich abgemeldet|möchte keine E-Mails mehr|Widerruf am Telefon|bitte keine Werbung|will gelöscht werden|Newsletter gekündigt|bitte austragen|"+
		"ne souhaite plus recevoir la lettre|s'est désabonné|ne pas contacter|demande à être supprimé|refuse la publicité|"+
		"pidió la baja por teléfono|no quiere recibir correos|pide que le quiten de la lista de correo... sin publicidad|ha revocado|"+
		"non vuole più ricevere email|si è disiscritto|chiede di essere rimosso|ha revocato|"+
		"não quer mais receber|pediu para ser removido|revogou por telefone|cancelou a newsletter|"+
		"si è cancellato|da rimuovere|vuole uscire|tolto dalla lista|deceduto|pediu para sair|pediu remoção|retirado da lista|quiere salir de la lista|se ha quitado de la lista|à retirer de la liste|à supprimer|s'est retirée|veut quitter la liste|décédé en mars|"+
		"took her off the list|wants out|asked to leave|deceased|he died in May|removed herself|will nix mehr kriegen|zu löschen|will raus|aus dem Verteiler genommen|von der Liste gestrichen|verstorben|ausgetreten|Kündigung zum Jahresende|wil eruit|van de lijst gehaald|overleden|heeft opgezegd|"+
		"Widerruf|abgemeldet|unsubscribed|verstorben|désabonné|baja|disiscritto|afgemeld|Opt-out|STOP|nicht mehr anschreiben|gelöscht|deleted|gelöscht am 3.5.2024|left|parti|resigned|Beschwerde|please do not write|ne plus écrire|geblockt|refusé|rimosso|vertrokken|removed 2023-04-01|"+
		"heeft zich afgemeld|wil geen mail meer|graag verwijderen uit lijst|niet meer benaderen|toestemming ingetrokken", "|") {
		if !SaysToStop(text) || !many.SayToStop([]byte(text)) {
			t.Errorf("%q is not known", text)
		}
	}
	for text := range strings.SplitSeq("VIP|ja|OK|Block 4|Blockchain|exclusive|nett|Entfernung 20 km|2024|out of town in May|left-handed|Stammkunde|"+
		"called in May|paid in cash|prefers the vegetarian menu|pays by invoice|lives in block 4|Rollstuhl|zahlt bar|Schlüssel beim Nachbarn|kommt mit zwei Kindern|"+
		"vient le mardi|allergie aux noix|viene los martes|alérgico|viene il martedì|paga alla cassa|vem às terças|betaalt contant|komt op dinsdag|new address since March|neue Anschrift seit Mai|interested in the summer camp|will leave the keys at the desk|will be out of office|colis à retirer en magasin|kommt aus Köln|takes the bus to work|si trova bene|se queda en casa|freut sich auf Mai|came to the list of speakers", "|") {
		if SaysToStop(text) || many.SayToStop([]byte(text)) {
			t.Errorf("%q is taken for one", text)
		}
	}
}

// What is remembered of words changes nothing.
func TestPropertyRemarks(t *testing.T) {
	words := rapid.SampledFrom(strings.Split("no|not|doesn't|don’t|wants|mail|E-Mail|newsletter|opt|out|opted|in|Opt-Out|opt-in|gelöscht|left|am|2024|raus|Beschwerde|please|remove|bitte|löschen|möchte|keine|Werbung|abgemeldet|Abmeldung|pas|de|pub|blockchain|block|stop|kommt|dienstags|12|x—unsubscribed|«non»|l'envoi|N.|désabonné|list|Liste|out|off|à|supprimer|retirer|si|cancellato|leave|will|raus|para|sair|pediu", "|"))
	var many Remarks
	rapid.Check(t, func(t *rapid.T) {
		var b strings.Builder
		for range rapid.IntRange(1, 7).Draw(t, "words") {
			b.WriteString(words.Draw(t, "word"))
			b.WriteString(rapid.SampledFrom([]string{" ", ", ", "—", "\u00a0", "/", "", ". "}).Draw(t, "between"))
		}
		if text := b.String(); many.SayToStop([]byte(text)) != SaysToStop(text) {
			t.Fatalf("%q: %v", text, SaysToStop(text))
		}
	})
}
