package main

import (
	"bufio"
	"encoding/csv"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
)

// importTable measures the import of a dry-run batch into each database beside what the database's own shell takes to load the same
// rows into tables with the same keys. The shells read them in the order of the source, as somebody would have them who has
// them in a file.
func importTable(flags *flag.FlagSet, args []string) error {
	var w workload
	w.flags(flags)
	runs := flags.Int("runs", 3, "measured rounds; one more goes before, uncounted")
	bin := flags.String("bin", "bin/sheetlift", "the `program` to measure")
	dir := flags.String("dir", "", "`folder` with the files of bench generate (default: made, and removed again)")
	pgtest := flags.String("pgtest", "bin/pgtest", "the `program` that starts a PostgreSQL server")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if *runs < 1 || flags.NArg() > 0 {
		return errors.New("import: -runs is at least 1, and there are no arguments")
	}
	program, err := filepath.Abs(*bin)
	if err != nil {
		return err
	}
	work, err := os.MkdirTemp("", "bench-import-")
	if err != nil {
		return err
	}
	stop := func() {}
	remove := func() {
		stop()
		os.RemoveAll(work)
	}
	defer remove()
	defer onInterrupt(remove)()
	b := &importBench{program: program, dir: work}
	if err := b.batch(&w, *dir); err != nil {
		return err
	}
	var all []*contender
	if _, err := exec.LookPath("sqlite3"); err != nil {
		fmt.Println("SQLite: not measured, there is no sqlite3 in PATH (Debian: apt-get install sqlite3)")
	} else if c, err := b.sqlite(); err != nil {
		return err
	} else {
		all = append(all, c...)
	}
	server := ""
	if _, err := exec.LookPath("psql"); err != nil {
		fmt.Println("PostgreSQL: not measured, there is no psql in PATH (Debian: apt-get install postgresql)")
	} else if server, stop, err = startServer(*pgtest); err != nil {
		fmt.Println("PostgreSQL: not measured, no server:", err)
	} else if c, err := b.postgres(server); err != nil {
		return err
	} else {
		all = append(all, c...)
	}
	if len(all) == 0 {
		return nil
	}
	return measure(all, *runs)
}

// startServer starts a server of its own with the durability that servers for tests do without. It ends when stop is called, or when
// this process ends in whatever way.
func startServer(pgtest string) (server string, stop func(), err error) {
	stop = func() {}
	var args []string
	for _, s := range []string{"fsync=on", "synchronous_commit=on", "full_page_writes=on", "shared_buffers=256MB", "max_wal_size=4GB"} {
		args = append(args, "-c", s)
	}
	cmd := exec.Command(pgtest, append(args, "--", "sh", "-c", `echo "$SHEETLIFT_TEST_POSTGRES"; exec cat`)...)
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		return "", stop, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return "", stop, err
	}
	if err := cmd.Start(); err != nil {
		return "", stop, err
	}
	stop = sync.OnceFunc(func() {
		in.Close()
		_ = cmd.Wait()
	})
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		stop()
		return "", func() {}, errors.New(pgtest + " started none")
	}
	return strings.TrimSpace(line), stop, nil
}

// importBench is a batch in a folder for each database.
type importBench struct{ program, dir string }

func (b *importBench) in(names ...string) string {
	return filepath.Join(append([]string{b.dir}, names...)...)
}

// batch makes the files, or links those in a folder.
func (b *importBench) batch(w *workload, files string) error {
	for _, engine := range []string{"sqlite", "postgres"} {
		if err := os.Mkdir(b.in(engine), 0o700); err != nil {
			return err
		}
	}
	if files == "" {
		files = b.in("files")
		self, err := os.Executable()
		if err != nil {
			return err
		}
		fmt.Printf("writing %d rows\n", w.rows)
		if err := quietly(self, "generate", "-rows", fmt.Sprint(w.rows), "-sheets", "1", "-every", fmt.Sprint(w.every), "-samples", w.samples, "-out", files); err != nil {
			return err
		}
	}
	names, err := os.ReadDir(files)
	if err != nil {
		return err
	}
	for _, engine := range []string{"sqlite", "postgres"} {
		for _, f := range names {
			if !f.Type().IsRegular() || f.Name() == inlineFile || f.Name() == csvFile {
				continue
			}
			to := b.in(engine, f.Name())
			if os.Link(filepath.Join(files, f.Name()), to) == nil {
				continue
			}
			if err := copyFile(filepath.Join(files, f.Name()), to); err != nil {
				return err
			}
		}
	}
	return nil
}

