package source

// Limits hold against hostile files, before memory is spent. A zero field takes the default of DefaultLimits.
type Limits struct {
	FileBytes   int64 // size of the file itself
	PartBytes   int64 // decompressed size of one zip part
	TotalBytes  int64 // decompressed size of all parts that are read
	Ratio       int64 // decompressed to compressed size of one part, above 1 MiB decompressed
	Parts       int   // entries of the zip directory
	StringBytes int64 // decoded shared strings
	Strings     int   // shared strings
	Columns     int   // columns of a sheet
	Rows        int   // rows of a sheet
	Cells       int64 // non-empty cells of a sheet
	CellBytes   int   // length of one cell's text
	XMLDepth    int
	RecordBytes int // length of one record of a text file
}
