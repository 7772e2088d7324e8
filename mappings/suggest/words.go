package suggest

import (
	"slices"
	"strings"
	"sync"

	"sheetlift/mappings"
)

// plain is the form in which header texts are compared with the words below: see mappings.PlainHeader.
func plain(s string) string { return mappings.PlainHeader(s) }

// headerWords are pieces of headers by field, in English, German, French, Spanish, Italian, Portuguese and Dutch. A piece that
// begins with = has to be the whole header. The longest piece that fits decides.
var headerWords = map[string]string{
	"email":              "email emailaddress mailadresse =mail courriel correo correoelectronico indirizzoemail postaelettronica emailadres enderecodeemail emailadresse contactdetails",
	"phone":              "phone phonenumber mobile mobil handy telefon rufnummer telefono telefone telefoon celular cellulare portable telemovel =gsm =ngsm gsmn numerogsm nogsm telgsm telefoongsm mobielgsm =tel handynummer mobilnummer mobiel",
	"subject_id":         "customerid customerno customernumber kundennr kundennummer kundenid contactid contactno userid memberid personid clientid subscriberid subjectid accountid accountno accountnumber mitgliedsnummer mitgliedsnr numeroclient noclient idclient idcliente idutente codicecliente numerocliente codigocliente numerodecliente klantnummer klantnr klantid =kunde =customer =client =cliente =klant mitgliednr partnernr kundin contactkey identifiant patnr patientid patientno patientennr patientennummer personalnr personalnummer matrikelnr employeeid employeeno studentid numeroadherent numadherent numerosocio sociono lidnummer relatienummer",
	"device_id":          "deviceid cookieid visitorid anonymousid tcpid controllerid browserid consentuuid besucherid gerateid geraeteid idappareil visiteur",
	"external_id":        "=id =nr =no =num =key =code entryid entryno recordid consentid receiptid eventid lfdnr laufendenummer eintragsnr caseid caseno casenumber ticketid ticketno =ticket requestid requestno vorgangsnr vorgang aktenzeichen =reference =ref refno refnr refnumber referenz numerodossier dossier expediente pratica processo zaaknummer dossiernummer =contact entry =n =numero protocollo =zaak =fall fallnr ticket =number =nummer =numero =sysid vorgangsschlussel issuekey =schlussel cledeticket clededemande =cle clave =chiave =chave sleutel =uid =guid =uuid logid registroid",
	"asks":               "lettredinfo lettreinfo rundmail infomail rundbrief infobrief consent optin subscribed subscription permission einwilligung zustimmung consentement consentimiento consenso consentimento toestemming accepts accepted abonne abonniert suscrito suscripcion iscritto iscrizione inscrito inscrit subscrito aangemeld newsletter optedin werbung marketing acepta accepte accetta aceita akzeptiert autoriza autorise autorizza agree erlaubnis erlaubt permiso permesso permissao boletin nieuwsbrief infolettre publicidad pubblicita publicite publicidade reclame =accord hearfromus hearabout keepmeupdated keepmeinformed emailme textme contactme sendme keepintouch stayintouch offrespartenaires partneroffers partnerangebote ofertasdesocios ofertasdelossocios offertepartner offertedeipartner ofertasdeparceiros aanbiedingenvanpartners",
	"state":              "=etat =zustand =toestand situacao situacion situazione status statut =estado =stato =state =choice =choix =decision entscheidung =eleccion =scelta =escolha =keuze =answer =antwort =reponse =respuesta =risposta =resposta =antwoord",
	"category":           "statistic statistik statistique estadistic analytic analyse marketing advertising werbung preference praferenz preferencia preferenz functional funktional fonctionnel funcional funzional functioneel performance targeting personali social externalmedia externemedien",
	"needful":            "necessary notwendig essenti erforderlich necessaire necesari necessari noodzakelijk strictly",
	"joined":             "optin signedup signup subscribedat subscribedon subscribeddate subscriptiondate datesubscribed joined angemeldet anmelde anmeldung eingetragen abonniert dateinscription datedinscription inscritle dateabonnement fechaalta fechadealta fechasuscripcion fechainscripcion dataiscrizione datadiiscrizione iscrittoil datainscricao datadeinscricao datasubscricao aanmeld confirmtime confirmedat bestatigtam doi =registered =registriert =activated =aktiviert",
	"consented":          "consent consens einwillig zustimm zugestimmt toestemming optin optedin subscri suscri permission accept acept akzept accett aceit agree givenat givenon granted erteilt membersince customersince mitgliedseit kundeseit kundinseit clientdepuis membredepuis adherentdepuis clientedesde sociodesde clientedal sociodal klantsinds lidsinds",
	"agreed":             "einwilligung zustimmung consentdate consenttime consentat dateconsent fechaconsent dataconsen toestemming",
	"terms":              "termsand termsof acceptsterms acceptterms terms =agb agbakzept conditions cgv cgu condiciones condizioni termos condicoes voorwaarden privacypolicy datenschutzerklarung politiquedeconfidentialite",
	"created":            "created opened angelegt erstellt creation cree creado creacion creato creazione criado aangemaakt",
	"dayof":              "date datum fecha data timestamp time zeit =am =le =on =at since seit",
	"browser":            "useragent browser consentstring tcstring bannerversion consentbanner",
	"double":             mappings.Confirmations,
	"progress":           "status statut =estado =stato =state situacao situacion outcome ergebnis =esito resultat resultado =stand zustand afhandeling =phase =stage fortschritt progress avancement etat bearbeitungsstand disposition verdict tramit estadosolicitud estadodelasolicitud estadodopedido estadopedido statorichiesta statodellarichiesta statopratica estadoexpediente situazione",
	"occurred_at":        "consentdate consenttime consentat optindate optintime dateofconsent signedup signupdate =date =datum =fecha =data =timestamp =when zeitpunkt zeitstempel =zeit horodatage subscribedat subscribedon einwilligungsdatum einwilligungvom einwilligungam dateconsentement datedeconsentement fechaconsentimiento fechadeconsentimiento dataconsenso datadelconsenso dataconsentimento datadoconsentimento datumtoestemming toestemmingsdatum givenat givenon fechahora dataora datahora datumtijd datetime angemeldet anmeldung anmeldedatum eingetragen dateinscription datedinscription inscritle dateabonnement datedabonnement fechaalta fechadealta altafecha fechasuscripcion fechainscripcion dataiscrizione datadiiscrizione iscrittoil datainscricao datadeinscricao datasubscricao aanmelddatum datumaanmelding aangemeldop optinat optintime confirmedat confirmeddate bestatigtam doitime doidate =subscribed",
	"expires_at":         "expir expiry validuntil gultigbis ablauf lauftab vervaldatum geldigtot scadenza scade validofino caduc vencimient validohasta validade validoate valablejus valideju vervalt",
	"notoccurred":        "birth geburt naissance nacimiento nascita nascimento geboorte created angelegt erstellt ajout creado creato criado aangemaakt modified updated geandert modifi lastchange lastlogin lastopen import added hinzugefugt zugefugt toegevoegd aggiunt adicao adicion incorpor anadid =lastactive =imported importiert importe erstell creation creacion creazione criacao creatie aanmaak anderung modificacion modificazione modificacao wijzig bijgewerkt actualiz aktualis aggiorn atualiz miseajour visit besuch bezoek expir expiry ablauf gultigbis vervaldatum scadenza caduc validuntil login lastseen lastactiv lastorder lastclick lastpurchase purchase einkauf bestell commande pedido ordine ordered orderdate compra acquist aankoop invoice rechnungs payment zahlung paiement pagament betaling clicked geoffnet exporte =exported sync",
	"purpose":            "purpose zweck finalite finalidad finalita finalidade =doel doeleinde topic thema =subject zwecke",
	"topic":              "kategorie categorie categoria category mailinglist mailingliste verteiler list liste lista lijst audience interest interesse subject betreff",
	"channel":            "channel kanal =canal =canale kanaal medium kommunikationsweg kontaktweg =medium =media",
	"notice_id":          "notice =hinweis =mention =mentions =aviso =verklaring =erklarung datenschutzhinweis mentionlegale avisodeprivacidad informativa =reference avisodeprivacidade privacyverklaring hinweisid policy document dokument documento =dse erklarung privacystatement",
	"notice_version":     "version fassung versie versione versao noticeversion policyversion textversion =v =ver",
	"proof_ref":          "proof nachweis beleg preuve prueba =prova bewijs evidence",
	"proof_kind":         "proofkind prooftype nachweisart typedepreuve tipodeprueba tipodiprova tipodeprova soortbewijs kindofproof",
	"actor":              "recordedby collectedby enteredby erfasstvon erfasstdurch agent saisipar recueillipar registradopor recogidopor registratoda raccoltoda recolhidopor vastgelegddoor operator",
	"actor_role":         "role =rolle =rol =ruolo =funcao fonction capacity eigenschaft",
	"method":             "method methode metodo hoe",
	"collected_via":      "source quelle herkunft origen origine fonte origem =bron formular formulaire formulario formulier =form website",
	"language":           "language sprache =langue idioma lingua =taal locale",
	"jurisdiction":       "country =land =pays =pais paese =region",
	"note":               "=note notes remark bemerkung kommentar comment notiz remarque =nota =notas =note observ opmerking anmerkung commento comentario",
	"lawful_basis":       "legalbasis lawfulbasis processingbasis basisforprocessing legalground rechtsgrundlage rechtlichegrundlage rechtlichebasis baselegale baselegal basejuridique fondementjuridique fondementlegal basejuridica baselicitud basegiuridica fundamentojuridico fundamentolegal rechtsgrond grondslag wettelijkebasis juridischebasis basesjuridi basilegali baselegitim licitud liceita",
	"reason":             "reason =grund sperrgrund motif motivo =reden raison razon =cause =causa sperrgrund =oorzaak",
	"request_type":       "requesttype typeofrequest artderanfrage anfrageart antragsart typededemande typedemande tipodesolicitud tiposolicitud tiporichiesta tipodirichiesta tipodepedido typeverzoek =right =recht =droit =derecho =diritto =direito issuetype vorgangstyp typedeticket tipodeincidencia tipodeitem typofrequest requestkind kindofrequest subjectright datasubjectright rightexercised rightsrequest natureofrequest =request =requests whattheywant anliegen begehren ersuchen betroffenenrecht antragsart artdesantrags artdesersuchens droitexerce droitdemande naturedelademande =demande derechoejercido derechosolicitado =solicitud dirittoesercitato =richiesta =istanza direitoexercido tipopedido =pedido soortverzoek typeverzoek verzoektype =verzoek",
	"received_at":        "received receipt dateofrequest submitted eingang eingegangen recu datedereception recepcion recibid ricev ricezione receb ontvang openedat =requested =created =erstellt =cree =creado =creada =creato =creata =criado =criada =aangemaakt receivedon =logged loggedon datelogged =opened dateopened datein =in =intake intakedate kamrein antragsdatum anfragedatum eingangsdatum recule recuele datedemande datedelademande fechasolicitud fechaentrada fechadeentrada fecharecepcion pervenut arrivat dataarrivo datarichiesta dataentrada datadeentrada dataderecebimento datapedido datadopedido recebido binnengekomen binnenkomst datumverzoek ontvangst ontvangstdatum requestdate requestedon requestedat submittedon raisedon fecharegistro fechaderegistro fechadesolicitud fechapeticion fechadepeticion fechainicio fechadeinicio dataregisto dataderegisto dataregistro datainicio datadeinicio datadellarichiesta datadirichiesta datadelpedido datedarrivee arriveele datededemande datedesaisine datumontvangst datumaanvraag aanvraagdatum gestelltam",
	"due_at":             "duedate dueat =due responsedue replydue answerdue deadline frist fallig faellig echeance vencim scaden prazo vervaldatum termijn respondby replyby answerby targetdate dueby =sla zubeantworten beantwortenbis antwortbis bearbeitenbis atraiteravant arepondreavant repondreavant datelimite fechalimite limiterespuesta vencimiento entroil evaderentro datalimite responderate uiterlijk afhandelenvoor antwoordvoor dateecheance plazo vence responderantes =limite limitederespuesta prazolimite =termine terminerisposta terminedirisposta terminediriscontro delai datebutoir afaireavant reponseavant traiteravant uiterste reactiedatum spatestens zieldatum =bis =termin erledigenbis entrodata respondbefore completeby",
	"extended_to":        "extension extendedto verlanger prolong prorroga proroga verlenging ampliacion ampliad amplia",
	"closed_at":          "closed closure completed solved =afgehandeld =bearbeitet =traite =traitee =repondu =atendida =atendido =gestionada =gestionado =evasa =evaso =gestita =tratado =tratada =concluida =concluido dateresponded dateofresponse =responded erledigt abgeschlossen cloture cerrad chius encerrad conclu afgesloten resolved closedon dateclosed =resolved =finished beantwortetam erledigtam bearbeitetam traiteele repondule fechacierre fecharespuesta evasail dataevasione dataconclusao datafecho respondido afgehandeldop answeredon respondedon cierre fechadecierre fecharesolucion fechaderesolucion fechaderespuesta fechafin fechadefin finalizad contestadoel resueltoel fechadoem fechadaem datadefecho datadeconclusao datadeencerramento encerrament datafim dataderesposta dataresposta resolvidoem concluid conclus datarisposta datadirisposta datafine dateclos =clos closle datereponse datedereponse datefin datedefin solde traitele achevele datumafhandeling afhandeldatum datumafgehandeld sluitingsdatum datumsluiting datumantwoord antwoorddatum beantwoordop afgerond gereeddatum datumgereed abschluss erledigung geschlossen antwortdatum beendetam closingdate completiondate resolutiondate dateresolved",
	"identity_verified":  "identity identitat identitaet identite identidad identita identidade identiteit idchecked idverified idcheck legitimation =ausweis",
	"refusal_reason":     "denialreason refusalreason denial refusal ablehnung refus denegac rifiuto recusa weigering",
	"handler":            "handler assigned assignee reviewedby bearbeiter zustandig zustaendig responsable responsabile responsavel behandelaar =owner verantwortlich sachbearbeiter gestor atendidopor",
	"requester_name":     "requester requestername =name antragsteller demandeur solicitante richiedente requerente verzoeker fullname reporter datasubject =person betroffener betroffeneperson interesado interessato titular betrokkene =naam =nom =nombre =nome =applicant",
	"details":            "details description beschreibung descri summary =text =notiz =note =notes =notas =remarks =comment =comments",
	"purpose_id":         "purposeid purposecode zweckid zweckcode =code =id =key kurzel kuerzel =purpose =zweck codefinalite codigofinalidad codicefinalita =codigo =codice codeproposito codefinalite",
	"name":               "=name =title bezeichnung =nom =nombre =nome =naam label libelle purposename titel titre titolo titulo =activity processname processingname =process processingactivity verarbeitungstatigkeit verarbeitung traitement tratamiento trattamento tratamento verwerking",
	"description":        "description beschreibung descri omschrijving",
	"valid_from":         "validfrom inforce inwerking vigente vigencia emvigor invigore envigueur gultigab gueltigab gultigvon validodesde validodal validoapartir geldigvanaf valabledu =from =ab =von =depuis =desde =dal =vanaf effective published =date =datum veroffentlicht publie publicad pubblicat gepubliceerd inkraft vigueur envigor vigore =since =seit =start startdate gultig dateddebut miseenligne enligne",
	"valid_to":           "validto validuntil inforceuntil gultigbis gueltigbis =until =to =bis jusqu =hasta finoal =ate geldigtot superseded replaced retired =tot =tm totenmet =au jusquau vervaltop ersetztam abgelost remplace =end enddate expires =ended vervangen sustituid sostituit substituid",
	"title":              "title titel titre titulo titolo",
	"wording":            "wording wortlaut =text =texte =texto =testo =tekst",
	"wording_digest":     "digest sha256 hash",
	"url":                "url =link",
	"activity_id":        "activityid processingid processid =id =nr =no ref recordid vvtnr lfdnr laufendenummer lfd =numero =code =key",
	"controller":         "controller verantwortlicher responsabledetraitement responsabledutraitement responsabledeltratamiento titolaredeltrattamento titolare responsavelpelotratamento verwerkingsverantwoordelijke",
	"subject_categories": "datasubject betroffene personnesconcernees interesados interessati categoriasdetitulares betrokkenen categoriesofindividuals individuals",
	"data_categories":    "personaldata categoriesofdata datacategor datenkategor categoriesdedonnees donneespersonnelles categoriasdedatos categoriedidati categoriasdedados gegevens datenarten",
	"recipients":         "recipient empfanger empfaenger destinatair destinatari ontvanger",
	"transfers":          "transfer drittland drittstaat ubermittlung transfert transferencia trasferiment doorgifte thirdcountr drittlandtransfer horsue extraue foradaue buitendeeu",
	"retention":          "retention loschfrist loeschfrist aufbewahr conservation conservacion conservazione conservacao bewaar loschung loeschung aufbewahrung bewaren",
	"security":           "security sicherheit massnahm securite seguridad sicurezza seguranca beveiliging =tom =toms",
	"owner":              "owner verantwortlich responsible zustandig responsable responsabile responsavel eigenaar",
	"rule_id":            "=id =rule regel regle regla regola regra ruleid",
	"entity":             "entity recordtype datensatzart objekt =datenart =datensatz typededonnees tipodedatos tipodidati tipodedados datasoort gegevenssoort soortgegevens",
	"months":             "months monate =mois meses =mesi maanden dureemois enmois duratamesi inmesi",
	"starts":             "starts beginn begint debut inicio inizio start pointdedepart puntodepartida puntodipartenza pontodepartida",
	"action":             "action aktion accion azione acao actie massnahme",
	"authority":          "authority grundlage grondslag =law gesetz fondement =base basejuridi basegiuridi baselegal",
}

