package pipeline

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/google/uuid"

	"sheetlift/importers/source"
	"sheetlift/importers/source/open"
	"sheetlift/manifests"
	"sheetlift/mappings"
	"sheetlift/mappings/presets"
	"sheetlift/mappings/suggest"
	"sheetlift/pipeline/finding"
)

// DraftOptions for Draft.
type DraftOptions struct {
	Dir                string // where batch.yaml is to lie
	Name               string // batch name; default the folder's name
	Charset, Delimiter string // declared for text files
	Namespace          uuid.UUID
}

// Drafted is a file that Draft wrote, relative to the folder.
type Drafted struct {
	Path string `json:"path"`
	What string `json:"what"`
}

// Drafts is what Draft did: the files it wrote, and the sheets it drafted nothing for, as they may be shown.
type Drafts struct {
	Files   []Drafted `json:"files"`
	LeftOut []string  `json:"left_out,omitempty"`
}

// Draft writes batch.yaml and one mapping per sheet: from a preset where the export is known, suggested from headers and values
// where something speaks for it, bare otherwise. Each guess carries its evidence and waits to be confirmed.
// Beside sheets that are understood, one is left out that holds no contact point and does not sound like a list of opt-outs.
// It refuses to overwrite; nothing is written unless all of it can be.
func Draft(ctx context.Context, files []string, opt DraftOptions) (*Drafts, error) {
	dir, err := filepath.Abs(opt.Dir)
	if err != nil {
		return nil, err
	}
	folder := slug(filepath.Base(dir))
	if opt.Name == "" {
		opt.Name = folder
	}
	var drafts []*draft
	shared := suggest.Context{}
	for _, file := range files {
		abs, err := filepath.Abs(file)
		if err != nil {
			return nil, err
		}
		rel, err := filepath.Rel(dir, abs)
		if err != nil || !filepath.IsLocal(rel) {
			return nil, &ConfigError{File: file, Message: "lies outside the folder that batch.yaml would lie in", Remedy: "copy the exports into this folder, or run init in the folder above them"}
		}
		list, err := draftFile(ctx, abs, fileByNumber(dir, filepath.ToSlash(rel)), opt)
		if err != nil {
			return nil, err
		}
		drafts = append(drafts, list...)
	}
	if len(drafts) == 0 {
		return nil, &ConfigError{File: strings.Join(files, ", "), Message: "none of the sheets holds anything", Remedy: "check that these are the right exports"}
	}
	for _, d := range drafts {
		shared.Purposes = append(shared.Purposes, d.purposes...)
		shared.Notices = shared.Notices || d.entity == "notice"
	}
	b := &batchDraft{opt: opt, folder: folder, names: map[string]bool{}, writes: map[string][]byte{}}
	b.head()
	for _, d := range drafts {
		b.source(d, drafts, shared)
	}
	b.writes[BatchFile] = []byte(b.String())
	order := append([]Drafted{{BatchFile, "the batch: tenant, sources, owners, times"}}, b.order...)
	return &Drafts{order, b.leftOut}, writeDrafts(dir, order, b.writes)
}

// batchDraft builds batch.yaml and the mappings beside it.
type batchDraft struct {
	strings.Builder
	opt    DraftOptions
	folder string
	names  map[string]bool
	writes map[string][]byte
	order  []Drafted

	leftOut []string
}

func (b *batchDraft) head() {
	fmt.Fprintf(b, `# Drafted by sheetlift init. Check what the evidence comments say, mend it, and remove the lines that ask to be confirmed;
# freeze refuses what nobody has confirmed.
version: 1
batch: %s
tenant:
  # evidence: the folder's name; write whose registers these are
  name: %s
  confirm: true
  namespace: %s # made once; every id depends on it, never change it
sources:
`, b.opt.Name, suggest.Scalar(b.folder), b.opt.Namespace)
}

