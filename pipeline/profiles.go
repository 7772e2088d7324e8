package pipeline

import (
	"encoding/json"
	"os"
	"path/filepath"

	"sheetlift/mappings"
)

// profilePath is where map leaves the profile of a source for the dry-run, which then need not read a sheet before it can judge its
// first row. It is no evidence: the dry-run makes the profile again and compares it with the digest that map recorded.
func profilePath(dir, source string) string { return filepath.Join(dir, source+".profile.json") }

func keepProfile(path string, profile *mappings.Profile) error {
	data, err := json.Marshal(profile)
	if err == nil {
		err = os.WriteFile(path, data, 0o600)
	}
	if err != nil {
		return &FileError{Path: path, Message: "can't be written: " + pathless(err), Remedy: "make room or give another folder with --home", Err: err}
	}
	return nil
}

// recallProfile reads the profile of that digest; nil if it is not there.
func recallProfile(path, digest string) *mappings.Profile {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil
	}
	var profile mappings.Profile
	if json.Unmarshal(data, &profile) != nil || profile.Digest() != digest {
		return nil
	}
	return &profile
}
