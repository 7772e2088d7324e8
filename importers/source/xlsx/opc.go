package xlsx

import (
	"context"
	"errors"
	"net/url"
	"path"
	"strconv"
	"strings"

	"sheetlift/importers/source"
)

// Parts of the package are found as ECMA-376 part 2 says: through relationships, whatever the parts are called. Producers
// get names wrong in many ways that Excel forgives (case, backslashes, missing leading slash, percent signs); so do we.

// relation is one relationship with its target resolved.
type relation struct {
	id   string
	kind string // last segment of the type: worksheet, sharedStrings, … the same in transitional and strict packages
	part int    // entry, -1 when the package has no such part
	name string // target as resolved, for messages
}

// find gives the entry of a part name.
func (a *archive) find(name string) int {
	if i, ok := a.byName[fold(name)]; ok {
		return i
	}
	if plain, err := url.PathUnescape(name); err == nil {
		if i, ok := a.byName[fold(plain)]; ok {
			return i
		}
	}
	return -1
}

// resolve makes a target absolute against the part that names it.
func resolve(base, target string) string {
	target = strings.ReplaceAll(target, `\`, "/")
	if i := strings.IndexByte(target, '#'); i >= 0 {
		target = target[:i]
	}
	if strings.HasPrefix(target, "/") {
		return strings.TrimPrefix(path.Clean(target), "/")
	}
	return strings.TrimPrefix(path.Clean("/"+path.Join(path.Dir(strings.ReplaceAll(base, `\`, "/")), target)), "/")
}

// relsOf gives the name of the relationships part of a part; "" is the package.
func relsOf(part string) string {
	dir, file := path.Split(strings.ReplaceAll(part, `\`, "/"))
	return dir + "_rels/" + file + ".rels"
}

// relations reads the relationships of a part. A part without any has none.
func (a *archive) relations(ctx context.Context, part string) ([]relation, error) {
	i := a.find(relsOf(part))
	if i < 0 {
		return nil, nil
	}
	var rels []relation
	err := a.walk(ctx, i, func(w *walker, t token) error {
		if !t.is("Relationship") {
			return nil
		}
		id, _ := t.plainAttr("Id")
		kind, _ := t.plainAttr("Type")
		target, _ := t.plainAttr("Target")
		if mode, _ := t.plainAttr("TargetMode"); strings.EqualFold(mode, "External") {
			return nil
		}
		rel := relation{id: id, kind: kind[strings.LastIndexByte(kind, '/')+1:], name: resolve(part, target)}
		if rel.part = a.find(rel.name); rel.part < 0 {
			// Some producers write targets from the package's root without the slash that says so.
			rel.part = a.find(resolve("", target))
		}
		rels = append(rels, rel)
		return nil
	})
	return rels, err
}

// maxSmallPart bounds the parts that are kept in memory in one form or another: all but sheets and shared strings.
const maxSmallPart = 128 << 20

// walk calls f for every start tag of a small part. f may read on with the walker.
func (a *archive) walk(ctx context.Context, i int, f func(w *walker, t token) error) error {
	if e := &a.entries[i]; e.size > maxSmallPart {
		return a.fault(source.ErrLimit, e.name, "it declares "+strconv.FormatInt(e.size, 10)+" bytes, far more than such a part has", remedyResave)
	}
	w, err := a.walker(ctx, i)
	if err != nil {
		return err
	}
	defer w.close()
	for {
		t, err := w.next()
		if err != nil {
			return err
		}
		if t.kind == tokEOF {
			return nil
		}
		if t.kind == tokStart {
			if err := f(w, t); err != nil {
				return err
			}
		}
	}
}

func (a *archive) walker(ctx context.Context, i int) (*walker, error) {
	r, err := a.open(i)
	if err != nil {
		return nil, err
	}
	part := a.entries[i].name
	s := newStream(ctx, r, a.entries[i].size, a.lim.RecordBytes, func() error {
		return a.fault(source.ErrLimit, part, "one of its elements is longer than the limit", remedyLimit+" (record_bytes)")
	})
	return &walker{stream: s, a: a, part: part}, nil
}

// contentTypes is what [Content_Types].xml says.
type contentTypes struct {
	parts      map[string]string // folded part name → type
	extensions map[string]string
}

func (a *archive) contentTypes(ctx context.Context) (contentTypes, error) {
	c := contentTypes{parts: map[string]string{}, extensions: map[string]string{}}
	i := a.find("[Content_Types].xml")
	if i < 0 {
		return c, nil
	}
	err := a.walk(ctx, i, func(w *walker, t token) error {
		kind, _ := t.plainAttr("ContentType")
		switch {
		case t.is("Override"):
			name, _ := t.plainAttr("PartName")
			c.parts[fold(name)] = kind
		case t.is("Default"):
			ext, _ := t.plainAttr("Extension")
			c.extensions[strings.ToLower(ext)] = kind
		}
		return nil
	})
	return c, err
}

// of gives the type of a part.
func (c contentTypes) of(e *entry) string {
	name := fold(e.name)
	if t, ok := c.parts[name]; ok {
		return t
	}
	return c.extensions[strings.TrimPrefix(path.Ext(name), ".")]
}

// only gives the one part whose type satisfies f, or -1 when there is none or a choice.
func (a *archive) only(c contentTypes, f func(kind string) bool) int {
	found := -1
	for i := range a.entries {
		if f(c.of(&a.entries[i])) {
			if found >= 0 {
				return -1
			}
			found = i
		}
	}
	return found
}

// otherPackages are told apart for the refusal's words.
var otherPackages = []struct{ prefix, what, remedy string }{
	{"application/vnd.openxmlformats-officedocument.wordprocessingml", "a Word document (.docx)", "export the table as .xlsx or CSV"},
	{"application/vnd.ms-word", "a Word document (.docm)", "export the table as .xlsx or CSV"},
	{"application/vnd.openxmlformats-officedocument.presentationml", "a PowerPoint presentation", "export the table as .xlsx or CSV"},
	{"application/vnd.ms-excel.sheet.binary", "a binary Excel workbook (.xlsb)", remedySave},
	{"application/vnd.ms-visio", "a Visio drawing", "export the table as .xlsx or CSV"},
}

const remedySave = "open it in Excel or LibreOffice and save it as Excel workbook (.xlsx)"

// workbookPart finds the part that is the workbook: the package's officeDocument relationship, else the content types.
func (a *archive) workbookPart(ctx context.Context, types contentTypes) (int, error) {
	rels, err := a.relations(ctx, "")
	if err != nil && !errors.Is(err, source.ErrMalformed) && !errors.Is(err, source.ErrTruncated) {
		return -1, err
	}
	relFault := err
	found := -1
	for _, r := range rels {
		if r.kind == "officeDocument" && r.part >= 0 {
			found = r.part
			break
		}
	}
	if found < 0 {
		found = a.only(types, func(t string) bool { return strings.HasSuffix(t, ".main+xml") && isWorkbookType(t) })
	}
	if found >= 0 {
		t := types.of(&a.entries[found])
		for _, o := range otherPackages {
			if strings.HasPrefix(t, o.prefix) {
				return -1, a.fault(source.ErrUnsupported, "", "it is "+o.what, o.remedy)
			}
		}
		if relFault != nil {
			return -1, relFault
		}
		return found, nil
	}
	if relFault != nil {
		return -1, relFault
	}
	return -1, a.notWorkbook()
}

func isWorkbookType(t string) bool {
	return strings.Contains(t, "spreadsheetml") || strings.Contains(t, "ms-excel")
}

// notWorkbook says what a zip without a workbook is.
func (a *archive) notWorkbook() error {
	switch {
	case len(a.byName) == 0:
		return a.fault(source.ErrEmpty, "", "it is a zip with nothing in it", remedyDamaged)
	case a.find("content.xml") >= 0 && a.find("META-INF/manifest.xml") >= 0:
		return a.fault(source.ErrUnsupported, "", "it is an OpenDocument file (.ods and its kin)", remedySave)
	case a.find("xl/workbook.bin") >= 0:
		return a.fault(source.ErrUnsupported, "", "it is a binary Excel workbook (.xlsb)", remedySave)
	case a.find("Index/Document.iwa") >= 0 || a.find("Index.zip") >= 0:
		return a.fault(source.ErrUnsupported, "", "it is an Apple Numbers document", "export it as Excel workbook (.xlsx)")
	case a.find("[Content_Types].xml") < 0:
		return a.fault(source.ErrUnsupported, "", "it is a zip archive, not a workbook", "unpack it and name the workbook or CSV inside")
	}
	return a.fault(source.ErrMalformed, "", "the package names no workbook part", remedyDamaged)
}
