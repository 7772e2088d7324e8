package mappings

import (
	"strings"
	"testing"

	"golang.org/x/text/unicode/norm"
)

func TestMonthNames(t *testing.T) {
	for _, c := range []struct{ language, whole, short string }{
		{"English", "January February March April May June July August September October November December", "Jan Feb Mar Apr May Jun Jul Aug Sept Oct Nov Dec"},
		{"German", "Januar Februar März April Mai Juni Juli August September Oktober November Dezember", "Jan. Feb. März Apr. Mai Juni Juli Aug. Sep. Okt. Nov. Dez."},
		{"German in Austria", "Jänner Feber März April Mai Juni Juli August September Oktober November Dezember", "Jän. Feb. Mär. Apr. Mai Jun. Jul. Aug. Sept. Okt. Nov. Dez."},
		{"French", "janvier février mars avril mai juin juillet août septembre octobre novembre décembre", "janv. févr. mars avr. mai juin juil. août sept. oct. nov. déc."},
		{"Spanish", "enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre", "ene feb mar abr may jun jul ago sept oct nov dic"},
		{"Italian", "gennaio febbraio marzo aprile maggio giugno luglio agosto settembre ottobre novembre dicembre", "gen feb mar apr mag giu lug ago set ott nov dic"},
		{"Portuguese", "janeiro fevereiro março abril maio junho julho agosto setembro outubro novembro dezembro", "jan. fev. mar. abr. mai. jun. jul. ago. set. out. nov. dez."},
		{"Dutch", "januari februari maart april mei juni juli augustus september oktober november december", "jan. feb. mrt. apr. mei jun. jul. aug. sep. okt. nov. dec."},
		{"English of newspapers", "", "Jan. Feb. March April May June July Aug. Sept. Oct. Nov. Dec."},
		{"German of the Duden", "", "Jan. Febr. März April Mai Juni Juli Aug. Sept. Okt. Nov. Dez."},
		{"French of printers", "", "janv. févr. mars avril mai juin juill. août sept. oct. nov. déc."},
		{"Italian, long", "", "genn. febbr. mar. apr. magg. giu. lug. ago. sett. ott. nov. dic."},
		{"Dutch, long", "", "jan. febr. maart april mei juni juli aug. sept. okt. nov. dec."},
	} {
		for token, names := range map[string]string{"MMMM": c.whole, "MMM": c.short} {
			l, err := compileLayout("D " + token + " YYYY")
			if err != nil {
				t.Fatal(err)
			}
			for i, name := range strings.Fields(names) {
				for _, spelt := range []string{name, strings.ToUpper(name), norm.NFD.String(name), strings.TrimSuffix(name, ".") + "."} {
					if got, r := l.read([]byte("3 " + spelt + " 2026")); r != readRight || got.month != i+1 || got.day != 3 {
						t.Errorf("%s, %s: %q is month %d (%v), want %d", c.language, token, spelt, got.month, r, i+1)
					}
				}
			}
		}
	}
}

func TestMonthNamesStandForOneMonth(t *testing.T) {
	for _, list := range [][12][]string{monthNames, monthShort} {
		seen := map[string]int{}
		for i, names := range list {
			for _, name := range names {
				if strings.ToLower(norm.NFC.String(name)) != name {
					t.Errorf("%s can't be found", name)
				}
				if other, twice := seen[name]; twice {
					t.Errorf("%s is month %d and %d", name, other, i+1)
				}
				seen[name] = i + 1
			}
		}
	}
}

func TestMonthAndLayout(t *testing.T) {
	for _, c := range []struct{ layout, text, want string }{
		{"D. MMM. YYYY", "3. Okt. 2026", "2026-10-03"}, // the dot of the layout is that dot
		{"D. MMM. YYYY", "3. Okt 2026", ""},
		{"DD-MMM-YY", "03-déc-26", "2026-12-03"},
		{"DDMMMYYYY", "03AUG2026", "2026-08-03"},
		{"D MMM YYYY", "3 octo 2026", ""},
		{"D MMM YYYY", "3 September 2026", ""}, // whole names are MMMM
		{"D MMMM YYYY", "3 Sept 2026", ""},
		{"D MMMM YYYY", "3 " + strings.Repeat("x", 100) + " 2026", ""},
		{"D 'de' MMMM 'de' YYYY", "3 de março de 2026", "2026-03-03"},
	} {
		l, err := compileLayout(c.layout)
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		if day, r := l.read([]byte(c.text)); r == readRight {
			got = string(day.appendDay(nil))
		}
		if got != c.want {
			t.Errorf("%q by %q: %q, want %q", c.text, c.layout, got, c.want)
		}
	}
}
