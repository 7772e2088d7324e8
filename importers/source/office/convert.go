package office

import (
	"archive/zip"
	"context"
	"crypto/md5"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"
	"unicode/utf16"

	"sheetlift/importers/source"
)

// memoryBytes is the address space that LibreOffice may take, so that a hostile file can't take the machine's memory.
const memoryBytes = 8 << 30

const remedySave = "open it in Excel or LibreOffice and save it as Excel workbook (.xlsx)"

// job is one file to convert.
type job struct {
	name   string
	format Format
	r      io.ReaderAt
	size   int64
	limits source.Limits
}

func (j *job) fault(kind error, message, remedy string, cause error) *source.Error {
	return &source.Error{Kind: kind, File: j.name, Message: message, Remedy: remedy, Err: cause}
}

// convert gives the converted workbook as an open file that has no name any more, and what made it.
func convert(ctx context.Context, j job) (_ *os.File, _ *source.Conversion, err error) {
	program, ok := find()
	if !ok {
		article, words := j.format.said()
		return nil, nil, j.fault(source.ErrUnsupported, "it is "+article+" "+words+", which is read through LibreOffice, and there is no soffice on this machine",
			"install LibreOffice Calc (Debian and Ubuntu: the package libreoffice-calc) and run again, or "+remedySave, nil)
	}
	dir, err := newFolder()
	if err != nil {
		return nil, nil, j.local(err)
	}
	// Whatever happens, the copies of personal data go.
	defer func() {
		dir.removeSocket()
		if gone := os.RemoveAll(dir.root); gone != nil && err == nil {
			err = j.local(gone)
		}
	}()
	original, err := j.copyTo(dir.input(j.format))
	if err != nil {
		return nil, nil, err
	}
	limit, cancel := context.WithTimeout(ctx, time.Duration(j.limits.ConversionSeconds)*time.Second)
	defer cancel()
	said, err := run(limit, program, dir, j.limits, "--version")
	tool, version := parseVersion(said)
	if err == nil {
		_, err = run(limit, program, dir, j.limits, "--infilter="+j.format.filter(), "--convert-to", "xlsx:Calc MS Excel 2007 XML", "--outdir", dir.at("out"), dir.input(j.format))
	}
	switch {
	case ctx.Err() != nil:
		return nil, nil, ctx.Err()
	case limit.Err() != nil:
		return nil, nil, j.fault(source.ErrLimit, fmt.Sprintf("LibreOffice did not convert it within %d seconds and was stopped", j.limits.ConversionSeconds),
			"if the file is genuine, raise the limit (limits in batch.yaml, --limit of cells) (conversion_seconds), or "+remedySave, nil)
	}
	f, openErr := os.Open(dir.at("out", "input.xlsx"))
	if err != nil || openErr != nil {
		if openErr == nil {
			f.Close() // what a crash left is not to be trusted
		}
		return nil, nil, j.notConverted(err)
	}
	converted, err := partsDigest(f)
	if err != nil {
		f.Close()
		return nil, nil, j.fault(source.ErrMalformed, "what LibreOffice made of it is no workbook", remedySave, err)
	}
	return f, &source.Conversion{Tool: tool, Version: version, Original: original, Converted: converted}, nil
}

// notConverted says why LibreOffice gave no workbook.
func (j *job) notConverted(cause error) error {
	if exit := (*exec.ExitError)(nil); errors.As(cause, &exit) && !exit.Success() {
		return j.fault(source.ErrMalformed, "LibreOffice failed while it converted the file ("+exit.Error()+")", "get the file again from its source, or "+remedySave, cause)
	}
	return j.fault(source.ErrMalformed, "LibreOffice can't read it: it is damaged, cut off or protected with a password", "get the file again from its source, or "+remedySave, cause)
}

// local is a fault of this machine, not of the file; paths are left out.
func (j *job) local(err error) error {
	cause := err
	if p := (*fs.PathError)(nil); errors.As(err, &p) {
		cause = p.Err
	}
	return j.fault(source.ErrUnreadable, "there is no place for its conversion: "+cause.Error(), "make room in the folder for temporary files (TMPDIR) and let only this user write there", err)
}

// copyTo writes the file to path and gives its SHA-256.
func (j *job) copyTo(path string) (string, error) {
	out, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return "", j.local(err)
	}
	h := sha256.New()
	in := &failing{r: io.NewSectionReader(j.r, 0, j.size)}
	n, err := io.Copy(io.MultiWriter(out, h), in)
	if err = errors.Join(err, out.Close()); in.err != nil || err == nil && n < j.size {
		return "", j.fault(source.ErrUnreadable, "reading failed", "check the disk or the share it lies on", in.err)
	}
	if err != nil {
		return "", j.local(err)
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// failing remembers that reading failed, so that it is told from a failure to write.
type failing struct {
	r   io.Reader
	err error
}

func (f *failing) Read(p []byte) (int, error) {
	n, err := f.r.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		f.err = err
	}
	return n, err
}

// find looks for LibreOffice where programs are, and where the installer of macOS puts it.
func find() (string, bool) {
	for _, name := range []string{"soffice", "libreoffice", "/Applications/LibreOffice.app/Contents/MacOS/soffice"} {
		if path, err := exec.LookPath(name); err == nil {
			return path, true
		}
	}
	return "", false
}

