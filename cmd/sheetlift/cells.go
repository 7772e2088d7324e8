package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"math/bits"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"sheetlift/importers/source"
	"sheetlift/importers/source/open"
)

// cellsOptions are the flags of cells.
type cellsOptions struct {
	sheet, charset, delimiter string
	passwordFile, output      string
	count                     bool
	limits                    []string
}

func newCells(std stdio) *cobra.Command {
	var o cellsOptions
	cmd := &cobra.Command{
		Use:   "cells FILE",
		Short: "Print every non-empty cell of a workbook or text file",
		Long: `Print every non-empty cell of a workbook or text file, one a line, tab-separated:
sheet, A1 reference, kind (text, number, bool, error), value, class of the number format.

Tabs, line ends and backslashes in text are written \t \n \r \\. Numbers are in shortest decimal form; integers of more
than 15 digits stand as stored. In a text file every field is text and the row is the record's number, blank lines counted.

This is the one command that prints values. It judges nothing: the exit code is 0 when every cell was printed. With --count
it prints no values, but per sheet the rows, the cells by kind, and a digest of all cells in their order.

The password of an encrypted workbook is read from the environment variable SHEETLIFT_PASSWORD or from --password-file.`,
		Args: func(cmd *cobra.Command, args []string) error {
			if err := cobra.ExactArgs(1)(cmd, args); err != nil {
				return usageError{err}
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			return runCells(cmd.Context(), std, args[0], o)
		},
	}
	f := cmd.Flags()
	f.StringVar(&o.sheet, "sheet", "", "only the sheet of this `name`")
	f.StringVar(&o.charset, "charset", "", "charset of a text file: utf-8, utf-16le, utf-16be, windows-1252 (default: utf-8, or what a byte order mark says); of an old workbook (.xls) that names no code page: any")
	f.StringVar(&o.delimiter, "delimiter", "", "delimiter of a text file: one of , ; | tab (default: found by evidence)")
	f.BoolVar(&o.count, "count", false, "print counts and a digest per sheet instead of cells")
	f.StringVar(&o.passwordFile, "password-file", "", "`file` whose first line is the password of an encrypted workbook")
	f.StringArrayVar(&o.limits, "limit", nil, "raise or lower a limit against hostile files, `name=value`, repeatable: "+strings.Join(source.Limits{}.Names(), ", "))
	f.StringVar(&o.output, "output", "text", "text or json (one object a line)")
	return cmd
}

func runCells(ctx context.Context, std stdio, path string, o cellsOptions) (err error) {
	if o.output != "text" && o.output != "json" {
		return usageError{fmt.Errorf("--output %q: say text or json", o.output)}
	}
	password, err := readPassword(o.passwordFile)
	if err != nil {
		return usageError{err}
	}
	limits, err := parseLimits(o.limits)
	if err != nil {
		return usageError{err}
	}
	book, err := open.File(ctx, path, source.Options{Charset: o.charset, Delimiter: o.delimiter, Password: password, Limits: limits})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, book.Close()) }()
	sheets := book.Sheets()
	if o.sheet != "" && !slices.ContainsFunc(sheets, func(s source.SheetInfo) bool { return s.Name == o.sheet }) {
		return usageError{fmt.Errorf("%s: it has no sheet %q; its sheets are %s", path, o.sheet, quoteNames(sheets))}
	}
	w := bufio.NewWriterSize(std.out, 256<<10)
	if o.count && o.output == "text" {
		fmt.Fprintln(w, "sheet\trows\ttext\tnumber\tbool\terror\tdigest")
	}
	for i, s := range sheets {
		if o.sheet != "" && s.Name != o.sheet {
			continue
		}
		if err = readSheet(ctx, book, i, cellVisitor(w, s.Name, o)); err != nil {
			break
		}
	}
	// What was read before a fault is printed; the exit code says that it is not all.
	return flushed(w, err)
}

// parseLimits reads name=value pairs.
func parseLimits(pairs []string) (l source.Limits, err error) {
	for _, p := range pairs {
		name, value, ok := strings.Cut(p, "=")
		n, numErr := strconv.ParseInt(value, 10, 64)
		if !ok || numErr != nil {
			return l, fmt.Errorf("--limit %q: say name=value, such as ratio=2000", p)
		}
		if err := l.Set(name, n); err != nil {
			return l, fmt.Errorf("--limit: %w", err)
		}
	}
	return l, nil
}

