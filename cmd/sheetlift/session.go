package main

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"net/url"
	"os"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"sheetlift/pipeline"
	"sheetlift/pipeline/store"
	"sheetlift/reports"
)

// batchFlags are the flags of every command that works on a batch.
type batchFlags struct {
	output, db, as, home, progress string
}

func (b *batchFlags) register(cmd *cobra.Command, writes bool) {
	cmd.Long = cmp.Or(cmd.Long, cmd.Short+".") + "\n\nBATCH is a batch.yaml, or the folder that holds it."
	f := cmd.Flags()
	f.StringVar(&b.output, "output", asText, "form of the result: `text|json`")
	f.StringVar(&b.db, "db", "", "database `URL`, sqlite:PATH or postgres://… (default: database: of batch.yaml, else sqlite:.sheetlift/register.db beside it)")
	f.StringVar(&b.home, "home", "", "`folder` for the vault and what a run makes (default: .sheetlift beside batch.yaml)")
	f.StringVar(&b.progress, "progress", progressAuto, "how long work is shown on stderr: `auto|plain|json|none` (auto: a bar on a terminal, else plain)")
	if writes {
		f.StringVar(&b.as, "as", "", "`name` of the operator (default: SHEETLIFT_OPERATOR, else the system's user)")
	}
}

// databaseURL is where the register is. Paths in batch.yaml are relative to it, those of the command line to where it runs.
func (b *batchFlags) databaseURL(batch *pipeline.Batch) string {
	if b.db != "" {
		return b.db
	}
	if path, ok := strings.CutPrefix(batch.Database, "sqlite:"); ok && path != "" && !filepath.IsAbs(path) {
		return "sqlite:" + filepath.Join(batch.Dir(), filepath.FromSlash(path))
	}
	if batch.Database == "" && b.home != "" {
		return "sqlite:" + filepath.Join(b.home, "register.db")
	}
	return cmp.Or(batch.Database, pipeline.DefaultDatabase(batch))
}

// session is a batch with its pipeline over an open database.
type session struct {
	batch    *pipeline.Batch
	path     string
	flags    *batchFlags
	db       *store.DB
	pipeline *pipeline.Pipeline
	progress *progress
}

// loadBatch reads batch.yaml, or that of the folder that path is.
func loadBatch(path string, flags *batchFlags) (*pipeline.Batch, error) {
	if err := oneOf("output", flags.output, asText, asJSON); err != nil {
		return nil, err
	}
	if flags.progress != "" { // not every command has the flag
		if err := oneOf("progress", flags.progress, progressAuto, progressPlain, progressJSON, progressNone); err != nil {
			return nil, err
		}
	}
	return pipeline.LoadBatch(path)
}

// openSession opens the batch and its database, which is made if it is not there.
func openSession(ctx context.Context, std stdio, path string, flags *batchFlags) (*session, error) {
	batch, err := loadBatch(path, flags)
	if err != nil {
		return nil, err
	}
	return startSession(ctx, std, batch, path, flags, pipeline.Options{KeyPath: os.Getenv("SHEETLIFT_KEY")})
}

// startSession opens the database of a batch and wires its pipeline; opt has what differs.
func startSession(ctx context.Context, std stdio, batch *pipeline.Batch, path string, flags *batchFlags, opt pipeline.Options) (s *session, err error) {
	s = &session{batch: batch, path: path, flags: flags, progress: newProgress(std.err, flags.progress)}
	if s.db, err = store.Open(ctx, flags.databaseURL(batch)); err != nil {
		return nil, flags.unwritable(batch, path, err)
	}
	if err = s.db.Migrate(ctx); err == nil {
		opt.Batch, opt.DB, opt.Operator, opt.Home = batch, s.db, operator(flags.as), flags.home
		opt.Findings, opt.Encode = reports.OpenFindings, reports.Finding
		opt.Progress, opt.Notify = s.progress.Update, s.progress.Notify
		s.pipeline, err = pipeline.New(opt)
	}
	if err != nil {
		return nil, join(s.about(flags.unwritable(batch, path, err)), s.db.Close())
	}
	return s, nil
}