// dryRun takes the batch as far as the import. The rows that are planted to be wrong are no failure.
func (b *importBench) dryRun(batch string, more ...string) error {
	err := quietly(b.program, append([]string{"run", batch, "--until", "dryrun"}, more...)...)
	var exit *exec.ExitError
	if errors.As(err, &exit) && exit.ExitCode() == 1 {
		return nil
	}
	return err
}

// sqlite makes the contenders for SQLite.
func (b *importBench) sqlite() ([]*contender, error) {
	const ours, shell = "import into SQLite", "sqlite3 .import"
	fmt.Println("preparing SQLite")
	batch, db := b.in("sqlite", batchFile), b.in("sqlite", ".sheetlift", "register.db")
	if err := b.dryRun(batch); err != nil {
		return nil, err
	}
	before, peer, commands := b.in("before.db"), b.in("peer.db"), b.in("import.sql")
	if err := copyFile(db, before); err != nil {
		return nil, err
	}
	if err := quietly(b.program, "import", batch); err != nil {
		return nil, err
	}
	rows, err := b.export(func(query, file string) error { return sqliteCSV(db, query, file) })
	if err != nil {
		return nil, err
	}
	// The same tables with the same keys, but for STRICT: a shell reads an empty field as text, which a strict column of
	// numbers refuses.
	schema := []string{"PRAGMA page_size=16384;", "PRAGMA journal_mode=WAL;"}
	script := []string{"PRAGMA synchronous=FULL;", "PRAGMA cache_size=-32768;", "PRAGMA journal_size_limit=67108864;", ".bail on", ".mode csv"}
	for table := range rows {
		ddl, err := output("sqlite3", db, "SELECT sql FROM sqlite_schema WHERE name = '"+table+"'")
		if err != nil {
			return nil, err
		}
		schema = append(schema, strings.TrimSuffix(strings.TrimSpace(ddl), " STRICT")+";")
		script = append(script, ".import "+b.in(table+".csv")+" "+table)
	}
	if err := os.WriteFile(commands, []byte(strings.Join(script, "\n")+"\n"), 0o600); err != nil {
		return nil, err
	}
	count := func(file string) error {
		return counted(rows, func(query string) (string, error) { return output("sqlite3", file, query) })
	}
	fresh := func(file string) error {
		return errors.Join(removeIfThere(file), removeIfThere(file+"-wal"), removeIfThere(file+"-shm"))
	}
	return []*contender{
		{name: shell, args: []string{"sqlite3", peer, ".read " + commands},
			prep:  func() error { return errors.Join(fresh(peer), quietly("sqlite3", peer, strings.Join(schema, "\n"))) },
			check: func([]byte) error { return count(peer) }},
		{name: ours, args: []string{b.program, "import", batch}, base: shell,
			prep:  func() error { return errors.Join(fresh(db), copyFile(before, db)) },
			check: func([]byte) error { return count(db) }},
	}, nil
}