// readPassword takes the password from a file, else from the environment; never from an argument, which others can see.
func readPassword(file string) (string, error) {
	if file == "" {
		return os.Getenv("SHEETLIFT_PASSWORD"), nil
	}
	raw, err := os.ReadFile(file)
	if err != nil {
		return "", fmt.Errorf("read --password-file: %w", err)
	}
	line, _, _ := strings.Cut(string(raw), "\n")
	return strings.TrimSuffix(line, "\r"), nil
}

func quoteNames(sheets []source.SheetInfo) string {
	var names []string
	for _, s := range sheets {
		names = append(names, strconv.Quote(s.Name))
	}
	return strings.Join(names, ", ")
}

// visitor takes the blocks of one sheet, and is told when the sheet has ended.
type visitor struct {
	block func(b *source.Block) error
	end   func(f source.Facts) error
}

func readSheet(ctx context.Context, book source.Book, i int, v visitor) error {
	r, err := book.Read(ctx, i)
	if err != nil {
		return err
	}
	defer r.Close()
	for {
		b, err := r.Next()
		if errors.Is(err, io.EOF) {
			return v.end(r.Facts())
		}
		if err != nil {
			return err
		}
		if err := v.block(b); err != nil {
			return err
		}
	}
}

func cellVisitor(w *bufio.Writer, sheet string, o cellsOptions) visitor {
	switch {
	case o.count:
		return countVisitor(w, sheet, o.output)
	case o.output == "json":
		return jsonVisitor(w, sheet)
	}
	return textVisitor(w, sheet)
}

func textVisitor(w *bufio.Writer, sheet string) visitor {
	name := string(appendEscaped(nil, []byte(sheet)))
	var line []byte
	return visitor{
		block: func(b *source.Block) error {
			for i, row := range b.RowNum {
				for _, col := range b.Used {
					c := b.Cols[col][i]
					if c.Kind == source.Empty {
						continue
					}
					line = append(append(line[:0], name...), '\t')
					line = append(line, source.Letters(col)...)
					line = append(strconv.AppendInt(line, int64(row), 10), '\t')
					line = append(append(line, c.Kind.String()...), '\t')
					if v := b.Bytes(c); c.Kind == source.Number {
						line = appendNumber(line, v)
					} else {
						line = appendEscaped(line, v)
					}
					line = append(append(append(line, '\t'), c.Class.String()...), '\n')
					if _, err := w.Write(line); err != nil {
						return err
					}
				}
			}
			return nil
		},
		end: func(source.Facts) error { return nil },
	}
}

func jsonVisitor(w *bufio.Writer, sheet string) visitor {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	type cell struct {
		Sheet string `json:"sheet"`
		Ref   string `json:"ref"`
		Kind  string `json:"kind"`
		Value string `json:"value"`
		Class string `json:"class"`
	}
	return visitor{
		block: func(b *source.Block) error {
			for i, row := range b.RowNum {
				for _, col := range b.Used {
					c := b.Cols[col][i]
					if c.Kind == source.Empty {
						continue
					}
					v := b.Bytes(c)
					if c.Kind == source.Number {
						v = appendNumber(nil, v)
					}
					if err := enc.Encode(cell{sheet, source.Ref(col, row), c.Kind.String(), string(v), c.Class.String()}); err != nil {
						return err
					}
				}
			}
			return nil
		},
		end: func(source.Facts) error { return nil },
	}
}

func countVisitor(w *bufio.Writer, sheet, output string) visitor {
	var kinds [5]int
	var digest cellDigest
	var columns [][]source.Cell // those that have cells in the block
	return visitor{
		block: func(b *source.Block) error {
			columns = columns[:0]
			for _, col := range b.Used {
				columns = append(columns, b.Cols[col])
			}
			for i, row := range b.RowNum {
				place := digest.place(row)
				for k, cells := range columns {
					c := &cells[i]
					if c.Kind == source.Empty {
						continue
					}
					kinds[c.Kind]++
					digest.add(place, b.Used[k], c, b.Bytes(*c))
				}
			}
			return nil
		},
		end: func(f source.Facts) error {
			if output == "json" {
				return json.NewEncoder(w).Encode(struct {
					Schema string `json:"schema"`
					Sheet  string `json:"sheet"`
					Rows   int    `json:"rows"`
					Text   int    `json:"text"`
					Number int    `json:"number"`
					Bool   int    `json:"bool"`
					Error  int    `json:"error"`
					Digest string `json:"digest"`
				}{"sheetlift/cells-count/v1", sheet, f.Rows, kinds[source.Text], kinds[source.Number], kinds[source.Bool], kinds[source.ErrorValue], digest.String()})
			}
			_, err := fmt.Fprintf(w, "%s\t%d\t%d\t%d\t%d\t%d\t%s\n", appendEscaped(nil, []byte(sheet)), f.Rows,
				kinds[source.Text], kinds[source.Number], kinds[source.Bool], kinds[source.ErrorValue], &digest)
			return err
		},
	}
}

