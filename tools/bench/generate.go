package main

import (
	"archive/zip"
	"bufio"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/klauspost/compress/flate"
)

// workload says what to generate. The content of a row depends on its sheet, its number and how often a row is wrong.
type workload struct {
	rows, sheets int
	every        int // one row in so many is wrong; each fault is told by its own rule
	each         int // so many rows are of one person
	samples      string
}

func (w *workload) flags(f *flag.FlagSet) {
	f.IntVar(&w.rows, "rows", 300_000, "rows of a sheet, without header")
	f.IntVar(&w.sheets, "sheets", 1, "sheets of a workbook")
	f.IntVar(&w.every, "every", faultEvery, "one row in so many is wrong")
	f.IntVar(&w.each, "each", 1, "so many rows are of one person, with telephone numbers as they are written at home; then only the workbook of the dry-run is made")
	f.StringVar(&w.samples, "samples", "samples/bench", "`folder` of the batch")
}

// The files of a workload.
const (
	sharedFile = "shared.xlsx" // text as shared strings, as spreadsheet programs write it
	inlineFile = "inline.xlsx" // text inside the cells, as many exports write it
	csvFile    = "register.csv"
	batchFile  = "batch.yaml" // a batch that holds shared.xlsx
	eachFolder = "each"       // the same of a register in which a person has several rows
)

// consentRecord is a row: what a marketing consent register of some age holds. None of it belongs to anybody.
type consentRecord struct {
	fields [len(columns)]string
	when   int64 // seconds since 1970, of column whenColumn
}

var columns = [...]string{"record_id", "full_name", "email", "mobile", "purpose", "channel", "answer", "answered_at", "collected_by", "notice", "entered_by", "note"}

const whenColumn = 7

var (
	givenNames = strings.Fields("Anil Beatriz Chiara Dmitri Élodie Farid Greta Hana Imran Jūratė Kofi Leïla Mateo Ngozi Oskar Pooja Quentin Rukmini Sunil Tomáš Uma Viktor Wanjiru Xavier Yara Zdeněk")
	surnames   = strings.Fields("Abreu Bhatt Ćosić Deshpande Eriksen Fontaine Ghosh Hernández Ishikawa Joshi Kulkarni Lindqvist Menon Nowak Ogunleye Pillai Quintero Rao Sørensen Türk Ueda Verma Wójcik Ximenes Yadav Zhang")
	purposes   = strings.Fields("newsletter offers_by_sms product_updates profiling partners surveys loan_service onboarding")
	channels   = strings.Fields("web branch call_centre app paper whatsapp")
	collectors = strings.Fields("crm_export branch_ledger access_db web_form partner_feed")
	notices    = strings.Fields("1.0 1.1 2.0 2.2 3.0 3.1")
	clerks     = strings.Fields("system meera.k j.rao t.banerjee import-job privacy.office n.dutta s.khan")
	mailHosts  = strings.Fields("example.com example.org mail.example.net post.example.in")
	notes      = []string{"Renewed on the phone, call back after six", "Case %d: withdrew & agreed again <verbally>", "फ़ॉर्म संख्या %d संलग्न", "Paper form in box %d", `Said "no more texts", case %d`, "同意書 %d 確認済", "waiting for the guardian’s signature (%d)", "same as row %d ✓"}
)

// record gives row i of a sheet, from 1.
func (w *workload) record(sheet, i int) (r consentRecord) {
	rnd := rand.New(rand.NewPCG(uint64(sheet), uint64(i)))
	pick := func(from []string) string { return from[rnd.IntN(len(from))] }
	id := sheet*10_000_000 + i
	r.fields = [...]string{
		fmt.Sprintf("REG-%08d", id),
		pick(givenNames) + " " + pick(surnames),
		fmt.Sprintf("person%d.%c@%s", id*7+rnd.IntN(7), 'a'+rnd.IntN(26), pick(mailHosts)), // no two rows have one subject
		"+91 " + mobile(id),
		pick(purposes), pick(channels), "Y", "", pick(collectors), "v" + pick(notices), pick(clerks), "",
	}
	if w.each > 1 {
		person := id / w.each
		r.fields[2], r.fields[3] = fmt.Sprintf("person%d@%s", person, mailHosts[person%len(mailHosts)]), mobile(person)
	}
	if rnd.IntN(5) == 0 {
		r.fields[6] = "N"
	}
	if rnd.IntN(3) == 0 {
		r.fields[11] = pick(notes)
		if strings.Contains(r.fields[11], "%d") {
			r.fields[11] = fmt.Sprintf(r.fields[11], rnd.IntN(100_000))
		}
	}
	r.when = time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC).Unix() + rnd.Int64N(5*365*86_400)
	if f := w.faultOf(i); f != nil {
		f.plant(&r)
	}
	return r
}

// mobile is a telephone number that nobody else has.
func mobile(id int) string { return fmt.Sprintf("9%09d", id*387_420_489%1_000_000_000) }

// fault is a way in which a row is wrong.
type fault struct {
	rule  string // that rejects it
	plant func(*consentRecord)
}

// faultEvery is how often a row is wrong unless another share is asked for.
const faultEvery = 400