// unwritable says, of a register that can't be made beside batch.yaml because nobody named another place, what else there is.
func (b *batchFlags) unwritable(batch *pipeline.Batch, path string, err error) error {
	if b.db != "" || b.home != "" || batch.Database != "" || !errors.Is(err, store.ErrReadOnly) {
		return err
	}
	if _, serr := os.Stat(strings.TrimPrefix(pipeline.DefaultDatabase(batch), "sqlite:")); serr == nil {
		return &pipeline.FileError{Path: pipeline.Home(batch), Message: "the register lies there, and this user can't write it and what is beside it (register.db-wal, register.db-shm), which SQLite must even to read",
			Remedy: "run the command as a user who may write folder and files; or copy the batch's folder with it, and look at the copy", Err: err}
	}
	return &pipeline.FileError{Path: pipeline.Home(batch), Message: "can't be written, and register and vault would lie there",
		Remedy: "name a folder that you may write to with --home; or `sheetlift dryrun " + quote(path) + " --scratch`, which keeps nothing", Err: err}
}

// lookSession opens the batch for a command that only reads; ok is false when no register was made yet. Looking makes no database.
func lookSession(ctx context.Context, std stdio, path string, flags *batchFlags) (s *session, ok bool, err error) {
	batch, err := loadBatch(path, flags)
	if err != nil {
		return nil, false, err
	}
	if file, isFile := strings.CutPrefix(flags.databaseURL(batch), "sqlite:"); isFile && file != "" {
		if _, err := os.Stat(file); errors.Is(err, fs.ErrNotExist) {
			return &session{batch: batch, path: path, flags: flags, progress: newProgress(std.err, flags.progress)}, false, nil
		}
	}
	s, err = openSession(ctx, std, path, flags)
	return s, err == nil, err
}

// looking opens the batch as lookSession does for work that needs a register.
func looking(ctx context.Context, std stdio, path string, flags *batchFlags, work func(s *session) error) (err error) {
	s, ok, err := lookSession(ctx, std, path, flags)
	if err != nil {
		return err
	}
	defer s.close(&err)
	if !ok {
		return s.noRegister()
	}
	return work(s)
}

// close ends the session; its error matters only if nothing else went wrong. An error of the work is worded without the names that
// are shown by position.
func (s *session) close(err *error) {
	s.progress.Stop()
	if *err != nil {
		*err = s.about(*err)
	}
	if s.db == nil {
		return
	}
	if cerr := s.db.Close(); *err == nil {
		*err = cerr
	}
}

// placed is an error with the place where it came up.
type placed struct {
	error
	at string
}

func (p placed) Error() string { return p.at + ": " + eachOnce(p.error.Error()) }

// Unwrap gives the error as it came.
func (p placed) Unwrap() error { return p.error }

// about says of a fault which database failed, without the names that are shown by position.
func (s *session) about(err error) error {
	var database *store.Error
	if errors.As(err, &database) && s.db != nil {
		err = placed{err, "database " + shownURL(s.flags.databaseURL(s.batch))}
	}
	if s.pipeline != nil {
		err = named{err, s.pipeline.Hide}
	}
	return err
}

// command is a command line on this batch, with the flags that lead to the same register.
func (s *session) command(verb string, args ...string) string {
	words := []string{"sheetlift", verb, quote(s.path)}
	words = append(words, args...)
	if s.flags.db != "" {
		words = append(words, "--db", quote(shownURL(s.flags.db)))
	}
	if s.flags.home != "" {
		words = append(words, "--home", quote(s.flags.home))
	}
	return strings.Join(words, " ")
}

// commandOf is command of a line like `sheetlift undo`.
func (s *session) commandOf(line string) string {
	words := strings.Fields(line)
	return s.command(words[1], words[2:]...)
}

// shownURL hides the password of a database URL.
func shownURL(raw string) string {
	if strings.HasPrefix(raw, "sqlite:") {
		return raw
	}
	u, err := url.Parse(raw)
	if err != nil || u.Query().Has("password") {
		return "URL"
	}
	return u.Redacted()
}

// quote makes a word safe to paste into a shell.
func quote(s string) string {
	if s != "" && strings.Trim(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./:@%+=,") == "" {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

func systemUser() string {
	if u, err := user.Current(); err == nil && u.Username != "" {
		return u.Username
	}
	return cmp.Or(os.Getenv("USER"), "uid "+strconv.Itoa(os.Getuid()))
}