// appendEscaped writes text so that it stays on one line and in one column.
func appendEscaped(dst, v []byte) []byte {
	for {
		i := bytes.IndexAny(v, "\t\n\r\\")
		if i < 0 {
			return append(dst, v...)
		}
		dst = append(append(dst, v[:i]...), '\\')
		switch v[i] {
		case '\t':
			dst = append(dst, 't')
		case '\n':
			dst = append(dst, 'n')
		case '\r':
			dst = append(dst, 'r')
		default:
			dst = append(dst, '\\')
		}
		v = v[i+1:]
	}
}

// appendNumber writes a stored number in the shortest decimal form that reads back as the same float64, without exponent
// from 1e-5 up to 1e21; an integer of more than 15 digits as stored, because a float64 may not hold it.
func appendNumber(dst, v []byte) []byte {
	digits := v
	if len(digits) > 0 && digits[0] == '-' {
		digits = digits[1:]
	}
	if isDigits(digits) && (len(digits) > 15 || digits[0] != '0' || len(digits) == 1) {
		return append(dst, v...)
	}
	f, err := strconv.ParseFloat(string(v), 64)
	if err != nil {
		return append(dst, v...)
	}
	if a := math.Abs(f); a == 0 || a >= 1e-5 && a < 1e21 {
		return strconv.AppendFloat(dst, f, 'f', -1, 64)
	}
	from := len(dst)
	dst = strconv.AppendFloat(dst, f, 'e', -1, 64)
	if n := len(dst); n-from > 4 && dst[n-4] == 'e' && dst[n-2] == '0' {
		dst = append(dst[:n-2], dst[n-1]) // e-07 is e-7
	}
	return dst
}

func isDigits(b []byte) bool {
	for _, c := range b {
		if c-'0' > 9 {
			return false
		}
	}
	return len(b) > 0
}

// cellDigest is a 128-bit digest of a stream of cells that depends on their order, places, kinds, classes and values. It
// tells two readings apart, not a forgery from the original: it is no cryptographic hash.
type cellDigest struct{ a, b uint64 }

const (
	digestK1 = 0x9e3779b97f4a7c15
	digestK2 = 0xbf58476d1ce4e5b9
	digestK3 = 0x94d049bb133111eb
	digestK4 = 0xd6e8feb86659fd93
)

// fold multiplies to 128 bits and folds the halves.
func fold(x, y uint64) uint64 {
	hi, lo := bits.Mul64(x, y)
	return hi ^ lo
}

// place is what the cells of a row have in common in the digest.
func (d *cellDigest) place(row int) uint64 { return fold(uint64(row)^digestK1, digestK4) }

// add takes the next cell, whose row has this place.
func (d *cellDigest) add(place uint64, col int, c *source.Cell, v []byte) {
	n := len(v)
	h := place ^ uint64(col)*digestK2
	var x, y uint64
	switch {
	case n > 16:
		for rest := v; len(rest) > 16; rest = rest[16:] {
			h = fold(h^binary.LittleEndian.Uint64(rest), digestK3^binary.LittleEndian.Uint64(rest[8:]))
		}
		fallthrough
	case n > 8: // the last 16 bytes, or two overlapping halves
		x, y = binary.LittleEndian.Uint64(v[max(0, n-16):]), binary.LittleEndian.Uint64(v[n-8:])
	case n >= 4:
		x, y = uint64(binary.LittleEndian.Uint32(v)), uint64(binary.LittleEndian.Uint32(v[n-4:]))
	case n > 0:
		x, y = uint64(v[0])<<8|uint64(v[n/2]), uint64(v[n-1])
	}
	h = fold(h^x, y^(uint64(n)<<16|uint64(c.Kind)<<8|uint64(c.Class))*digestK4)
	hi, lo := bits.Mul64(d.a^h, digestK1)
	d.a, d.b = lo^d.b, hi+bits.RotateLeft64(h, 32)
}

// String gives the digest as 32 hexadecimal digits.
func (d *cellDigest) String() string { return fmt.Sprintf("%016x%016x", d.a, d.b) }
