package main

import (
	"os"
	"os/exec"
	"runtime"
	"strings"
	"testing"
)

// What the program does first must come first: the linker orders packages by their paths.
func TestEarlyIsEarly(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("there it does nothing")
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), self, "-test.run=^$")
	cmd.Env = append(os.Environ(), "GODEBUG=inittrace=1")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	first, dear := strings.Index(string(out), "init early @"), strings.Index(string(out), "init github.com/nyaruka/phonenumbers @")
	if first < 0 || dear < 0 || first > dear {
		t.Errorf("package early comes at %d, the dearest one at %d:\n%s", first, dear, out)
	}
}