// source drafts one source and its mapping.
func (b *batchDraft) source(d *draft, all []*draft, shared suggest.Context) {
	if d.found == nil && d.entity == "" && d.beside(all) && !d.look.MayBeOfPeople() {
		what, look := d.described, ""
		if n := d.look.AddressesWithin(); n > 0 {
			within := finding.Count(n, "text holds an address", "texts hold addresses") + " among other words"
			what, look = what+" ("+within+": look whether it names people who must not be contacted)", " In it, "+within+": look whether it names people who must not be contacted."
		}
		b.leftOut = append(b.leftOut, what)
		fmt.Fprintf(b, "  # left out: %s. Nothing in its headers says what its rows are; add it as a source if it holds records.%s\n", d.described, look)
		return
	}
	name := d.name
	for base, n := name, 2; b.names[name]; n++ {
		name = base + "-" + strconv.Itoa(n)
	}
	b.names[name] = true
	system, why := name, "the file's name; write the system it is from. Ids depend on it, so never change it later"
	if d.found != nil {
		system, why = d.found.Preset.Name, "the layout is that of: "+d.found.Preset.Title
	}
	mapping := "mappings/" + name + ".yaml"
	fmt.Fprintf(b, "  - name: %s\n    file: %s\n", name, strconv.Quote(d.file))
	if fileNumber.MatchString(filepath.Base(d.file)) {
		fmt.Fprintf(b, "    # the file's name looks like a value about a person, so its position among the exports of the folder stands here\n")
	}
	if d.look.Sheet != "" {
		fmt.Fprintf(b, "    sheet: %s\n", strconv.Quote(d.sheetKey()))
	}
	if d.text && b.opt.Charset != "" {
		fmt.Fprintf(b, "    charset: %s\n", b.opt.Charset)
	}
	if d.text && b.opt.Delimiter != "" {
		fmt.Fprintf(b, "    delimiter: %s\n", strconv.Quote(b.opt.Delimiter))
	}
	fmt.Fprintf(b, "    # evidence: %s\n    system: %s\n", why, suggest.Scalar(system))
	fmt.Fprintf(b, "    # owner: who answers for this export? Nothing in a file says it; write a name or a role\n")
	fmt.Fprintf(b, "    # definition: what it holds\n    mapping: %s\n", mapping)
	fmt.Fprintf(b, "    # evidence: the file was last changed then; write when the export was made, for what is undated counts as of that time\n    obtained_at: %s\n", d.changed.Format(time.RFC3339))
	if d.found != nil && d.found.Preset.Zone != "" {
		fmt.Fprintf(b, "    # evidence: %s\n    zone: %s\n", d.found.Preset.ZoneWhy, d.found.Preset.Zone)
	} else {
		fmt.Fprintf(b, "    # zone: Europe/Berlin    # which IANA zone are its times in, where they name none? Without one such times don't count\n")
	}
	fmt.Fprintf(b, "    tolerance: { rows: 0 }\n    confirm: true\n")
	shared.Name = name
	shared.By = mappings.StatedBy{At: d.changed.Format(time.DateOnly)} // a person has to say who states what no row says
	data, what := d.mapping(&shared)
	b.writes[mapping] = data
	b.order = append(b.order, Drafted{mapping, what})
}

// mapping drafts the mapping and says what it is.
func (d *draft) mapping(ctx *suggest.Context) (data []byte, what string) {
	switch {
	case d.found != nil:
		return d.found.Draft(ctx).YAML(), "mapping of " + d.described + ", by the preset " + d.found.Preset.Name
	case d.entity != "":
		return suggest.Suggest(d.look, ctx).YAML(), "suggested mapping of " + d.described + ": rows of " + d.entity
	}
	return suggest.Bare(d.look, ctx), "bare mapping of " + d.described + ": " + d.look.Unknown()
}

// Suggest drafts the mapping of one source of a batch, as init would, and writes nothing. The files are read as they lie beside
// batch.yaml; the other sources are looked at for their purposes and notices.
func Suggest(ctx context.Context, b *Batch, name string) ([]byte, error) {
	var of *draft
	shared := suggest.Context{Name: name}
	for i := range b.Sources {
		s := &b.Sources[i]
		list, err := draftFile(ctx, b.abs(s.File), s.File, DraftOptions{Charset: s.Charset, Delimiter: s.Delimiter})
		if err != nil {
			if s.Name == name {
				return nil, err
			}
			continue // that source's own faults are for its own commands
		}
		want := s.Sheet
		if m, err := mappingOf(b, s); err == nil {
			want = sheetOf(s, m)
		}
		for _, d := range list {
			if want != "" && want != d.look.Sheet && want != sheetNumber(d.look.SheetNum) && !d.text {
				continue
			}
			shared.Purposes = append(shared.Purposes, d.purposes...)
			shared.Notices = shared.Notices || d.entity == "notice"
			if s.Name == name && of == nil {
				of = d
				shared.By = mappings.StatedBy{Name: s.Owner, At: time.UnixMicro(s.obtained).UTC().Format(time.DateOnly)}
			}
		}
	}
	if of == nil {
		var names []string
		for i := range b.Sources {
			names = append(names, b.Sources[i].Name)
		}
		return nil, &ConfigError{File: b.path, Message: fmt.Sprintf("has no source %q with a sheet that holds anything", name), Remedy: "sources: " + strings.Join(names, ", ")}
	}
	data, _ := of.mapping(&shared)
	return data, nil
}

