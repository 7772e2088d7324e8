package xlsx

import (
	"context"
	"regexp"
	"strings"
)

// application reads docProps/app.xml: the program that saved the workbook, by its own words.
func (a *archive) application(ctx context.Context) (name, version string) {
	rels, err := a.relations(ctx, "")
	if err != nil {
		return "", ""
	}
	for _, r := range rels {
		if r.kind != "extended-properties" || r.part < 0 {
			continue
		}
		_ = a.walk(ctx, r.part, func(w *walker, t token) error {
			into := &name
			switch {
			case t.empty:
				return nil
			case t.is("AppVersion"):
				into = &version
			case !t.is("Application"):
				return nil
			}
			t, err := w.next()
			if err == nil && t.kind == tokText {
				*into = strings.TrimSpace(string(attrText(t.text)))
			}
			return err
		})
		break
	}
	return name, version
}

// notBy says what speaks against a workbook's claim that Excel saved it. Libraries sign as Excel so that other programs trust them.
func notBy(name, version string, theme bool) string {
	switch {
	case name != "Microsoft Excel" && name != "Microsoft Macintosh Excel":
	case version == "":
		return "it names no version, which Excel always does"
	case !excelVersion.MatchString(version):
		return "the version it names is none of Excel's"
	case !theme:
		return "it has no theme, which Excel always writes"
	}
	return ""
}

var excelVersion = regexp.MustCompile(`^\d\d\.\d{4}$`)
