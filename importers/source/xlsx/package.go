package xlsx

import (
	"context"
	"io"
	"strings"

	"sheetlift/importers/source"
)

// Package is the package of a workbook whose own parts are binary: package xlsb reads those, and has what it shares with
// other workbooks read here. Its zip directory has been checked, and limits hold as they do for this package's workbooks.
type Package struct{ a *archive }

// Relation is a relationship to a part of the package.
type Relation struct {
	ID   string
	Kind string // last segment of its type, such as worksheet
	Name string // of the part, for messages
	Part int    // -1 when the package has no such part
}

// binaryWorkbook is the content type of a binary workbook.
const binaryWorkbook = "application/vnd.ms-excel.sheet.binary"

// OpenPackage opens a package and finds its binary workbook; source.ErrUnsupported says that it has none.
func OpenPackage(ctx context.Context, name string, r io.ReaderAt, size int64, opt source.Options) (p *Package, workbook int, err error) {
	a, err := openArchive(name, r, size, opt.Limits.WithDefaults())
	if err != nil {
		return nil, -1, err
	}
	a.parts = opt.Parts
	types, err := a.contentTypes(ctx)
	if err != nil {
		return nil, -1, err
	}
	rels, err := a.relations(ctx, "")
	if err != nil {
		return nil, -1, err
	}
	for _, r := range rels {
		// The type is left out, or given to all parts that end in .bin, by some producers.
		if r.kind == "officeDocument" && r.part >= 0 && (strings.HasPrefix(types.of(&a.entries[r.part]), binaryWorkbook) || strings.HasSuffix(fold(r.name), ".bin")) {
			return &Package{a}, r.part, nil
		}
	}
	if i := a.find("xl/workbook.bin"); i >= 0 {
		return &Package{a}, i, nil
	}
	return nil, -1, a.notWorkbook()
}

// Name of a part.
func (p *Package) Name(part int) string { return p.a.entries[part].name }

// Size of a part, as the zip directory declares it.
func (p *Package) Size(part int) int64 { return p.a.entries[part].size }

// Relations of a part.
func (p *Package) Relations(ctx context.Context, part int) ([]Relation, error) {
	rels, err := p.a.relations(ctx, p.Name(part))
	out := make([]Relation, len(rels))
	for i, r := range rels {
		out[i] = Relation{ID: r.id, Kind: r.kind, Name: r.name, Part: r.part}
	}
	return out, err
}

// Claim checks what the zip directory declares of a part, before it is opened.
func (p *Package) Claim(part int) error { return p.a.claim(part) }

// Open gives the decompressed bytes of a part. Its last Read says whether they are what the zip directory declares.
func (p *Package) Open(part int) (io.Reader, error) { return p.a.raw(part) }

// SavedBy is the program that the package says it was saved by.
func (p *Package) SavedBy(ctx context.Context) string {
	name, _ := p.a.application(ctx)
	return name
}
