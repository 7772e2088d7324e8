package manifests

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// source writes a file to bag and describes it.
func source(t *testing.T, name, content string) PayloadFile {
	t.Helper()
	path := filepath.Join(t.TempDir(), "source")
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
	return PayloadFile{Source: path, Name: name, SHA256: hexSum([]byte(content))}
}

func goodSpec(t *testing.T) BagSpec {
	return BagSpec{
		Payload: []PayloadFile{source(t, "exports/consents.xlsx", "not really a workbook"), source(t, "Liste März (neu).csv", "a;b\n"), source(t, "empty.csv", "")},
		Info:    []Pair{{"Bagging-Date", "2026-10-01"}, {"External-Identifier", "harbour-2026-10 initial"}},
		Tags:    map[string][]byte{"sheetlift.json": []byte("{}"), "evidence/names.json": []byte("[]")},
	}
}

func mustWrite(t *testing.T, spec BagSpec) *Bag {
	t.Helper()
	bag, err := WriteBag(t.Context(), filepath.Join(t.TempDir(), "vault", "0001"), spec)
	if err != nil {
		t.Fatal(err)
	}
	return bag
}

func TestWriteBag(t *testing.T) {
	spec := goodSpec(t)
	bag := mustWrite(t, spec)
	again, err := VerifyBag(bag.Dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	if again.Digest != bag.Digest || len(again.Payload) != 3 || again.Payload[2].Path != "data/exports/consents.xlsx" || again.Payload[2].Size != 21 {
		t.Errorf("VerifyBag = %+v", again)
	}
	if !slices.Equal(again.Info, []Pair{{"Bagging-Date", "2026-10-01"}, {"External-Identifier", "harbour-2026-10 initial"}, {"Payload-Oxum", "25.3"}}) {
		t.Errorf("Info = %v", again.Info)
	}
	if again.Signature != nil {
		t.Errorf("an unsigned bag has the signature %q", again.Signature)
	}
	f, err := OpenVerified(again.Path("data/exports/consents.xlsx"), again.Payload[2].SHA256)
	if err != nil {
		t.Fatal(err)
	}
	f.Close()
	if other := mustWrite(t, spec); other.Digest != bag.Digest {
		t.Errorf("the same content elsewhere has another digest")
	}
	if left, err := Partials(bag.Dir); err != nil || len(left) > 0 {
		t.Errorf("left over: %v, %v", left, err)
	}
	if runtime.GOOS == "windows" {
		return
	}
	err = filepath.WalkDir(bag.Dir, func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		st, err := d.Info()
		if want := fs.FileMode(0o600); err == nil && (d.IsDir() && st.Mode().Perm() != 0o700 || !d.IsDir() && st.Mode() != want) {
			t.Errorf("%s has mode %v", p, st.Mode())
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestSha256sumAcceptsTheBag(t *testing.T) {
	tool := requireTool(t, "sha256sum")
	spec := goodSpec(t)
	for _, odd := range []string{"50% off.csv", "-n", "a b", "#1", "'quoted'", "日本.csv", "*", "line\nfeed", "NUL"} {
		spec.Payload = append(spec.Payload, source(t, "odd/"+PayloadName(odd), odd))
	}
	bag := mustWrite(t, spec)
	for _, m := range []string{manifestFile, tagManifestFile} {
		cmd := exec.Command(tool, "-c", "--strict", m)
		cmd.Dir = bag.Dir
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("sha256sum -c --strict %s: %v\n%s", m, err, out)
		}
	}
}

// requireTool finds a program, or skips; in CI every program must be there.
func requireTool(t *testing.T, name string) string {
	t.Helper()
	path, err := exec.LookPath(name)
	if err != nil {
		if os.Getenv("CI") != "" {
			t.Fatalf("%s is not installed, and CI must run this test", name)
		}
		t.Skipf("NOT RUN: %s is not installed", name)
	}
	return path
}

func TestWriteBagRefuses(t *testing.T) {
	tests := []struct {
		name string
		bad  func(*BagSpec)
		kind error
	}{
		{"climbing name", func(s *BagSpec) { s.Payload[0].Name = "../x" }, ErrName},
		{"absolute name", func(s *BagSpec) { s.Payload[0].Name = "/x" }, ErrName},
		{"reserved name", func(s *BagSpec) { s.Payload[0].Name = "aux.csv" }, ErrName},
		{"line feed in a name", func(s *BagSpec) { s.Payload[0].Name = "a\nb" }, ErrName},
		{"names that differ in case", func(s *BagSpec) { s.Payload[0].Name = "EMPTY.csv" }, ErrName},
		{"no digest", func(s *BagSpec) { s.Payload[0].SHA256 = "" }, ErrSpec},
		{"changed bytes", func(s *BagSpec) { s.Payload[0].SHA256 = hexSum([]byte("other")) }, ErrIntegrity},
		{"absent source", func(s *BagSpec) { s.Payload[0].Source += ".absent" }, fs.ErrNotExist},
		{"source is a folder", func(s *BagSpec) { s.Payload[0].Source = filepath.Dir(s.Payload[0].Source) }, ErrIO},
		{"tag under data", func(s *BagSpec) { s.Tags["data/x"] = nil }, ErrName},
		{"tag of BagIt's", func(s *BagSpec) { s.Tags["Manifest-md5.txt"] = nil }, ErrName},
		{"tag in place of the signature", func(s *BagSpec) { s.Tags[SignatureFile] = nil }, ErrName},
		{"fetch.txt", func(s *BagSpec) { s.Tags["fetch.txt"] = nil }, ErrName},
		{"info with a line feed", func(s *BagSpec) { s.Info[0].Value = "a\nBag-Count: 1" }, ErrSpec},
		{"info label with a colon", func(s *BagSpec) { s.Info[0].Label = "a: b" }, ErrSpec},
		{"own Payload-Oxum", func(s *BagSpec) { s.Info[0] = Pair{"payload-oxum", "1.1"} }, ErrSpec},
		{"signing fails", func(s *BagSpec) { s.Sign = func([]byte) ([]byte, error) { return nil, fs.ErrClosed } }, fs.ErrClosed},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			spec := goodSpec(t)
			tt.bad(&spec)
			dir := filepath.Join(t.TempDir(), "bag")
			bag, err := WriteBag(t.Context(), dir, spec)
			if !errors.Is(err, tt.kind) || bag != nil {
				t.Fatalf("WriteBag = %v, %v; want %v", bag, err, tt.kind)
			}
			assertNothing(t, dir)
		})
	}
}

// assertNothing: neither the bag nor a part of it is left.
func assertNothing(t *testing.T, dir string) {
	t.Helper()
	if _, err := os.Lstat(dir); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("%s exists: %v", dir, err)
	}
	if left, err := Partials(dir); err != nil || len(left) > 0 {
		t.Errorf("left over: %v, %v", left, err)
	}
}

