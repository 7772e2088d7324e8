package main

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"sheetlift/pipeline"
	"sheetlift/pipeline/store"
)

// Asked for JSON, a command that ends without a result gives its fault as a document with the exit code, whatever went wrong.
func TestRuleAFaultIsADocumentToo(t *testing.T) {
	dir := t.TempDir()
	if err := lay(filepath.Join("testdata", "batch"), dir); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		code int
		args []string
	}{
		{exitUsage, []string{"nosuch"}},
		{exitUsage, []string{"status", "--nosuch"}},
		{exitUsage, []string{"trace", "consent"}},
		{exitUsage, []string{"status", "nosuch.yaml"}},
		{exitUsage, []string{"rules", "no.such"}},
		{exitUsage, []string{"undo"}},
		{exitUsage, []string{"verify"}},
		{exitUsage, []string{"report"}},
		{exitUsage, []string{"findings", "--count"}},
		{exitGate, []string{"import"}},
		{exitGate, []string{"reconcile"}},
		{exitIncomplete, []string{"init", "nosuch.xlsx"}},
	} {
		if len(c.args) == 1 && c.args[0] != "nosuch" || c.args[len(c.args)-1] == "--count" {
			c.args = append(c.args, filepath.Join(dir, "batch.yaml"))
		}
		code, out, talk := sheetliftPlain(append(c.args, "--output", "json")...)
		var f pipeline.Fault
		if err := json.Unmarshal([]byte(out), &f); err != nil {
			t.Errorf("%v: %v: %q", c.args, err, out)
			continue
		}
		if code != c.code || f.Code != code || f.Schema != pipeline.FaultSchema || f.Message == "" || !strings.Contains(talk, f.Message) {
			t.Errorf("%v: exit code %d, %+v, %s", c.args, code, f, talk)
		}
	}
	for _, args := range [][]string{{"cells", "nosuch"}, {"findings", filepath.Join(dir, "batch.yaml")}} { // one object a line, and there is none
		if code, out, _ := sheetliftPlain(append(args, "--output", "json")...); code == exitClean || out != "" {
			t.Errorf("%v: exit code %d, %q", args, code, out)
		}
	}
}

// A wrong number of arguments says how the command is used.
func TestRuleAUsageFaultSaysTheUse(t *testing.T) {
	for want, args := range map[string][]string{
		"say `sheetlift status BATCH`: 0 arguments were given":                                                 {"status"},
		"say `sheetlift trace BATCH ENTITY EXTERNAL_ID` or `sheetlift trace BATCH CELL`: 1 argument was given": {"trace", "b.yaml"},
		"say `sheetlift schema batch|mapping`: there is no \"x\"":                                              {"schema", "x"},
		"there is no command \"no such\"":                                                                      {"help", "no", "such"},
		"say `sheetlift freeze BATCH [--snapshot mended|delta FILE…]`: 0 arguments were given":                 {"freeze"},
	} {
		if code, out, talk := sheetliftPlain(args...); code != exitUsage || out != "" || !strings.Contains(talk, want) {
			t.Errorf("%v: exit code %d, %q, %q", args, code, out, talk)
		}
	}
	if code, out, _ := sheetliftPlain("help", "status"); code != exitClean || !strings.Contains(out, "sheetlift status BATCH") {
		t.Errorf("help status: exit code %d, %s", code, out)
	}
}

// A run that broke off says so in its document, and a fault of a database says which one.
func TestRuleARunThatBrokeOffSaysWhy(t *testing.T) {
	dir := t.TempDir()
	if err := lay(filepath.Join("testdata", "batch"), dir); err != nil {
		t.Fatal(err)
	}
	if code, _, talk := sheetliftIn(dir, "run", "--until", "dryrun"); code != exitClean {
		t.Fatalf("run: exit code %d, %s", code, talk)
	}
	db, err := store.Open(t.Context(), "sqlite:"+filepath.Join(dir, ".sheetlift", "register.db"))
	if err != nil {
		t.Fatal(err)
	}
	err = db.Update(t.Context(), func(tx *store.Tx) error {
		_, err := tx.Exec(t.Context(), `DROP TABLE suppressions`)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	code, out, talk := sheetliftIn(dir, "run", "--output", "json")
	var r struct {
		Stages []any
		Fault  *pipeline.Fault
	}
	if err := json.Unmarshal([]byte(out), &r); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if code == exitClean || r.Fault == nil || r.Fault.Code != code || len(r.Stages) == 0 || !strings.Contains(r.Fault.Message, "database sqlite:") {
		t.Errorf("exit code %d, %d stages, %+v", code, len(r.Stages), r.Fault)
	}
	if strings.Count(talk, "no such table") != 1 {
		t.Errorf("said more than once: %s", talk)
	}
}

// A file that can't be written where it is wanted is a fault of the disk, whichever it is, and known before any work.
func TestRuleAFileThatCantBeWrittenIsIncomplete(t *testing.T) {
	dir := t.TempDir()
	if err := lay(filepath.Join("testdata", "batch"), dir); err != nil {
		t.Fatal(err)
	}
	out := filepath.Join(dir, "nosuch", "report")
	for _, args := range [][]string{{"run", "--junit", out + ".xml"}, {"run", "--sarif", out + ".sarif"}, {"dryrun", "--ndjson", out + ".ndjson"}, {"run"}, {"report", "--html", out + ".html"}, {"report", "--xlsx", out + ".xlsx"}} {
		code, _, talk := sheetliftIn(dir, args[0], args[1:]...)
		if len(args) == 1 {
			continue
		}
		if code != exitIncomplete || !strings.Contains(talk, "can't be written") || !strings.Contains(talk, "name a file in a folder") {
			t.Errorf("%v: exit code %d, %s", args, code, talk)
		}
	}
}
