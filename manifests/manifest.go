package manifests

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
)

// File is one file of a bag.
type File struct {
	Path   string // slash-separated, from the bag's folder
	SHA256 string // lower-case hex
	Size   int64
}

// pathEncoder and pathDecoder are RFC 8493 section 2.1.3: only CR, LF and the percent sign are encoded.
var (
	pathEncoder = strings.NewReplacer("%", "%25", "\n", "%0A", "\r", "%0D")
	pathDecoder = strings.NewReplacer("%25", "%", "%0A", "\n", "%0a", "\n", "%0D", "\r", "%0d", "\r")
)

// formatManifest writes the lines of a manifest, sorted by path: digest, two spaces, path. That is what `sha256sum -c
// --strict` reads. (sha256sum does not decode %25: PayloadName keeps the percent sign out of payload names.)
func formatManifest(files []File) []byte {
	files = slices.Clone(files)
	slices.SortFunc(files, func(a, b File) int { return strings.Compare(a.Path, b.Path) })
	var b bytes.Buffer
	for _, f := range files {
		fmt.Fprintf(&b, "%s  %s\n", f.SHA256, pathEncoder.Replace(f.Path))
	}
	return b.Bytes()
}

// parseManifest reads what formatManifest writes, and only that: our bags have one form. name is the manifest's own, for the
// faults. Lines with a fault give no file.
func parseManifest(name string, data []byte) (files []File, faults []Fault) {
	fault := func(line int, what string) {
		faults = append(faults, Fault{Kind: Malformed, Path: name, Message: fmt.Sprintf("line %d: %s", line, what)})
	}
	seen := make(nameSet)
	for n := 1; len(data) > 0; n++ {
		line, rest, ended := bytes.Cut(data, []byte{'\n'})
		data = rest
		if !ended {
			fault(n, "it does not end in a line feed: the file may have been cut off")
			continue
		}
		digest, path, ok := strings.Cut(string(line), "  ")
		if !ok || !isDigest(digest) {
			fault(n, "it is not a lower-case SHA-256, two spaces and a path")
			continue
		}
		if strings.Contains(path, "\r") {
			fault(n, "it holds a carriage return: the file's line ends were changed")
			continue
		}
		decoded := pathDecoder.Replace(path)
		if pathEncoder.Replace(decoded) != path && !lowerEncoded(path, decoded) {
			fault(n, "a percent sign in the path is not written as %25")
			continue
		}
		if why := checkName(decoded); why != "" {
			faults = append(faults, Fault{Kind: Unsafe, Path: decoded, Message: fmt.Sprintf("%s line %d: %s", name, n, why)})
			continue
		}
		if why := seen.add(decoded); why != "" {
			faults = append(faults, Fault{Kind: Unsafe, Path: decoded, Message: fmt.Sprintf("%s line %d: %s", name, n, why)})
			continue
		}
		files = append(files, File{Path: decoded, SHA256: digest})
	}
	return files, faults
}

// lowerEncoded reports whether path is decoded's encoding but for lower-case hex, which RFC 8493 allows.
func lowerEncoded(path, decoded string) bool {
	return strings.NewReplacer("%0a", "%0A", "%0d", "%0D").Replace(path) == pathEncoder.Replace(decoded)
}

func isDigest(s string) bool {
	if len(s) != 64 {
		return false
	}
	for i := range len(s) {
		if c := s[i]; (c < '0' || c > '9') && (c < 'a' || c > 'f') {
			return false
		}
	}
	return true
}