func TestWriteBagNeverWritesOver(t *testing.T) {
	bag := mustWrite(t, goodSpec(t))
	if _, err := WriteBag(t.Context(), bag.Dir, goodSpec(t)); !errors.Is(err, ErrExists) {
		t.Fatalf("second WriteBag = %v", err)
	}
	if _, err := VerifyBag(bag.Dir, nil); err != nil {
		t.Fatal(err)
	}
	empty := t.TempDir()
	if _, err := WriteBag(t.Context(), empty, goodSpec(t)); !errors.Is(err, ErrExists) {
		t.Fatalf("WriteBag onto an empty folder = %v", err)
	}
}

func TestWriteBagStopsWhenCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	spec := goodSpec(t)
	spec.Sign = func([]byte) ([]byte, error) { cancel(); return []byte("x"), nil } // after everything was copied
	dir := filepath.Join(t.TempDir(), "bag")
	if _, err := WriteBag(ctx, dir, spec); !errors.Is(err, context.Canceled) {
		t.Fatalf("WriteBag = %v", err)
	}
	assertNothing(t, dir)
}

func TestPartialsAreFound(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "bag")
	left := filepath.Join(filepath.Dir(dir), ".bag.partial-123")
	if err := os.Mkdir(left, 0o700); err != nil {
		t.Fatal(err)
	}
	got, err := Partials(dir)
	if err != nil || !slices.Equal(got, []string{left}) {
		t.Fatalf("Partials = %v, %v", got, err)
	}
	if got, err := Partials(filepath.Join(dir, "absent", "bag")); err != nil || got != nil {
		t.Fatalf("Partials in an absent folder = %v, %v", got, err)
	}
}