var pieces = func() map[string][]string {
	m := map[string][]string{}
	for field, words := range headerWords {
		m[field] = strings.Fields(words)
	}
	m["status"] = slices.Concat(m["asks"], m["state"])
	return m
}()

// registers are names of lists in which people have themselves entered so as not to be contacted: to be entered is no consent.
var registers = []string{"bloctel", "donotcall", "donotmail", "donotcontact", "belmeniet", "opposizioni", "robinson", "listerouge", "=dnc", "=tps", "=ctps", "suppress", "blacklist", "blocklist", "sperrliste"}

// personNumbers are the headers of numbers of persons: what the person is called, a word for number before or behind it, and nothing else.
var personNumbers = sync.OnceValue(func() map[string]bool {
	persons := strings.Fields("kd kde kunde kunden kunder cust customer client clients cliente clienti clientes utente usuario usuaria utilisateur utilizador user member membre miembro membro mitglied mitglieds patient paciente paziente patienten patients pers person personal persona personne pessoa persoon " +
		"partner gp geschaftspartner geschaeftspartner businesspartner debitor debitoren debiteur debiteuren deudor debitore devedor klant klanten relatie lid leden account abonnent abonnenten abonne abonado abbonato assinante abonnee subscriber teilnehmer participant " +
		"adherent socio associado soci donor spender donateur donante interessent interessenten lead mitarbeiter employee employe empleado dipendente funcionario medewerker student schuler versicherten versicherter assure asegurado assicurato segurado verzekerde gast crm")
	numbers := strings.Fields("nr no n num nro numero number nummer id ident key code kennung kennziffer codice codigo cod ref reference")
	m := map[string]bool{}
	for _, whole := range strings.Fields("debitor dni nie nif cpf bsn codicefiscale ahvnr ahvnummer kontaktid idkontakt idcontact idcontacto idcontatto idcontato") {
		m[whole] = true
	}
	for _, p := range persons {
		for _, n := range numbers {
			for _, of := range []string{"", "de", "du", "del", "do", "van"} {
				m[n+of+p] = true
			}
			m[p+n] = true
		}
	}
	return m
})

