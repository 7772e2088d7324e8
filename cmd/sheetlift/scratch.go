package main

import (
	"cmp"
	"context"
	"crypto/sha256"
	"fmt"
	"io/fs"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"syscall"

	"sheetlift/pipeline"
	"sheetlift/reports"
)

// runScratch goes through the stages as far as dryrun in a temporary folder: register, vault, key and staged files are made there
// and are gone at the end. It neither reads nor changes what lies beside batch.yaml, so no gate can rest on it.
func runScratch(ctx context.Context, std stdio, path string, lists *rejectedLists, check *checkFlags, flags *batchFlags) (err error) {
	if flags.db != "" || flags.home != "" {
		return usageError{fmt.Errorf("--scratch makes a register of its own and keeps nothing: leave out --db and --home")}
	}
	if lists.values != "" {
		return usageError{fmt.Errorf("--values belongs to a register, which knows of each file with personal data until it is deleted: leave out --scratch")}
	}
	if lists.rejects != "" {
		return usageError{fmt.Errorf("--rejects belongs to a register, into which the mended rows come back: leave out --scratch")}
	}
	asked := pipeline.Stages[:slices.Index(pipeline.Stages, pipeline.DryRun)+1]
	k, err := check.open(std, asked)
	if err != nil {
		return err
	}
	defer k.close(&err)
	// A terminal that closes must leave nothing behind either.
	ctx, stop := signal.NotifyContext(ctx, syscall.SIGHUP)
	defer stop()
	batch, err := loadBatch(path, flags)
	if err != nil {
		return err
	}
	k.batch = batch
	dir, err := os.MkdirTemp("", "sheetlift-scratch-")
	if err != nil {
		return &pipeline.FileError{Path: os.TempDir(), Message: "no folder can be made there: " + withoutPath(err).Error(), Remedy: "make room, or name another place with TMPDIR", Err: err}
	}
	defer func() {
		if rerr := removeAll(dir); rerr != nil && err == nil {
			err = &pipeline.FileError{Path: dir, Message: "can't be removed: " + withoutPath(rerr).Error(), Remedy: "remove it by hand: it holds copies of personal data", Err: rerr}
		}
	}()
	inner := *flags
	inner.home, inner.db = dir, "sqlite:"+filepath.Join(dir, "register.db")
	s, err := startSession(ctx, std, batch, path, &inner, pipeline.Options{KeyPath: filepath.Join(dir, "key"), Vault: filepath.Join(dir, "vault")})
	if err != nil {
		return err
	}
	defer s.close(&err)
	if secret := os.Getenv("SHEETLIFT_TOKEN_KEY"); secret != "" {
		key := sha256.Sum256([]byte(secret))
		if err := s.pipeline.SetTokenKey(ctx, key[:]); err != nil {
			return err
		}
	}
	err = s.pipeline.Run(ctx, pipeline.DryRun, func(r any) { k.add(pipeline.StageOf(r), r) })
	s.progress.Stop()
	if err != nil {
		return err
	}
	code, err := k.judge(ctx)
	if err != nil {
		return err
	}
	for _, r := range k.results {
		forget(r)
		s.pipeline.HideNames(r)
	}
	if err := showScratch(std, path, flags, k); err != nil {
		return err
	}
	return ended(code)
}

// forget takes out of a result what leads into the folder that is gone.
func forget(r any) {
	o := pipeline.Common(r)
	o.Scratch, o.FindingsFile = true, ""
	if dry, ok := r.(*pipeline.DryRunResult); ok {
		for i := range dry.Staged {
			dry.Staged[i].Path = ""
		}
		if dry.Known != nil {
			for i := range dry.Known.Files {
				dry.Known.Files[i].Path = ""
			}
		}
	}
}

// showScratch shows the dry-run and, in text, what the inventory found before it.
func showScratch(std stdio, path string, flags *batchFlags, k *checker) error {
	last := k.results[len(k.results)-1]
	if inv, ok := k.results[0].(*pipeline.InventoryResult); ok && flags.output == asText && len(inv.ByRule) > 0 {
		if err := reports.Brief(std.out, inv); err != nil {
			return written(err)
		}
		if _, err := fmt.Fprintln(std.out); err != nil {
			return written(err)
		}
	}
	words := "sheetlift run " + quote(path)
	if !pipeline.Common(last).Passed {
		words = "mend what the findings say, then sheetlift dryrun " + quote(path) + " --scratch"
	}
	next := "nothing was kept; next: " + words
	if k.flags.ndjson == "" && slices.ContainsFunc(k.results, func(r any) bool { return pipeline.Common(r).Findings != pipeline.Counts{} }) {
		next = "nothing was kept; --ndjson FILE keeps the findings; next: " + words
	}
	return show(std.out, flags.output, last, next)
}

// removeAll removes a folder, even where folders in it may not be written to, as those of a bag.
func removeAll(dir string) error {
	if err := os.RemoveAll(dir); err == nil {
		return nil
	}
	werr := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() {
			err = os.Chmod(path, 0o700)
		}
		return err
	})
	return cmp.Or(os.RemoveAll(dir), werr)
}