var faults = [...]fault{
	{"email.invalid", func(r *consentRecord) { r.fields[2] = strings.Replace(r.fields[2], "@", " at ", 1) }},
	{"phone.zeros_lost", func(r *consentRecord) { r.fields[3] = "9.19877E+11" }},
	{"enum.unmapped", func(r *consentRecord) { r.fields[6] = "maybe" }},
	{"ref.not_found", func(r *consentRecord) { r.fields[4] = "newsleter" }},
	{"key.incomplete", func(r *consentRecord) { r.fields[0] = "" }},
	{"value.padded", func(r *consentRecord) { r.fields[2] += " " }},
	{"enum.unmapped", func(r *consentRecord) { r.fields[5] = "carrier pigeon" }},
	{"ref.not_found", func(r *consentRecord) { r.fields[9] = "v9.9" }},
	{"phone.invalid", func(r *consentRecord) { r.fields[3] = "+91 12" }},
	{"value.invisible", func(r *consentRecord) { r.fields[2] = strings.Replace(r.fields[2], ".", "\u200b.", 1) }},
}

// faultOf gives what is wrong with row i of a sheet; nil if nothing is.
func (w *workload) faultOf(i int) *fault {
	if i%w.every != 0 {
		return nil
	}
	return &faults[i/w.every%len(faults)]
}

// rejected counts the rows of a sheet that are wrong, by the rule that says so.
func (w *workload) rejected() map[string]int {
	n := map[string]int{}
	for i := w.every; i <= w.rows; i += w.every {
		n[w.faultOf(i).rule]++
	}
	return n
}