// fits gives the length of the longest word of a field that a plain header has; 0 if it has none.
func fits(field, header string) int {
	best := 0
	if field == "subject_id" && personNumbers()[header] {
		best = 100
	}
	for _, p := range pieces[field] {
		if whole, ok := strings.CutPrefix(p, "="); ok {
			if header == whole {
				best = max(best, 100)
			}
			continue
		}
		switch {
		case header == p:
			best = max(best, 100+len(p))
		case strings.Contains(header, p):
			best = max(best, len(p))
		}
	}
	return best
}

// TotalsWords are what stands before totals, in seven languages.
var TotalsWords = strings.Split("total|totals|grand total|subtotal|sub-total|sum|sums|count|number of records|total records|total rows|summe|gesamt|gesamtsumme|zwischensumme|insgesamt|anzahl|somme|total général|sous-total|"+
	"suma|total general|recuento|totale|totale generale|somma|conteggio|soma|total geral|contagem|totaal|eindtotaal|subtotaal|som|aantal", "|")

// sheetWords are pieces of file and sheet names by entity.
var sheetWords = map[string][]string{
	"purpose":        {"purpose", "zweck", "finalit", "finalidad", "doeleind"},
	"notice":         {"notice", "hinweis", "mentions", "aviso", "informativ", "privacyverklaring", "policy", "policies", "datenschutzerklarung", "datenschutzerklaerung", "politique", "politica"},
	"suppression":    {"bloctel", "donotcall", "belmeniet", "opposizioni", "listarossa", "listerouge", "=dnc", "=tps", "=ctps", "suppress", "sperrliste", "blacklist", "blocklist", "optout", "donot", "unsubscri", "robinson", "opposition", "disiscr", "exclusion", "desabonn", "desinscri", "abmeld", "abgemeldet", "austrag", "=bajas", "descadastr", "afmeld", "afgemeld", "uitgeschreven", "widerspr", "widerruf", "withdraw", "revoca", "revoga", "intrekk", "bounce"},
	"case":           {"dsar", "=dsr", "=sar", "antrag", "request", "anfrage", "demande", "solicitud", "richiest", "pedido", "verzoek", "betroffenenrecht", "betroffenenanfragen", "auskunftsersuchen", "derechos", "istanze", "droits", "inzage"},
	"activity":       {"ropa", "processing", "verarbeitung", "vvt", "traitement", "tratamiento", "trattament", "tratamento", "verwerking", "activit", "registre"},
	"retention_rule": {"retention", "aufbewahr", "loschfrist", "conservation", "conservacion", "conservazion", "bewaar"},
	"subscribers":    {"newsletter", "subscriber", "subscribed", "abonn", "suscri", "iscritti", "inscri", "boletin", "nieuwsbrief", "infolettre", "mailinglist", "empfanger", "empfaenger", "optin"},
	"consent":        {"consent", "einwillig", "zustimm", "consentement", "consentimiento", "consens", "toestemming", "newsletter", "subscri", "contact", "customer", "kunden"},
}