// writeDrafts writes all files or, when one exists or fails, none.
func writeDrafts(dir string, order []Drafted, writes map[string][]byte) (err error) {
	for _, d := range order {
		if _, err := os.Lstat(filepath.Join(dir, filepath.FromSlash(d.Path))); err == nil {
			return &ConfigError{File: d.Path, Message: "is there already", Remedy: "init never overwrites: remove it, or run init in another folder"}
		}
	}
	var written []string
	defer func() {
		if err != nil {
			for _, p := range written {
				os.Remove(p)
			}
		}
	}()
	for _, d := range order {
		path := filepath.Join(dir, filepath.FromSlash(d.Path))
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			return &FileError{Path: filepath.Dir(path), Message: "can't be made: " + pathless(err), Remedy: "run init in a folder that you may write to", Err: err}
		}
		f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o666)
		if err == nil {
			written = append(written, path)
			_, err = f.Write(writes[d.Path])
			if cerr := f.Close(); err == nil {
				err = cerr
			}
		}
		if err != nil {
			return &FileError{Path: path, Message: "can't be written: " + pathless(err), Remedy: "run init in a folder that you may write to", Err: err}
		}
	}
	return nil
}

// draft is what init found out about one sheet.
type draft struct {
	name      string // of the source, before it is made unique
	file      string // relative to the batch, as it is shown
	base      string // its own name, never shown
	described string // for people
	text      bool
	changed   time.Time
	look      *suggest.Look
	found     *presets.Found // nil if no preset fits
	entity    string         // else what the rows seem to be; "" if nothing says it
	purposes  []suggest.Purpose
}

// beside reports whether another sheet of the same file is understood: this one then hardly holds records, if it speaks of no people.
func (d *draft) beside(all []*draft) bool {
	for _, o := range all {
		if o != d && o.file == d.file && (o.found != nil || o.entity != "") {
			return true
		}
	}
	return false
}

// sheetKey is how batch.yaml names the sheet: by its position where its name looks like a value about a person.
func (d *draft) sheetKey() string {
	if mappings.LooksPersonal(d.look.Sheet) {
		return sheetNumber(d.look.SheetNum)
	}
	return d.look.Sheet
}

// purposesKept is how many codes of a list of purposes a draft may choose from.
const purposesKept = 200

func draftFile(ctx context.Context, path, rel string, opt DraftOptions) ([]*draft, error) {
	if err := refusePackaged(path, rel); err != nil {
		return nil, err
	}
	book, err := open.File(ctx, path, source.Options{Charset: opt.Charset, Delimiter: opt.Delimiter, Password: password()})
	if err != nil {
		return nil, unnamed(err, path, rel)
	}
	defer book.Close()
	st, err := os.Stat(path)
	if err != nil {
		return nil, &FileError{Path: rel, Message: "can't be read: " + pathless(err), Remedy: "check the path", Err: err}
	}
	var list []*draft
	for i, sheet := range book.Sheets() {
		d := &draft{file: rel, base: filepath.Base(path), described: rel, text: book.Info().Format == "csv", changed: st.ModTime().UTC().Truncate(time.Second)}
		if err := d.read(ctx, book, i, sheet.Name); err != nil {
			return nil, unnamed(err, path, rel)
		}
		if base := filepath.Base(rel); fileNumber.MatchString(base) {
			d.described = "file " + base[1:]
		}
		if d.look == nil {
			continue // an empty sheet has nothing to map
		}
		d.found = presets.Find(d.look)
		if d.found == nil {
			d.entity, _ = d.look.Entity()
		}
		list = append(list, d)
	}
	for i, d := range list {
		label, described := "", ""
		if !d.text {
			label, described = d.look.Sheet, fmt.Sprintf(", sheet %q", d.look.Sheet)
			if mappings.LooksPersonal(d.look.Sheet) {
				label, described = "sheet-"+strconv.Itoa(i+1), fmt.Sprintf(", sheet %d", d.look.SheetNum)
			}
		}
		d.described += described
		d.name = fileSlug(rel)
		if label != "" && len(list) > 1 {
			d.name = slug(d.name + "-" + label)
		}
	}
	return list, nil
}

