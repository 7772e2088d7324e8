package source

// Limits hold against hostile files, before memory is spent. A zero field takes the default of DefaultLimits.
type Limits struct {
	FileBytes   int64 // size of the file itself
	PartBytes   int64 // decompressed size of one zip part
	TotalBytes  int64 // decompressed size of all parts, as the zip directory declares them
	Ratio       int64 // decompressed to compressed size of one part, above 1 MiB decompressed
	Parts       int   // entries of the zip directory
	StringBytes int64 // decoded shared strings
	Strings     int   // shared strings
	Columns     int   // columns of a sheet, fields of a text record
	Rows        int   // rows of a sheet; records of a text file are not bound by it
	Cells       int64 // non-empty cells of a sheet
	CellBytes   int   // length of one cell's text
	XMLDepth    int
	RecordBytes int // length of one record of a text file, of one cell element of a workbook
}

const (
	mib = 1 << 20
	gib = 1 << 30
)

// DefaultLimits are the limits of an Options whose fields are zero. Rows and Columns are what a worksheet can hold
// (ECMA-376 part 1, 18.3.1.73 and the grid of Excel 2007); the others leave room for ten times a sheet of a million rows.
func DefaultLimits() Limits {
	return Limits{
		FileBytes:   4 * gib,
		PartBytes:   8 * gib,
		TotalBytes:  64 * gib,
		Ratio:       400,
		Parts:       20_000,
		StringBytes: 2 * gib,
		Strings:     100_000_000,
		Columns:     16_384,
		Rows:        1_048_576,
		Cells:       1 << 34,
		CellBytes:   16 * mib,
		XMLDepth:    64,
		RecordBytes: 64 * mib,
	}
}

// WithDefaults fills the zero fields of l.
func (l Limits) WithDefaults() Limits {
	d := DefaultLimits()
	fill(&l.FileBytes, d.FileBytes)
	fill(&l.PartBytes, d.PartBytes)
	fill(&l.TotalBytes, d.TotalBytes)
	fill(&l.Ratio, d.Ratio)
	fill(&l.Parts, d.Parts)
	fill(&l.StringBytes, d.StringBytes)
	fill(&l.Strings, d.Strings)
	fill(&l.Columns, d.Columns)
	fill(&l.Rows, d.Rows)
	fill(&l.Cells, d.Cells)
	fill(&l.CellBytes, d.CellBytes)
	fill(&l.XMLDepth, d.XMLDepth)
	fill(&l.RecordBytes, d.RecordBytes)
	return l
}

func fill[T int | int64](v *T, d T) {
	if *v <= 0 {
		*v = d
	}
}