// words lists, by term, the words of the seven languages that stand for it in cells.
type words map[string]string

var statusWords = words{
	"yes":       mappings.AnswerWords["yes"] + "|checked|ticked|i agree|i accept|angekreuzt|ich stimme zu|ja, ich stimme zu|coché|j'accepte|oui, j'accepte|marcado|acepto|sí, acepto|selezionato|accetto|sì, accetto|aceito|sim, aceito|aangevinkt|ik ga akkoord|yes, i agree|yes please|yes, please|ja bitte|ja, bitte|oui, merci",
	"no":        mappings.AnswerWords["no"] + "|no thanks|no, thanks|no thank you|nein danke|nein, danke|non merci|non, merci|no gracias|no, gracias|no grazie|no, grazie|nee bedankt|not granted|no consent|unchecked|not checked|unticked|not registered|not listed|nicht erteilt|keine einwilligung|nicht angekreuzt|nicht eingetragen|liegt nicht vor|nicht vorhanden|none given|non coché|non inscrit|non inscrite|aucun consentement|no marcado|no inscrito|sin consentimiento|non selezionato|non iscritto|nessun consenso|não marcado|não inscrito|sem consentimento|niet aangevinkt|niet ingeschreven|geen toestemming",
	"given":     "given|granted|single opt-in|double opt-in|confirmed opt-in|opt-in|opt in|optin|opted in|opted-in|subscribed|active|confirmed|accepted|agreed|consented|allowed|allow|accept|accept all|accepted all|consent given|consent granted|liegt vor|vorhanden|einwilligung erteilt|einwilligung gegeben|consentement donné|consentimiento otorgado|consenso prestato|consentimento dado|toestemming gegeven|erteilt|zugestimmt|eingewilligt|angemeldet|abonniert|aktiv|bestätigt|inscrit|abonné|accepté|accordé|actif|suscrito|alta|dado de alta|dada de alta|aceptado|otorgado|activo|iscritto|accettato|concesso|attivo|inscrito|subscrito|aceite|concedido|ativo|aangemeld|gegeven|actief|akkoord",
	"refused":   mappings.AnswerWords["refused"] + "|i do not agree|i don't agree|i disagree|disagree|i do not accept|i don't accept|ich stimme nicht zu|nein, ich stimme nicht zu|je n'accepte pas|je refuse|no acepto|non accetto|não aceito|ik ga niet akkoord|do not allow|don't allow|not allowed|disallow|do not send|do not contact|nicht erlaubt|nicht zulassen|nicht gestattet|ne pas autoriser|non autorisé|no permitir|no permitido|non consentire|non consentito|não permitir|niet toestaan|reject|reject all|rejected all|decline|deny|ablehnen|refuser|rechazar|rifiuta|rejeitar|weigeren",
	"withdrawn": mappings.AnswerWords["withdrawn"] + "|baja voluntaria",
	"expired":   "expired|lapsed|abgelaufen|expiré|caducado|expirado|vencido|scaduto|verlopen",
	"":          "not subscribed|nicht abonniert|nicht angemeldet|non abonné|pas abonné|no suscrito|não subscrito|niet aangemeld|not yet|noch nicht|pas encore|todavía no|aún no|non ancora|ainda não|nog niet|k.a.|k. a.|keine angabe|ohne angabe|n.a.|n.v.t.|nvt|s/o|sans réponse|sin respuesta|nessuna risposta|not confirmed|waiting|never|no answer|unknown|pending|unconfirmed|never subscribed|never_subscribed|non-subscribed|nonsubscribed|not set|no permissions set|not seen|not asked|not activated|unactivated|awaiting confirmation|pending confirmation|confirmation pending|validating|not applicable|nicht bestätigt|unbestätigt|nicht gesetzt|nie abonniert|bestätigung ausstehend|non confirmé|non défini|jamais abonné|en attente de confirmation|no confirmado|sin confirmar|no establecido|nunca suscrito|pendiente de confirmación|non confermato|non impostato|mai iscritto|in attesa di conferma|não confirmado|não definido|nunca subscrito|niet bevestigd|niet ingesteld|nooit aangemeld|nooit ingeschreven|n/a|none|unbekannt|ausstehend|offen|inconnu|en attente|desconocido|pendiente|sconosciuto|in attesa|desconhecido|pendente|onbekend|confirmation sent|nicht zutreffend|trifft nicht zu|entfällt|nicht anwendbar|sans objet|non applicable|no aplica|no aplicable|non applicabile|não se aplica|não aplicável|niet van toepassing|non confirmée|no confirmada|non confermata|não confirmada|aguardando confirmação|onbevestigd|in afwachting|wacht op bevestiging",
}

