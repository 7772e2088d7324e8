package xlsx

import (
	"encoding/binary"
	"errors"
	"io"
	"slices"
	"strconv"
	"strings"

	"sheetlift/importers/source"
)

// The zip directory (APPNOTE 6.3.10), read by ourselves for four reasons: limits hold before memory is spent, two entries of
// one name are refused instead of one being picked, sizes are believed only as far as the file can hold them, and each
// fault gets plain words.

const (
	sigLocal     = 0x04034b50
	sigDirectory = 0x02014b50
	sigEnd       = 0x06054b50
	sigEnd64     = 0x06064b50
	sigLocator64 = 0x07064b50
	lenLocal     = 30
	lenDirectory = 46
	lenEnd       = 22
	lenEnd64     = 56
	lenLocator64 = 20
	maxComment   = 1<<16 - 1
	methodStore  = 0
	methodFlate  = 8
	// maxDeflate is more than DEFLATE can ever expand (1032:1), so a declared size above it is a lie.
	maxDeflate = 1040
)

// entry is one file of the zip directory.
type entry struct {
	name   string // as stored
	method uint16
	flags  uint16
	crc    uint32
	packed int64
	size   int64
	header int64 // offset of the local header

	claimed bool // its declared size has been checked
}

// archive is a checked zip directory.
type archive struct {
	file    string
	r       io.ReaderAt
	size    int64
	lim     source.Limits
	entries []entry
	byName  map[string]int // folded name → entry
	total   int64          // declared bytes of the entries claimed so far
	parts   func(part string) io.WriteCloser
}

const (
	remedyDamaged = "get the file again from its source; the copy is incomplete or was changed"
	remedyLimit   = "if the file is genuine, raise the limit (limits in batch.yaml, --limit of cells)"
	remedyResave  = "open it in a spreadsheet program and save it as .xlsx again"
)

func (a *archive) fault(kind error, part, message, remedy string) *source.Error {
	return &source.Error{Kind: kind, File: a.file, Part: part, Message: message, Remedy: remedy}
}