func TestVerifyBagFindsEveryFault(t *testing.T) {
	type want struct {
		kind FaultKind
		path string
	}
	const consents = "data/exports/consents.xlsx"
	tests := []struct {
		name   string
		tamper func(t *testing.T, at func(string) string)
		want   []want
	}{
		{"flipped byte", func(t *testing.T, at func(string) string) { flip(t, at(consents)) }, []want{{Changed, consents}}},
		{"flipped byte in a tag file", func(t *testing.T, at func(string) string) { flip(t, at("sheetlift.json")) }, []want{{Changed, "sheetlift.json"}}},
		{"grown file", func(t *testing.T, at func(string) string) { write(t, at("data/empty.csv"), "x") }, []want{{Total, infoFile}, {Changed, "data/empty.csv"}}},
		{"added payload", func(t *testing.T, at func(string) string) { write(t, at("data/extra"), "") }, []want{{Total, infoFile}, {Added, "data/extra"}}},
		{"added tag file", func(t *testing.T, at func(string) string) { write(t, at("notes.txt"), "") }, []want{{Added, "notes.txt"}}},
		{"added hidden file", func(t *testing.T, at func(string) string) { write(t, at(".DS_Store"), "") }, []want{{Added, ".DS_Store"}}},
		{"added folder", func(t *testing.T, at func(string) string) { check(t, os.Mkdir(at("data/new"), 0o700)) }, []want{{Added, "data/new"}}},
		{"added second manifest", func(t *testing.T, at func(string) string) { write(t, at("manifest-md5.txt"), "") }, []want{{Added, "manifest-md5.txt"}}},
		{"removed file", func(t *testing.T, at func(string) string) { check(t, os.Remove(at("data/empty.csv"))) }, []want{{Total, infoFile}, {Missing, "data/empty.csv"}}},
		{"renamed file", func(t *testing.T, at func(string) string) { check(t, os.Rename(at(consents), at("data/b"))) },
			[]want{{Added, "data/b"}, {Missing, consents}}},
		{"symbolic link in place of a file", func(t *testing.T, at func(string) string) {
			check(t, os.Rename(at(consents), at("../moved")))
			check(t, os.Symlink(at("../moved"), at(consents)))
		}, []want{{Total, infoFile}, {Unsafe, consents}}},
		{"symbolic link in place of a folder", func(t *testing.T, at func(string) string) {
			check(t, os.Rename(at("data"), at("../moved")))
			check(t, os.Symlink(at("../moved"), at("data")))
		}, []want{{Total, infoFile}, {Unsafe, "data"}, {Missing, "data/Liste März (neu).csv"}, {Missing, "data/empty.csv"}, {Missing, consents}}},
		{"truncated manifest", func(t *testing.T, at func(string) string) { truncate(t, at(manifestFile), 30) },
			[]want{{Added, "data/exports"}, {Added, consents}, {Changed, manifestFile}, {Malformed, manifestFile}}},
		{"manifest cut at a line end", func(t *testing.T, at func(string) string) { truncate(t, at(manifestFile), 64+2+len(consents)+1) },
			[]want{{Added, "data/exports"}, {Added, consents}, {Changed, manifestFile}}},
		{"emptied tag manifest", func(t *testing.T, at func(string) string) { write(t, at(tagManifestFile), "") },
			[]want{{Added, infoFile}, {Added, declarationFile}, {Added, "evidence"}, {Added, "evidence/names.json"}, {Added, manifestFile}, {Added, "sheetlift.json"},
				{Malformed, tagManifestFile}, {Malformed, tagManifestFile}, {Malformed, tagManifestFile}}},
		{"no tag manifest", func(t *testing.T, at func(string) string) { check(t, os.Remove(at(tagManifestFile))) },
			[]want{{Added, infoFile}, {Added, declarationFile}, {Added, "evidence"}, {Added, "evidence/names.json"}, {Added, manifestFile}, {Added, "sheetlift.json"}, {Missing, tagManifestFile}}},
		{"no bagit.txt", func(t *testing.T, at func(string) string) { check(t, os.Remove(at(declarationFile))) }, []want{{Missing, declarationFile}}},
		{"another version", func(t *testing.T, at func(string) string) {
			write(t, at(declarationFile), strings.Replace(declaration, "1.0", "0.97", 1))
			relist(t, at, declarationFile)
		}, []want{{Malformed, declarationFile}}},
		{"false total under a true digest", func(t *testing.T, at func(string) string) {
			write(t, at(infoFile), "Payload-Oxum: 9.9\n")
			relist(t, at, infoFile)
		}, []want{{Total, infoFile}}},
		{"total twice", func(t *testing.T, at func(string) string) {
			write(t, at(infoFile), "Payload-Oxum: 25.3\nPayload-Oxum: 25.3\n")
			relist(t, at, infoFile)
		}, []want{{Malformed, infoFile}}},
		{"path out of the bag", func(t *testing.T, at func(string) string) {
			appendTo(t, at(manifestFile), hexSum(nil)+"  data/../../x\n")
			relist(t, at, manifestFile)
		}, []want{{Unsafe, "data/../../x"}}},
		{"payload outside data", func(t *testing.T, at func(string) string) {
			appendTo(t, at(manifestFile), hexSum([]byte("{}"))+"  sheetlift.json\n")
			relist(t, at, manifestFile)
		}, []want{{Unsafe, "sheetlift.json"}}},
		{"fetch.txt", func(t *testing.T, at func(string) string) { write(t, at(fetchFile), "") }, []want{{Added, fetchFile}, {Malformed, fetchFile}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dir := mustWrite(t, goodSpec(t)).Dir
			tt.tamper(t, func(p string) string { return filepath.Join(dir, p) })
			_, err := VerifyBag(dir, nil)
			var e *BagError
			if !errors.As(err, &e) || !errors.Is(err, ErrIntegrity) {
				t.Fatalf("VerifyBag = %v, want a BagError", err)
			}
			var got []want
			for _, f := range e.Faults {
				got = append(got, want{f.Kind, f.Path})
				if f.Message == "" {
					t.Errorf("%v has no message", f)
				}
			}
			slices.SortFunc(tt.want, func(a, b want) int { return strings.Compare(a.path+string(a.kind), b.path+string(b.kind)) })
			slices.SortFunc(got, func(a, b want) int { return strings.Compare(a.path+string(a.kind), b.path+string(b.kind)) })
			if !slices.Equal(got, tt.want) {
				t.Errorf("faults\n got %v\nwant %v", got, tt.want)
			}
		})
	}
}

