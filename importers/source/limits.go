package source

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
)

// Limits hold against hostile files, before memory is spent. A zero field takes the default of DefaultLimits. batch.yaml may set
// them under limits.
type Limits struct {
	FileBytes   int64 `yaml:"file_bytes" json:"file_bytes,omitempty"`     // size of the file itself
	PartBytes   int64 `yaml:"part_bytes" json:"part_bytes,omitempty"`     // decompressed size of one zip part
	TotalBytes  int64 `yaml:"total_bytes" json:"total_bytes,omitempty"`   // decompressed size of all parts, as the zip directory declares them
	Ratio       int64 `yaml:"ratio" json:"ratio,omitempty"`               // decompressed to compressed size of one part, above 1 MiB decompressed
	Parts       int   `yaml:"parts" json:"parts,omitempty"`               // entries of the zip directory
	StringBytes int64 `yaml:"string_bytes" json:"string_bytes,omitempty"` // decoded shared strings
	Strings     int   `yaml:"strings" json:"strings,omitempty"`           // shared strings
	Columns     int   `yaml:"columns" json:"columns,omitempty"`           // columns of a sheet, fields of a text record
	Rows        int   `yaml:"rows" json:"rows,omitempty"`                 // rows of a sheet; records of a text file are not bound by it
	Cells       int64 `yaml:"cells" json:"cells,omitempty"`               // non-empty cells of a sheet
	CellBytes   int   `yaml:"cell_bytes" json:"cell_bytes,omitempty"`     // length of one cell's text
	XMLDepth    int   `yaml:"xml_depth" json:"xml_depth,omitempty"`
	RecordBytes int   `yaml:"record_bytes" json:"record_bytes,omitempty"` // length of one record of a text file; of one XML element of a workbook that does not fit the read buffer of 64 KiB
	// ConversionSeconds is how long LibreOffice may take for a file in a format that it converts.
	ConversionSeconds int `yaml:"conversion_seconds" json:"conversion_seconds,omitempty"`
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

		ConversionSeconds: 60,
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
	fill(&l.ConversionSeconds, d.ConversionSeconds)
	return l
}

func fill[T int | int64](v *T, d T) {
	if *v <= 0 {
		*v = d
	}
}

// fields names the limits as messages, batch.yaml and --limit do.
func (l *Limits) fields() map[string]any {
	return map[string]any{
		"file_bytes": &l.FileBytes, "part_bytes": &l.PartBytes, "total_bytes": &l.TotalBytes, "ratio": &l.Ratio, "parts": &l.Parts,
		"string_bytes": &l.StringBytes, "strings": &l.Strings, "columns": &l.Columns, "rows": &l.Rows, "cells": &l.Cells,
		"cell_bytes": &l.CellBytes, "xml_depth": &l.XMLDepth, "record_bytes": &l.RecordBytes,
		"conversion_seconds": &l.ConversionSeconds,
	}
}

// Names lists the names of the limits.
func (l Limits) Names() []string { return slices.Sorted(maps.Keys(l.fields())) }

// Set sets the limit of this name.
func (l *Limits) Set(name string, value int64) error {
	if value < 1 {
		return fmt.Errorf("limit %s: %d is not above zero", name, value)
	}
	switch f := l.fields()[name].(type) {
	case *int64:
		*f = value
	case *int:
		if value > math.MaxInt {
			return fmt.Errorf("limit %s: %d is too large", name, value)
		}
		*f = int(value)
	default:
		return fmt.Errorf("there is no limit %q; the limits are %s", name, strings.Join(l.Names(), ", "))
	}
	return nil
}