// write makes the files of the workload in dir.
func (w workload) write(dir string) error {
	if w.rows < 1 || w.rows > 1_048_575 || w.sheets < 1 || w.every < 1 || w.each < 1 {
		return errors.New("a sheet has 1 to 1,048,575 rows below its header, a workbook at least one sheet; -every and -each are at least 1")
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	err := errors.Join(w.copyBatch(dir), create(filepath.Join(dir, sharedFile), func(out io.Writer) error { return w.workbook(out, false) }))
	if err != nil || w.each > 1 {
		return err
	}
	return errors.Join(
		create(filepath.Join(dir, inlineFile), func(out io.Writer) error { return w.workbook(out, true) }),
		create(filepath.Join(dir, csvFile), w.csv),
	)
}

// copyBatch copies the batch of the samples: configuration, mappings, and the purposes and notices that the rows point to.
func (w *workload) copyBatch(dir string) error {
	files, err := os.ReadDir(w.samples)
	if err != nil {
		return err
	}
	for _, f := range files {
		raw, err := os.ReadFile(filepath.Join(w.samples, f.Name()))
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, f.Name()), raw, 0o644)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func create(path string, write func(io.Writer) error) (err error) {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	w := bufio.NewWriterSize(f, 1<<20)
	if err := write(w); err != nil {
		return err
	}
	return w.Flush()
}

const (
	relationships = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
	spreadsheetml = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
	contentType   = "application/vnd.openxmlformats-officedocument.spreadsheetml."
	declaration   = `<?xml version="1.0" encoding="UTF-8" standalone="yes"?>` + "\n"
)

// workbook writes the parts that a spreadsheet program would.
func (w workload) workbook(out io.Writer, inline bool) error {
	z := zip.NewWriter(out)
	z.RegisterCompressor(zip.Deflate, func(w io.Writer) (io.WriteCloser, error) { return flate.NewWriter(w, 6) })
	var types, rels, list strings.Builder
	part := func(name, kind, id string) {
		fmt.Fprintf(&types, `<Override PartName="/xl/%s" ContentType="%s%s+xml"/>`, name, contentType, kind)
		fmt.Fprintf(&rels, `<Relationship Id="%s" Type="%s/%s" Target="%s"/>`, id, relationships, kind, name)
	}
	for s := 1; s <= w.sheets; s++ {
		part(fmt.Sprintf("worksheets/sheet%d.xml", s), "worksheet", fmt.Sprintf("rId%d", s))
		fmt.Fprintf(&list, `<sheet name="Register %d" sheetId="%d" r:id="rId%d"/>`, s, s, s)
	}
	part("styles.xml", "styles", "rIdStyles")
	if !inline {
		part("sharedStrings.xml", "sharedStrings", "rIdStrings")
	}
	put := func(name, body string) error {
		f, err := z.Create(name)
		if err == nil {
			_, err = io.WriteString(f, declaration+body)
		}
		return err
	}
	err := errors.Join(
		put("[Content_Types].xml", `<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Default Extension="xml" ContentType="application/xml"/><Override PartName="/xl/workbook.xml" ContentType="`+contentType+`sheet.main+xml"/>`+types.String()+`</Types>`),
		put("_rels/.rels", `<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="rId1" Type="`+relationships+`/officeDocument" Target="xl/workbook.xml"/></Relationships>`),
		put("xl/workbook.xml", `<workbook xmlns="`+spreadsheetml+`" xmlns:r="`+relationships+`"><sheets>`+list.String()+`</sheets></workbook>`),
		put("xl/_rels/workbook.xml.rels", `<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">`+rels.String()+`</Relationships>`),
		put("xl/styles.xml", `<styleSheet xmlns="`+spreadsheetml+`"><numFmts count="1"><numFmt numFmtId="170" formatCode="yyyy\-mm\-dd\ hh:mm:ss"/></numFmts><fonts count="1"><font><sz val="11"/><name val="Calibri"/></font></fonts><fills count="1"><fill><patternFill patternType="none"/></fill></fills><borders count="1"><border/></borders><cellXfs count="2"><xf numFmtId="0" fontId="0" fillId="0" borderId="0"/><xf numFmtId="170" fontId="0" fillId="0" borderId="0" applyNumberFormat="1"/></cellXfs></styleSheet>`),
	)
	if err != nil {
		return err
	}
	words := &sharedStrings{index: map[string]int{}}
	if inline {
		words = nil
	}
	for s := 1; s <= w.sheets; s++ {
		f, err := z.Create(fmt.Sprintf("xl/worksheets/sheet%d.xml", s))
		if err == nil {
			err = w.sheet(f, s, words)
		}
		if err != nil {
			return err
		}
	}
	if words != nil {
		f, err := z.Create("xl/sharedStrings.xml")
		if err == nil {
			err = words.write(f)
		}
		if err != nil {
			return err
		}
	}
	return z.Close()
}

// sharedStrings numbers texts in the order in which they come.
type sharedStrings struct {
	index map[string]int
	texts []string
	used  int
}

func (s *sharedStrings) of(text string) int {
	s.used++
	i, known := s.index[text]
	if !known {
		i = len(s.texts)
		s.index[text] = i
		s.texts = append(s.texts, text)
	}
	return i
}

func (s *sharedStrings) write(out io.Writer) error {
	w := bufio.NewWriterSize(out, 1<<20)
	fmt.Fprintf(w, `%s<sst xmlns="%s" count="%d" uniqueCount="%d">`, declaration, spreadsheetml, s.used, len(s.texts))
	for _, t := range s.texts {
		w.WriteString("<si><t>")
		escapeXML.WriteString(w, t)
		w.WriteString("</t></si>")
	}
	w.WriteString("</sst>")
	return w.Flush() // tells of every failed write before
}

var escapeXML = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;")

// sheet writes a sheet; with words its text goes there.
func (w workload) sheet(out io.Writer, sheet int, words *sharedStrings) error {
	b := bufio.NewWriterSize(out, 1<<20)
	fmt.Fprintf(b, `%s<worksheet xmlns="%s" xmlns:r="%s" xmlns:x14ac="http://schemas.microsoft.com/office/spreadsheetml/2009/9/ac"><dimension ref="A1:L%d"/><sheetViews><sheetView workbookViewId="0"/></sheetViews><sheetFormatPr defaultRowHeight="15" x14ac:dyDescent="0.25"/><sheetData>`, declaration, spreadsheetml, relationships, w.rows+1)
	var digits [32]byte
	for i := 0; i <= w.rows; i++ {
		r := consentRecord{fields: columns}
		if i > 0 {
			r = w.record(sheet, i)
		}
		number := strconv.Itoa(i + 1)
		b.WriteString(`<row r="` + number + `" spans="1:12" x14ac:dyDescent="0.25">`)
		for col, text := range r.fields {
			ref := `<c r="` + string(rune('A'+col)) + number
			switch {
			case i > 0 && col == whenColumn:
				b.WriteString(ref + `" s="1"><v>`)
				b.Write(strconv.AppendFloat(digits[:0], float64(r.when)/86_400+25_569, 'g', 16, 64))
				b.WriteString("</v></c>")
			case text == "":
			case words == nil:
				b.WriteString(ref + `" t="inlineStr"><is><t>`)
				escapeXML.WriteString(b, text)
				b.WriteString("</t></is></c>")
			default:
				b.WriteString(ref + `" t="s"><v>`)
				b.Write(strconv.AppendInt(digits[:0], int64(words.of(text)), 10))
				b.WriteString("</v></c>")
			}
		}
		b.WriteString("</row>")
	}
	b.WriteString(`</sheetData><pageMargins left="0.7" right="0.7" top="0.75" bottom="0.75" header="0.3" footer="0.3"/></worksheet>`)
	return b.Flush()
}

// csv writes the rows of all sheets one after the other.
func (w workload) csv(out io.Writer) error {
	b := bufio.NewWriterSize(out, 1<<20)
	line := func(fields [len(columns)]string) {
		for i, f := range fields {
			if i > 0 {
				b.WriteByte(',')
			}
			if strings.ContainsAny(f, ",\"\n") {
				f = `"` + strings.ReplaceAll(f, `"`, `""`) + `"`
			}
			b.WriteString(f)
		}
		b.WriteByte('\n')
	}
	line(columns)
	for s := 1; s <= w.sheets; s++ {
		for i := 1; i <= w.rows; i++ {
			r := w.record(s, i)
			r.fields[whenColumn] = time.Unix(r.when, 0).UTC().Format(time.DateTime)
			line(r.fields)
		}
	}
	return b.Flush()
}