var fieldWords = map[string]words{
	"channel": {
		"email": "email|e-mail|mail|courriel|correo|correo electrónico|posta elettronica|newsletter", "sms": "sms|text|text message",
		"phone": "phone|telephone|call|telefon|anruf|téléphone|teléfono|telefono|telefone|telefoon", "post": "post|mail (post)|letter|brief|courrier|postal|posta|correio|postale",
		"push": "push|app", "whatsapp": "whatsapp", "web": "web|website|online|portal", "any": "any|all|alle|tous|todos|tutti|alles",
	},
	"reason": {
		"opt_out":   mappings.AnswerWords["opt_out"] + "|manual suppression|manualsuppression|suppressed|manually suppressed",
		"objection": mappings.AnswerWords["objection"],
		"complaint": "complaint|marked as spam|spam|spam complaint|beschwerde|plainte|queja|reclamo|reclamação|klacht",
		"bounce":    "bounce|bounced|hard bounce|hard_bounce|unzustellbar|rebond|rebote|rimbalzo|devolvido|" + cleanedWords,
		"invalid":   "invalid|ungültig|invalide|inválido|non valido|ongeldig|invalid email",
		"legal":     "legal|court order|rechtlich|légal|juridique",
	},
	"request_type": {
		"access":             "export personal data|access|sar|dsar|subject access|subject access request|access request|right of access|data access|auskunft|auskunftsersuchen|auskunftsrecht|accès|acceso|accesso|acesso|inzage|information|droit d'accès|derecho de acceso|diritto di accesso|direito de acesso|recht op inzage|acceso a datos",
		"erasure":            "remove personal data|erase personal data|erasure|deletion|delete|right to be forgotten|forget|löschung|effacement|suppression|supresión|borrado|cancellazione|apagamento|eliminação|verwijdering|wissen|right to erasure|data deletion|deletion request|erasure request|right to deletion|recht auf vergessenwerden|recht auf löschung|droit à l'oubli|droit à l'effacement|derecho al olvido|oblio|diritto all'oblio|esquecimento|vergetelheid",
		"rectification":      "rectification|correction|update|berichtigung|rectificación|rettifica|retificação|correctie|rectificatie|right to rectification|recht auf berichtigung|droit de rectification|derecho de rectificación",
		"restriction":        "restriction|einschränkung|limitation|limitación|limitazione|limitação|beperking",
		"portability":        "portability|datenübertragbarkeit|übertragbarkeit|portabilité|portabilidad|portabilità|portabilidade|overdraagbaarheid|data portability|right to portability|recht auf datenübertragbarkeit|droit à la portabilité",
		"objection":          "objection|object|widerspruch|opposition|oposición|opposizione|oposição|bezwaar|right to object|werbewiderspruch|droit d'opposition|derecho de oposición|diritto di opposizione|direito de oposição|recht van bezwaar",
		"withdraw_consent":   "withdraw consent|withdrawal|consent withdrawal|widerruf|retrait du consentement|retirada|revoca|revoca del consenso|intrekking|withdrawal of consent|widerruf der einwilligung|retrait de consentement|retirada del consentimiento|intrekking toestemming",
		"automated_decision": "automated decision|automated_decision|automatisierte entscheidung|décision automatisée",
		"complaint":          "complaint|beschwerde|plainte|queja|reclamo|reclamação|klacht",
		"other":              "other|sonstige|sonstiges|andere|autre|otro|altro|outro|overig",
	},
	"case.status": {
		"open":             "request pending|request confirmed|request made|enriching|compiling|approving|delayed|work in progress|on-hold|hold|waiting for customer|waiting for support|awaiting customer|identity verification|in fulfillment|fulfilling|open|new|pending|received|in progress|in_progress|to do|todo|waiting|on hold|under review|assigned|offen|neu|in bearbeitung|eingegangen|ouvert|ouverte|en cours|nouveau|abierto|abierta|en curso|nuevo|aperto|aperta|in corso|in lavorazione|aberto|em andamento|lopend|in behandeling|identity check|awaiting identity|verification|in review|ausstehend|wartet|en attente|en traitement|en cours de traitement|à traiter|pendiente|in attesa|em aberto|em curso|em tratamento|pendente|openstaand|nieuw|in onderzoek|wacht|en trámite|en tramitación|tramitando|en proceso|en gestión|en estudio|en revisión|recibido|recibida|registrado|registrada|nueva|asignado|asignada|a la espera|en espera|en plazo|prorrogado|prorrogada|iniciado|iniciada|em tramitação|em processamento|em análise|em progresso|em espera|em execução|aberta|novo|nova|recebido|recebida|por responder|aguardando|a aguardar|in gestione|in esame|in trattamento|in sospeso|da evadere|ricevuto|ricevuta|presa in carico|in carico|nuova|in valutazione|sospesa|en instruction|en cours d'instruction|en cours d'examen|à l'étude|reçu|reçue|en suspens|nouvelle|non traité|non traitée|prise en charge|à faire|ontvangen|in afwachting|lopende|aangehouden|wachtend|te behandelen|onder behandeling|in uitvoering|in arbeit|laufend|in prüfung|wird bearbeitet|zu bearbeiten|wiedervorlage|wartend|in klärung|unbearbeitet|zugewiesen",
		"closed_fulfilled": "request completed|solved|gelöst|résolu|résolue|risolto|resolvido|opgelost|closed complete|fertig|request fulfilled|closed|completed|complete|done|fulfilled|resolved|finished|closed - fulfilled|erledigt|abgeschlossen|geschlossen|erfüllt|clos|close|clôturé|clôturée|terminé|traité|cerrado|cerrada|completado|resuelto|chiuso|chiusa|completato|evaso|fechado|encerrado|concluído|gesloten|afgerond|afgesloten|voltooid|answered|responded|satisfied|beantwortet|bearbeitet|ausgekunftet|répondu|répondue|traitée|terminée|achevé|finalizado|finalizada|atendido|atendida|respondido|resuelta|evasa|completata|riscontrata|concluída|respondida|finalizada|afgehandeld|beantwoord|tramitado|tramitada|cumplido|cumplida|completada|contestado|contestada|estimada|ejecutado|ejecutada|concluido|concluida|fechada|encerrada|tratado|tratada|cumprido|cumprida|executado|executada|deferido|deferida|resolvido|resolvida|concluso|conclusa|gestito|gestita|soddisfatta|accolto|accolta|riscontrato|eseguito|eseguita|soldé|soldée|achevée|satisfaite|exécutée|résolu|résolue|finalisé|finalisée|afgedaan|voldaan|uitgevoerd|opgelost|ingewilligd|toegekend|gereed|fertig|ausgeführt|stattgegeben|beauskunftet|durchgeführt|umgesetzt|gelöst",
		"closed_refused":   "identity not verified|failed verification|failed_verification|closed incomplete|refused|rejected|denied|declined|closed - refused|abgelehnt|refusé|refusée|rejeté|rechazado|denegado|rifiutato|respinto|recusado|rejeitado|geweigerd|afgewezen|refused in part|zurückgewiesen|verweigert|rejetée|denegada|rechazada|desestimado|rifiutata|respinta|recusada|rejeitada|indeferido|desestimada|inadmitido|inadmitida|no admitido|no admitida|no procede|negado|negada|indeferida|improcedente|não admitido|negato|negata|non accolto|non accolta|inammissibile|rigettato|rigettata|irrecevable|déclinée|niet-ontvankelijk|afgekeurd|nicht stattgegeben|unbegründet|teilweise abgelehnt",
		"withdrawn":        "withdrawn|cancelled|canceled|zurückgezogen|storniert|retiré|annulé|retirado|anulado|ritirato|annullato|cancelado|ingetrokken|geannuleerd|baja voluntaria|desistido|desistida|desistimiento|retirada|anulada|cancelada|renuncia|desistência|desistiu|ritirata|annullata|rinuncia|retirée|annulée|désistement|abandonné|abandonnée|vervallen|teruggetrokken|zurückgenommen|antrag zurückgezogen|hinfällig",
	},
	"lawful_basis": {
		"consent":             "consent|art. 6 abs. 1 lit. a dsgvo|art. 6 abs. 1 lit. a|art. 6 (1) lit. a|einwilligung|consentement|consentimiento|consenso|consentimento|toestemming|art. 6(1)(a)|6(1)(a)",
		"contract":            "contract|performance of a contract|vertrag|vertragserfüllung|contrat|contrato|contratto|overeenkomst|art. 6(1)(b)|6(1)(b)",
		"legal_obligation":    "legal obligation|rechtliche verpflichtung|obligation légale|obligación legal|obbligo legale|obrigação legal|wettelijke verplichting|art. 6(1)(c)|6(1)(c)",
		"vital_interest":      "vital interest|vital interests|lebenswichtige interessen|intérêts vitaux|intereses vitales|interessi vitali|interesses vitais|vitale belangen",
		"public_task":         "public task|public interest|öffentliche aufgabe|öffentliches interesse|mission d'intérêt public|interés público|interesse pubblico|interesse público|algemeen belang",
		"legitimate_interest": "legitimate interest|legitimate interests|berechtigtes interesse|berechtigte interessen|intérêt légitime|interés legítimo|legittimo interesse|interesse legittimo|interesse legítimo|gerechtvaardigd belang|art. 6(1)(f)|6(1)(f)",
	},
	"identity_verified": {"yes": statusWords["yes"] + "|verified|confirmed|geprüft|vérifié|verificado|verificato|geverifieerd", "no": statusWords["no"] + "|not verified|pending|offen"},
	"entity": { // what a rule of retention governs
		"consent":        "consents|consent records|records of consent|einwilligung|einwilligungen|zustimmung|zustimmungen|consentement|consentements|consentimiento|consentimientos|consenso|consensi|consentimento|consentimentos|toestemming|toestemmingen",
		"suppression":    "suppressions|suppression list|opt-outs|blacklist|blocklist|do-not-contact list|sperrliste|sperrlisten|werbesperre|werbesperren|sperrvermerk|sperrvermerke|robinsonliste|liste d'opposition|liste d'exclusion|lista de exclusión|lista robinson|lista di opposizione|lista di esclusione|lista de oposição|lista de exclusão|blokkeerlijst|uitsluitingslijst",
		"case":           "cases|requests|data subject requests|data subject request|dsr|dsrs|dsar|dsars|subject access requests|anfragen|betroffenenanfrage|betroffenenanfragen|betroffenenanträge|auskunftsersuchen|demandes|demandes des personnes|demandes de droits|demandes d'exercice de droits|solicitudes|solicitudes de derechos|solicitudes de interesados|richieste|richieste degli interessati|istanze|pedidos|pedidos de titulares|verzoeken|verzoeken van betrokkenen|inzageverzoeken",
		"notice":         "notices|privacy notice|privacy notices|datenschutzhinweis|datenschutzhinweise|datenschutzerklärung|datenschutzerklärungen|mentions d'information|aviso de privacidad|avisos de privacidad|informativa|informative|aviso de privacidade|avisos de privacidade|privacyverklaring|privacyverklaringen",
		"purpose":        "purposes|zweck|zwecke|finalité|finalités|finalidad|finalidades|finalità|finalidade|doel|doelen|doeleinden",
		"activity":       "activities|processing activity|processing activities|records of processing|verarbeitungstätigkeit|verarbeitungstätigkeiten|activités de traitement|actividades de tratamiento|attività di trattamento|atividades de tratamento|verwerkingsactiviteit|verwerkingsactiviteiten",
		"retention_rule": "retention rule|retention rules|aufbewahrungsregel|aufbewahrungsregeln|löschregel|löschregeln",
	},
	"starts": { // from when its months count; a collection is neither the act nor the export, and a last activity none of them
		"occurred":  "given|granted|consent given|consent granted|consent date|date of consent|erteilung|erteilt|einwilligung erteilt|erteilung der einwilligung|date du consentement|consentement donné|fecha de consentimiento|fecha del consentimiento|consentimiento otorgado|otorgamiento|data del consenso|consenso prestato|data do consentimento|consentimento dado|datum toestemming|toestemming gegeven",
		"closed":    "closure|case closed|request closed|closing|completion|abschluss|abgeschlossen|erledigung|abschluss des vorgangs|clôture|clôturé|clôture de la demande|clôture du dossier|cierre|cerrado|cierre del expediente|cierre de la solicitud|chiusura|chiusura della richiesta|chiuso|encerramento|encerrado|fecho|conclusão|afsluiting|afgesloten|afhandeling|afgehandeld",
		"withdrawn": "withdrawal|consent withdrawn|withdrawal of consent|revocation|revoked|widerruf|widerrufen|widerruf der einwilligung|retrait|retrait du consentement|retirada|retirada del consentimiento|revocación|revoca|revoca del consenso|revogação|retirada do consentimento|revogação do consentimento|intrekking|ingetrokken|intrekking van toestemming",
		"obtained":  "export date|date of export|exportdatum|date d'export|fecha de exportación|data di esportazione|data de exportação",
	},
	"action": { // what happens at its end
		"delete":    "deleted|deletion|erase|erased|erasure|destroy|destroyed|destruction|purge|löschen|löschung|gelöscht|vernichten|vernichtung|supprimer|suppression|effacer|effacement|détruire|borrar|borrado|eliminar|eliminación|suprimir|supresión|destruir|destrucción|cancellare|cancellazione|eliminare|eliminazione|distruzione|apagar|apagamento|eliminação|destruição|verwijderen|verwijdering|wissen|vernietigen|vernietiging",
		"anonymise": "anonymised|anonymisation|anonymize|anonymized|anonymization|anonymisieren|anonymisierung|anonymisiert|anonymiser|anonimizar|anonimización|anonimizzare|anonimizzazione|anonimização|anonimiseren|anonimisering",
		"review":    "manual review|reviewed|prüfen|prüfung|überprüfen|überprüfung|réexamen|réexaminer|revisar|revisión|revisione|rivedere|revisão|rever|beoordelen|beoordeling|herbeoordeling",
	},
	"proof_kind": {
		"signed_token": "signed token|token|jwt", "double_opt_in_log": "double opt-in|double opt-in log|doi|doi log|double_opt_in", "signed_document": "signed document|signed form|paper|unterschrift|papier",
		"recorded_call": "recorded call|call recording|recording|aufzeichnung|anruf", "served_notice_history": "served notice|notice history",
	},
}

// Sounds says which of the fields a header sounds like most; "" if like none of them.
func Sounds(header string, fields ...string) string {
	header = plain(header)
	best, of := 0, ""
	for _, field := range fields {
		if n := fits(field, header); n > best {
			best, of = n, field
		}
	}
	return of
}