func TestVerifyBagThatVanished(t *testing.T) {
	if _, err := VerifyBag(filepath.Join(t.TempDir(), "bag"), nil); !errors.Is(err, ErrIntegrity) {
		t.Fatalf("VerifyBag = %v", err)
	}
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func write(t *testing.T, path, content string) {
	t.Helper()
	check(t, os.WriteFile(path, []byte(content), 0o600))
}

func appendTo(t *testing.T, path, content string) {
	t.Helper()
	data, err := os.ReadFile(path)
	check(t, err)
	write(t, path, string(data)+content)
}

func flip(t *testing.T, path string) {
	t.Helper()
	data, err := os.ReadFile(path)
	check(t, err)
	data[len(data)/2] ^= 1
	write(t, path, string(data))
}

func truncate(t *testing.T, path string, off int) {
	t.Helper()
	st, err := os.Stat(path)
	check(t, err)
	check(t, os.Truncate(path, st.Size()-int64(off)))
}

// relist makes the tag manifest true again for one file, as somebody would who can write but not sign.
func relist(t *testing.T, at func(string) string, name string) {
	t.Helper()
	data, err := os.ReadFile(at(tagManifestFile))
	check(t, err)
	sha, _, err := FileDigest(at(name))
	check(t, err)
	lines := strings.SplitAfter(string(data), "\n")
	for i, l := range lines {
		if strings.HasSuffix(l, "  "+name+"\n") {
			lines[i] = sha + "  " + name + "\n"
		}
	}
	write(t, at(tagManifestFile), strings.Join(lines, ""))
}
