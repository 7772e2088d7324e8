package main

import (
	"fmt"
	"strings"
)

// Nobody is called like that. The numbers are those that the German Federal Network Agency keeps free for films and books:
// 040 66969 000 to 999, 030 23125 000 to 999, 0176 040690 00 to 99.
var (
	firstNames = strings.Fields("Ada Bodo Cleo Dora Emil Fine Gero Hedi Ivo Jule Kai Lotte Momme Nele Oke Pia Quint Rike Sören Tomke Ubbo Vera Wiebke Xaver Yara Zoe")
	lastNames  = strings.Fields("Musterfrau Beispiel Platzhalter Probeweise Testfall Fiktivski Erfunden Niemand Nirgendwo Blindtext Attrappe Phantasie Irgendwer Schablone Luftschloss")
	domains    = []string{"example.com", "example.org", "example.net", "mail.example"}
)

// person is one made-up data subject. The same number always gives the same person, with identifiers of their own.
type person struct {
	n        int
	first    string
	last     string
	email    string
	national string // digits of the number after the zero
	customer string // number in the shop system, as text
}

func subject(n int) person {
	p := person{n: n, first: firstNames[n%len(firstNames)], last: lastNames[(n+5*(n/len(firstNames)))%len(lastNames)]}
	plain := strings.NewReplacer("ö", "oe").Replace(strings.ToLower(p.first + "." + p.last))
	p.email = fmt.Sprintf("%s@%s", plain, domains[n%len(domains)])
	switch n % 3 {
	case 0:
		p.national = fmt.Sprintf("4066969%03d", n)
	case 1:
		p.national = fmt.Sprintf("3023125%03d", n)
	default:
		p.national = fmt.Sprintf("176040690%02d", n/3)
	}
	p.customer = fmt.Sprintf("HB-%05d", 20000+7*n)
	return p
}

func (p person) name() string { return p.first + " " + p.last }

// phone writes the number as people do, in one of three ways.
func (p person) phone() string {
	switch p.n % 4 {
	case 0, 1:
		return "+49 " + p.national[:2] + " " + p.national[2:]
	case 2:
		return "0" + p.national
	}
	return "0049 " + p.national
}

// tell notes what of a person stands in the exports or may come out of them.
func (d *data) tell(p person) {
	d.private(p.name(), p.email, p.phone(), "+49"+p.national, p.national, p.customer)
}