// parseVersion takes "LibreOffice 7.4.7.2 40(Build:2)" apart; builds of other vendors put other words first.
func parseVersion(said []byte) (tool, version string) {
	line, _, _ := strings.Cut(strings.TrimSpace(string(said)), "\n")
	words := strings.Fields(line)
	for i, w := range words {
		if i > 0 && w[0] >= '0' && w[0] <= '9' {
			return strings.Join(words[:i], " "), w
		}
	}
	return "LibreOffice", "unknown"
}

// folder is what one conversion lives in.
type folder struct{ root string }

func newFolder() (d folder, err error) {
	if d.root, err = os.MkdirTemp("", "sheetlift-office-"); err != nil { // made with 0700
		return d, err
	}
	// soffice puts its own copies below these, so they are as private as ours.
	for _, name := range []string{"in", "out", "tmp", "home", filepath.Join("profile", "user")} {
		if err == nil {
			err = os.MkdirAll(d.at(name), 0o700)
		}
	}
	if err == nil {
		err = os.WriteFile(d.at("profile", "user", "registrymodifications.xcu"), []byte(settings()), 0o600)
	}
	if err != nil {
		os.RemoveAll(d.root)
	}
	return d, err
}

func (d folder) at(names ...string) string {
	return filepath.Join(append([]string{d.root}, names...)...)
}

// input is the copy under a name of ours, whose extension tells LibreOffice the format.
func (d folder) input(f Format) string { return d.at("in", "input."+string(f)) }

func (d folder) url(name string) string {
	return (&url.URL{Scheme: "file", Path: filepath.ToSlash(d.at(name))}).String()
}

// removeSocket removes the socket that a killed LibreOffice leaves outside its folders. It holds no data, and only its owner may
// connect to it.
func (d folder) removeSocket() {
	for _, dir := range []string{"/tmp", "/var/tmp"} {
		os.Remove(filepath.Join(dir, fmt.Sprintf("OSL_PIPE_%d_SingleOfficeIPC_%s", os.Getuid(), socketID(d.url("profile")))))
	}
}

// socketID is what LibreOffice names a socket by: MD5 of the profile's URL in UTF-16, each byte in hexadecimal without a
// leading zero.
func socketID(profile string) string {
	var wide []byte
	for _, u := range utf16.Encode([]rune(profile)) {
		wide = binary.LittleEndian.AppendUint16(wide, u)
	}
	var id strings.Builder
	for _, b := range md5.Sum(wide) {
		fmt.Fprintf(&id, "%x", b)
	}
	return id.String()
}

// run runs LibreOffice and everything it starts, and gives what it printed. The caller's context ends all of it.
func run(ctx context.Context, program string, d folder, lim source.Limits, args ...string) ([]byte, error) {
	all := []string{
		// Time of the processor is bounded too, for the case that we are killed and can't stop it.
		"-c", `ulimit -c 0; ulimit -f "$1"; ulimit -v "$2"; ulimit -t "$3"; shift 3; exec "$@"`, "sh",
		strconv.FormatInt(max(lim.FileBytes/512, 1), 10), strconv.Itoa(memoryBytes / 1024), strconv.Itoa(4 * lim.ConversionSeconds), program,
		"-env:UserInstallation=" + d.url("profile"),
		"--headless", "--norestore", "--nolockcheck", "--nodefault", "--nologo", "--nofirststartwizard",
	}
	var said bounded
	start := func(apart bool) (*exec.Cmd, error) {
		cmd := exec.CommandContext(ctx, "/bin/sh", append(all, args...)...)
		cmd.Dir = d.at("tmp")
		// Nothing of the caller's environment reaches it: no credentials, proxies, locale or time zone that would change a cell.
		cmd.Env = []string{
			"PATH=" + os.Getenv("PATH"), "HOME=" + d.at("home"), "TMPDIR=" + d.at("tmp"), "XDG_RUNTIME_DIR=" + d.at("tmp"),
			"LC_ALL=C.UTF-8", "LANG=C.UTF-8", "TZ=UTC", "SAL_USE_VCLPLUGIN=svp",
		}
		cmd.Stdout = &said
		cmd.WaitDelay = 2 * time.Second
		isolate(cmd, apart)
		return cmd, cmd.Start()
	}
	cmd, err := start(true)
	if err != nil && ctx.Err() == nil {
		cmd, err = start(false) // the system allows no name spaces; settings alone keep the network away
	}
	if err != nil {
		return nil, err
	}
	err = cmd.Wait()
	_ = end(cmd) // a child that outlived its parent; mostly there is none
	return said.b, err
}

// bounded keeps the beginning of what is written to it.
type bounded struct{ b []byte }

func (w *bounded) Write(p []byte) (int, error) {
	w.b = append(w.b, p[:min(len(p), 4096-len(w.b))]...)
	return len(p), nil
}

// partsDigest is SHA-256 over names and packed bytes of the parts, in order: the zip's time stamps change with each run.
func partsDigest(f *os.File) (string, error) {
	st, err := f.Stat()
	if err != nil {
		return "", err
	}
	z, err := zip.NewReader(f, st.Size())
	if err != nil {
		return "", err
	}
	h := sha256.New()
	for _, part := range z.File {
		head := binary.AppendUvarint(nil, uint64(len(part.Name)))
		head = append(head, part.Name...)
		head = binary.AppendUvarint(head, part.CompressedSize64)
		r, err := part.OpenRaw()
		if err != nil {
			return "", err
		}
		h.Write(head)
		if _, err := io.Copy(h, r); err != nil {
			return "", err
		}
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}