// postgres makes the contenders for PostgreSQL.
func (b *importBench) postgres(server string) ([]*contender, error) {
	const ours, shell = "import into PostgreSQL", `psql \copy`
	fmt.Println("preparing PostgreSQL")
	at := func(database string) string {
		u, err := url.Parse(server)
		if err != nil {
			return server
		}
		u.Path = "/" + database
		return u.String()
	}
	psql := func(database string, commands ...string) []string {
		args := []string{"--no-psqlrc", "--quiet", "--set=ON_ERROR_STOP=1", "--dbname=" + at(database)}
		for _, c := range commands {
			args = append(args, "--command="+c)
		}
		return args
	}
	fresh := func(database string) error {
		return quietly("psql", psql("postgres", `DROP DATABASE IF EXISTS `+database, `CREATE DATABASE `+database+` TEMPLATE before`, `CHECKPOINT`)...)
	}
	batch := b.in("postgres", batchFile)
	if err := quietly("psql", psql("postgres", `CREATE DATABASE before`)...); err != nil {
		return nil, err
	}
	if err := b.dryRun(batch, "--db", at("before")); err != nil {
		return nil, err
	}
	if err := errors.Join(fresh("ours"), quietly(b.program, "import", batch, "--db", at("ours"))); err != nil {
		return nil, err
	}
	rows, err := b.export(func(query, file string) error {
		return quietly("psql", psql("ours", `\copy (`+query+`) TO '`+file+`' CSV`)...)
	})
	if err != nil {
		return nil, err
	}
	var copies []string
	for table := range rows {
		copies = append(copies, `\copy `+table+` FROM '`+b.in(table+".csv")+`' CSV`)
	}
	count := func(database string) error {
		return counted(rows, func(query string) (string, error) {
			return output("psql", append(psql(database, query), "--tuples-only", "--no-align")...)
		})
	}
	return []*contender{
		{name: shell, args: append([]string{"psql"}, psql("peer", copies...)...),
			prep:  func() error { return fresh("peer") },
			check: func([]byte) error { return count("peer") }},
		{name: ours, args: []string{b.program, "import", batch, "--db", at("ours")}, base: shell,
			prep:  func() error { return fresh("ours") },
			check: func([]byte) error { return count("ours") }},
	}, nil
}

// loaded are the tables that an import of the batch fills, each with what puts its rows in the order of the source. A digest does so
// as well as the key that it is of: to the ids, which an import sorts by, either is chance.
var loaded = []struct{ name, order string }{
	{"purposes", "external_key"}, {"notices", "external_key"}, {"receipts", "external_key"}, {"legacy_assertions", "external_key"},
	{"provenance", "source, row"}, {"id_map", "key_digest"},
}

// export writes the rows of the tables to files in the order of the source, by save, and gives how many each has. Tables without
// rows are left out.
func (b *importBench) export(save func(query, file string) error) (map[string]int, error) {
	rows := map[string]int{}
	for _, table := range loaded {
		file := b.in(table.name + ".csv")
		query := "SELECT * FROM " + table.name + " ORDER BY " + table.order
		if err := save(query, file); err != nil {
			return nil, err
		}
		n, err := countCSV(file)
		if err != nil {
			return nil, err
		}
		if n > 0 {
			rows[table.name] = n
		}
	}
	if rows["provenance"] == 0 {
		return nil, errors.New("the import brought no rows")
	}
	return rows, nil
}

// counted fails unless each table holds that many rows.
func counted(rows map[string]int, ask func(query string) (string, error)) error {
	for table, want := range rows {
		said, err := ask("SELECT COUNT(*) FROM " + table)
		if err != nil {
			return err
		}
		if strings.TrimSpace(said) != strconv.Itoa(want) {
			return fmt.Errorf("%s holds %s rows, want %d", table, strings.TrimSpace(said), want)
		}
	}
	return nil
}

func sqliteCSV(db, query, file string) error {
	out, err := os.Create(file)
	if err != nil {
		return err
	}
	cmd := exec.Command("sqlite3", "-csv", db, query)
	cmd.Stdout, cmd.Stderr = out, os.Stderr
	return errors.Join(cmd.Run(), out.Close())
}

func countCSV(file string) (n int, err error) {
	f, err := os.Open(file)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	r := csv.NewReader(f)
	r.ReuseRecord = true
	for {
		_, err := r.Read()
		if errors.Is(err, io.EOF) {
			return n, nil
		}
		if err != nil {
			return n, err
		}
		n++
	}
}

func output(program string, args ...string) (string, error) {
	cmd := exec.Command(program, args...)
	out, err := cmd.Output()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return "", fmt.Errorf("%s: %w\n%s", program, err, exit.Stderr)
	}
	return string(out), err
}

func removeIfThere(file string) error {
	err := os.Remove(file)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	return err
}

// copyFile copies a file and waits until it is on disk, so that what is measured next does not pay for it.
func copyFile(from, to string) error {
	src, err := os.Open(from)
	if err != nil {
		return err
	}
	defer src.Close()
	dst, err := os.OpenFile(to, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(dst, src)
	return errors.Join(err, dst.Sync(), dst.Close())
}