// read looks at one sheet from its header to its end.
func (d *draft) read(ctx context.Context, book source.Book, i int, name string) error {
	rd, err := book.Read(ctx, i)
	if err != nil {
		return err
	}
	defer rd.Close()
	var rows [][2]string
	code, label := -1, -1
	for {
		b, err := rd.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return err
		}
		if d.look == nil {
			prof := newSheetProfile()
			prof.start(b, nil)
			if d.text {
				name = ""
			}
			d.look = suggest.NewLook(d.base, name, i+1, prof.headerRow, prof.header)
			// The longest row of texts is no header where another of the top rows is that of a known export.
			for top := 0; top < min(b.Rows(), headerSearch) && presets.Find(d.look) == nil; top++ {
				if l := suggest.NewLook(d.base, name, i+1, b.RowNum[top], mappings.HeaderNames(b, top)); presets.Find(l) != nil {
					d.look = l
				}
			}
			if presets.Find(d.look) == nil {
				d.headless(b, i, name)
			}
			code, label, _ = d.look.PurposeRows()
		}
		d.look.Add(b)
		for r := 0; r < b.Rows() && len(rows) < purposesKept; r++ {
			if b.RowNum[r] > d.look.HeaderRow && b.RowNum[r] >= d.look.FirstRow {
				rows = append(rows, [2]string{cellText(b, code, r), cellText(b, label, r)})
			}
		}
	}
	if d.look == nil {
		return nil
	}
	marks := source.MarksOf(ctx, rd)
	rd.Close()
	lists := listReader{book: book}
	for n := range marks.Lists {
		l := &marks.Lists[n]
		values, ok, err := lists.values(ctx, i, l)
		if err != nil {
			return err
		}
		for _, at := range l.Ranges {
			// A list for whole rows is a slip of the mouse, and says nothing of a column.
			for col := at.FirstCol; ok && col <= at.LastCol && at.LastCol-at.FirstCol < 16; col++ {
				if at.LastRow > d.look.HeaderRow && d.look.Of(col) != nil {
					d.look.Allow(col, values)
				}
			}
		}
	}
	if _, _, is := d.look.PurposeRows(); is {
		for _, r := range rows {
			// Codes and names of purposes may be shown; what looks like a value about a person may not.
			if r[0] != "" && finding.Quote(r[0]) {
				p := suggest.Purpose{Code: r[0]}
				if p.Name = r[0]; finding.Quote(r[1]) {
					p.Name = r[1]
				}
				d.purposes = append(d.purposes, p)
			}
		}
	}
	return nil
}

// headless looks for the header again where the row that was taken for it holds values: a list without a header would lose its first row.
func (d *draft) headless(b *source.Block, i int, name string) {
	var rows [][]string
	taken := -1
	for top := range min(b.Rows(), headerSearch) {
		if b.RowNum[top] == d.look.HeaderRow {
			taken = top
		}
		rows = append(rows, mappings.HeaderNames(b, top))
	}
	first, header, none := suggest.FirstOfList(rows, taken)
	switch {
	case none:
		d.look = suggest.NewLook(d.base, name, i+1, 0, make([]string, len(rows[first])))
		if slices.ContainsFunc(rows[:first], func(cells []string) bool {
			return slices.ContainsFunc(cells, func(cell string) bool { return cell != "" })
		}) {
			d.look.FirstRow = b.RowNum[first]
		}
	case header >= 0 && header != taken:
		d.look = suggest.NewLook(d.base, name, i+1, b.RowNum[header], rows[header])
	}
}

func cellText(b *source.Block, col, i int) string {
	return strings.TrimSpace(string(b.Bytes(b.Cell(col, i))))
}

// refusePackaged says what to do with exports that are archives or JSON: nothing in them is a sheet.
func refusePackaged(path, rel string) error {
	f, err := manifests.OpenRegular(path)
	if err != nil {
		return nil // opening it as a book says what is wrong
	}
	defer f.Close()
	head := make([]byte, 512)
	n, _ := io.ReadFull(f, head)
	if !looksJSON.Match(head[:n]) {
		return nil
	}
	return &ConfigError{File: rel, Message: "is JSON, which is no sheet", Remedy: "export as CSV or as a workbook instead; if the system gives JSON only, turn each record into a row first, one column a key"}
}

var looksJSON = regexp.MustCompile(`^\x{FEFF}?\s*(?:\[\s*[\[{]|\{\s*"[^"\n]*"\s*:)`)

var longDigits = regexp.MustCompile(`\d{7,}`)

// fileSlug names a source after its file, without what looks like a value about a person.
func fileSlug(rel string) string {
	base := strings.TrimSuffix(filepath.Base(rel), filepath.Ext(rel))
	if fileNumber.MatchString(base) {
		return "file-" + base[1:]
	}
	if strings.ContainsAny(base, "@＠") {
		return "source"
	}
	return slug(longDigits.ReplaceAllString(base, " "))
}

// slug makes a source name of any text.
func slug(s string) string {
	var b strings.Builder
	for _, r := range strings.ToLower(s) {
		switch {
		case r < unicode.MaxASCII && (unicode.IsLetter(r) || unicode.IsDigit(r)):
			b.WriteRune(r)
		case b.Len() > 0 && !strings.HasSuffix(b.String(), "-"):
			b.WriteByte('-')
		}
	}
	out := strings.Trim(b.String(), "-")
	if out == "" {
		return "source"
	}
	return out[:min(len(out), 50)]
}