// fold makes names that a reader could take for one another equal: case, backslashes and a leading slash don't count.
func fold(name string) string {
	name = strings.ReplaceAll(name, `\`, "/")
	return strings.ToLower(strings.TrimLeft(name, "/"))
}

func openArchive(file string, r io.ReaderAt, size int64, lim source.Limits) (*archive, error) {
	a := &archive{file: file, r: r, size: size, lim: lim}
	end, err := a.findEnd()
	if err != nil {
		return nil, err
	}
	raw := make([]byte, end.dirSize)
	if err := a.readAt(raw, end.dirOffset); err != nil {
		return nil, err
	}
	if err := a.parseDirectory(raw, end.count, end.base); err != nil {
		return nil, err
	}
	if err := a.checkEntries(); err != nil {
		return nil, err
	}
	return a, nil
}

// readAt fills p from offset off or says that the file is shorter than it claims.
func (a *archive) readAt(p []byte, off int64) error {
	if off < 0 || off > a.size || int64(len(p)) > a.size-off {
		return a.fault(source.ErrTruncated, "", "the zip directory points beyond the end of the file", remedyDamaged)
	}
	if _, err := a.r.ReadAt(p, off); err != nil && !errors.Is(err, io.EOF) {
		e := a.fault(source.ErrTruncated, "", "reading failed", "check the disk or the share it lies on")
		e.Err = err
		return e
	}
	return nil
}

type zipEnd struct {
	count     int64
	dirSize   int64
	dirOffset int64 // in the file
	base      int64 // what to add to offsets in the directory: bytes that stand before the zip
}

// findEnd finds the end record, and the zip64 one if there is one.
func (a *archive) findEnd() (zipEnd, error) {
	tail := make([]byte, min(a.size, lenEnd+maxComment))
	if err := a.readAt(tail, a.size-int64(len(tail))); err != nil {
		return zipEnd{}, err
	}
	at := -1
	for i := len(tail) - lenEnd; i >= 0; i-- {
		if binary.LittleEndian.Uint32(tail[i:]) == sigEnd && i+lenEnd+int(binary.LittleEndian.Uint16(tail[i+20:])) <= len(tail) {
			at = i
			break
		}
	}
	if at < 0 {
		return zipEnd{}, a.fault(source.ErrTruncated, "", "the file begins as a zip but its directory at the end is missing: it was cut off", remedyDamaged)
	}
	rec := tail[at:]
	pos := a.size - int64(len(tail)) + int64(at)
	end := zipEnd{
		count:     int64(binary.LittleEndian.Uint16(rec[10:])),
		dirSize:   int64(binary.LittleEndian.Uint32(rec[12:])),
		dirOffset: int64(binary.LittleEndian.Uint32(rec[16:])),
	}
	if disk := binary.LittleEndian.Uint16(rec[4:]); disk != 0 && disk != 0xffff {
		return zipEnd{}, a.fault(source.ErrUnsupported, "", "it is one part of a zip that is split over several files", "join the parts first")
	}
	if end.count == 0xffff || end.dirSize == 0xffffffff || end.dirOffset == 0xffffffff {
		var err error
		if pos, err = a.readEnd64(pos, &end); err != nil {
			return zipEnd{}, err
		}
	}
	if end.dirSize < 0 || end.dirOffset < 0 || end.dirSize > pos || end.dirOffset > pos-end.dirSize {
		return zipEnd{}, a.fault(source.ErrTruncated, "", "the zip directory lies outside the file", remedyDamaged)
	}
	// Anything between the directory's end and the end record means that bytes stand before the zip.
	end.base = pos - end.dirSize - end.dirOffset
	end.dirOffset += end.base
	if end.base > 0 && !a.directoryAt(end) && a.directoryAt(zipEnd{dirOffset: end.dirOffset - end.base, count: end.count}) {
		end.dirOffset -= end.base
		end.base = 0
	}
	if end.count > int64(a.lim.Parts) {
		return zipEnd{}, a.fault(source.ErrLimit, "", "the zip has "+strconv.FormatInt(end.count, 10)+" entries, more than the limit of "+strconv.Itoa(a.lim.Parts), remedyLimit+" (parts)")
	}
	if end.count*lenDirectory > end.dirSize {
		return zipEnd{}, a.fault(source.ErrMalformed, "", "the zip directory is too small for the entries it declares", remedyDamaged)
	}
	if end.dirSize > int64(a.lim.Parts)*4096 {
		return zipEnd{}, a.fault(source.ErrLimit, "", "the zip directory is "+strconv.FormatInt(end.dirSize, 10)+" bytes long", remedyLimit+" (parts)")
	}
	return end, nil
}

func (a *archive) directoryAt(end zipEnd) bool {
	if end.count == 0 {
		return true
	}
	var sig [4]byte
	return a.readAt(sig[:], end.dirOffset) == nil && binary.LittleEndian.Uint32(sig[:]) == sigDirectory
}

func (a *archive) readEnd64(pos int64, end *zipEnd) (int64, error) {
	bad := a.fault(source.ErrMalformed, "", "the zip64 end record is missing or wrong", remedyDamaged)
	if pos < lenLocator64+lenEnd64 {
		return pos, bad
	}
	var loc [lenLocator64]byte
	if err := a.readAt(loc[:], pos-lenLocator64); err != nil {
		return pos, err
	}
	if binary.LittleEndian.Uint32(loc[:]) != sigLocator64 {
		if end.count == 0xffff && end.dirSize != 0xffffffff && end.dirOffset != 0xffffffff {
			return pos, nil // 65,535 entries fit the plain record
		}
		return pos, bad
	}
	off := int64(binary.LittleEndian.Uint64(loc[8:]))
	if off < 0 || off > pos-lenLocator64-lenEnd64 {
		return pos, bad
	}
	var rec [lenEnd64]byte
	if err := a.readAt(rec[:], off); err != nil {
		return pos, err
	}
	if binary.LittleEndian.Uint32(rec[:]) != sigEnd64 {
		return pos, bad
	}
	end.count = int64(binary.LittleEndian.Uint64(rec[32:]))
	end.dirSize = int64(binary.LittleEndian.Uint64(rec[40:]))
	end.dirOffset = int64(binary.LittleEndian.Uint64(rec[48:]))
	if end.count < 0 || end.count > a.size/lenDirectory {
		return pos, bad
	}
	return off, nil
}

// parseDirectory reads exactly count entries.
func (a *archive) parseDirectory(raw []byte, count, base int64) error {
	bad := func(what string) error {
		return a.fault(source.ErrMalformed, "", "the zip directory "+what, remedyDamaged)
	}
	a.entries = make([]entry, 0, count)
	for n := int64(0); n < count; n++ {
		if len(raw) < lenDirectory || binary.LittleEndian.Uint32(raw) != sigDirectory {
			return bad("ends after " + strconv.FormatInt(n, 10) + " of " + strconv.FormatInt(count, 10) + " entries")
		}
		nameLen := int(binary.LittleEndian.Uint16(raw[28:]))
		extraLen := int(binary.LittleEndian.Uint16(raw[30:]))
		total := lenDirectory + nameLen + extraLen + int(binary.LittleEndian.Uint16(raw[32:]))
		if total > len(raw) {
			return bad("has an entry that runs beyond its end")
		}
		e := entry{
			name:   string(raw[lenDirectory : lenDirectory+nameLen]),
			flags:  binary.LittleEndian.Uint16(raw[8:]),
			method: binary.LittleEndian.Uint16(raw[10:]),
			crc:    binary.LittleEndian.Uint32(raw[16:]),
			packed: int64(binary.LittleEndian.Uint32(raw[20:])),
			size:   int64(binary.LittleEndian.Uint32(raw[24:])),
			header: int64(binary.LittleEndian.Uint32(raw[42:])),
		}
		if !e.zip64(raw[lenDirectory+nameLen : lenDirectory+nameLen+extraLen]) {
			return bad("has an entry whose zip64 sizes are missing")
		}
		e.header += base
		if e.packed < 0 || e.size < 0 || e.header < 0 || e.header > a.size-lenLocal || e.packed > a.size-lenLocal-e.header {
			return a.fault(source.ErrTruncated, e.name, "the zip directory places it beyond the end of the file", remedyDamaged)
		}
		a.entries = append(a.entries, e)
		raw = raw[total:]
	}
	return nil
}

// zip64 takes the 64-bit sizes of the extra field where the plain ones are saturated (APPNOTE 4.5.3).
func (e *entry) zip64(extra []byte) bool {
	need := []*int64{}
	for _, v := range []*int64{&e.size, &e.packed, &e.header} {
		if *v == 0xffffffff {
			need = append(need, v)
		}
	}
	for len(need) > 0 && len(extra) >= 4 {
		id, n := binary.LittleEndian.Uint16(extra), int(binary.LittleEndian.Uint16(extra[2:]))
		if extra = extra[4:]; n > len(extra) {
			return false
		}
		if id == 1 {
			field := extra[:n]
			for _, v := range need {
				if len(field) < 8 {
					return false
				}
				*v = int64(binary.LittleEndian.Uint64(field))
				field = field[8:]
			}
			return true
		}
		extra = extra[n:]
	}
	return len(need) == 0
}

// checkEntries refuses a directory in which one name stands for two entries.
func (a *archive) checkEntries() error {
	a.byName = make(map[string]int, len(a.entries))
	for i := range a.entries {
		e := &a.entries[i]
		if strings.HasSuffix(e.name, "/") || strings.HasSuffix(e.name, `\`) {
			continue // a folder
		}
		name := fold(e.name)
		if _, twice := a.byName[name]; twice {
			return a.fault(source.ErrMalformed, e.name, "the zip has two entries of this name; which one counts would be a guess", remedyResave)
		}
		a.byName[name] = i
	}
	return a.checkOverlap()
}

// checkOverlap refuses entries that share bytes of the file: the trick of bombs whose entries look harmless one by one.
func (a *archive) checkOverlap() error {
	order := make([]*entry, len(a.entries))
	for i := range a.entries {
		order[i] = &a.entries[i]
	}
	slices.SortFunc(order, func(x, y *entry) int {
		switch {
		case x.header < y.header:
			return -1
		case x.header > y.header:
			return 1
		}
		return 0
	})
	for i := 1; i < len(order); i++ {
		if prev := order[i-1]; order[i].header < prev.header+lenLocal+prev.packed {
			return a.fault(source.ErrMalformed, order[i].name, "two zip entries share the same bytes of the file", remedyDamaged)
		}
	}
	return nil
}

// claim checks what an entry declares before a byte of it is decompressed, and counts it towards the total.
func (a *archive) claim(i int) error {
	e := &a.entries[i]
	if e.claimed {
		return nil
	}
	size := strconv.FormatInt(e.size, 10)
	switch ratio := e.size / max(e.packed, 1); {
	case e.flags&1 != 0:
		return a.fault(source.ErrEncrypted, e.name, "the zip entry itself is encrypted", "unpack it with its password and pack it again, or ask for an unprotected export")
	case e.method != methodStore && e.method != methodFlate:
		return a.fault(source.ErrUnsupported, e.name, "it is compressed by zip method "+strconv.Itoa(int(e.method))+", which workbooks don't use", remedyResave)
	case e.size > a.lim.PartBytes:
		return a.fault(source.ErrLimit, e.name, "it declares "+size+" bytes, more than the limit of "+strconv.FormatInt(a.lim.PartBytes, 10), remedyLimit+" (part_bytes)")
	case e.method == methodFlate && e.size > (e.packed+64)*maxDeflate:
		return a.fault(source.ErrMalformed, e.name, "it declares "+size+" bytes, more than its compressed data can hold", remedyDamaged)
	case e.method == methodStore && e.size != e.packed:
		return a.fault(source.ErrMalformed, e.name, "it is stored uncompressed, but its two sizes differ", remedyDamaged)
	case e.size > 1<<20 && ratio > a.lim.Ratio:
		return a.fault(source.ErrLimit, e.name, "it expands "+strconv.FormatInt(ratio, 10)+" times, more than the limit of "+strconv.FormatInt(a.lim.Ratio, 10)+": so do decompression bombs", remedyLimit+" (ratio)")
	}
	if a.total += e.size; a.total > a.lim.TotalBytes {
		return a.fault(source.ErrLimit, "", "its parts declare more than "+strconv.FormatInt(a.lim.TotalBytes, 10)+" bytes together", remedyLimit+" (total_bytes)")
	}
	e.claimed = true
	return nil
}

// section finds the compressed bytes of entry i through its local header.
func (a *archive) section(i int) (*io.SectionReader, error) {
	if err := a.claim(i); err != nil {
		return nil, err
	}
	e := &a.entries[i]
	var head [lenLocal]byte
	if err := a.readAt(head[:], e.header); err != nil {
		return nil, err
	}
	if binary.LittleEndian.Uint32(head[:]) != sigLocal {
		return nil, a.fault(source.ErrMalformed, e.name, "the zip directory points to a place where no entry begins", remedyDamaged)
	}
	at := e.header + lenLocal + int64(binary.LittleEndian.Uint16(head[26:])) + int64(binary.LittleEndian.Uint16(head[28:]))
	if at > a.size || e.packed > a.size-at {
		return nil, a.fault(source.ErrTruncated, e.name, "its data runs beyond the end of the file", remedyDamaged)
	}
	return io.NewSectionReader(a.r, at, e.packed), nil
}
