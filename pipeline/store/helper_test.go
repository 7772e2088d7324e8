package store_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"sheetlift/pipeline/store"
	"sheetlift/pipeline/store/storetest"
)

// The test program is also the other process of tests that need one: TestMain does a job instead of the tests if
// jobVariable names one.
const jobVariable = "STORE_TEST_JOB"

func TestMain(m *testing.M) {
	if job := os.Getenv(jobVariable); job != "" {
		if err := runJob(job, os.Getenv("STORE_TEST_URL")); err != nil {
			fmt.Print(err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	storetest.Main(m)
}

func runJob(job, url string) error {
	ctx := context.Background()
	name, arg, _ := strings.Cut(job, ":")
	db, err := store.Open(ctx, url)
	if err != nil {
		return err
	}
	defer db.Close()
	switch name {
	case "open":
		return nil
	case "migrate":
		return db.Migrate(ctx)
	case "increment":
		n, err := strconv.Atoi(arg)
		if err != nil {
			return err
		}
		for range n {
			if err := db.Update(ctx, increment(ctx)); err != nil {
				return err
			}
		}
		return nil
	case "hang": // writes, says so, and waits to be killed inside the transaction
		return db.Update(ctx, func(tx *store.Tx) error {
			if err := insert(ctx, tx, "uncommitted", 1); err != nil {
				return err
			}
			fmt.Println("written")
			_, err := io.Copy(io.Discard, os.Stdin)
			return errors.Join(errors.New("not killed"), err)
		})
	}
	return errors.New("unknown job")
}

func increment(ctx context.Context) func(tx *store.Tx) error {
	return func(tx *store.Tx) error {
		var n int
		if err := tx.QueryRow(ctx, `SELECT n FROM things WHERE id = 'counter'`+tx.ForUpdate()).Scan(&n); err != nil {
			return err
		}
		_, err := tx.Exec(ctx, `UPDATE things SET n = $1 WHERE id = 'counter'`, n+1)
		return err
	}
}

// process is another process that does a job.
func process(t *testing.T, job, url string) *exec.Cmd {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(exe)
	cmd.Env = append(os.Environ(), jobVariable+"="+job, "STORE_TEST_URL="+url)
	return cmd
}

// unprivileged makes cmd run as a user whom file modes bind, which root is not.
func unprivileged(t *testing.T, cmd *exec.Cmd) *exec.Cmd {
	t.Helper()
	if os.Geteuid() != 0 {
		return cmd
	}
	// The test program lies in a folder of root's; copy it to where others may run it.
	data, err := os.ReadFile(cmd.Path)
	if err != nil {
		t.Fatal(err)
	}
	dir, err := os.MkdirTemp("", "store-test-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	cmd.Path = filepath.Join(dir, "job")
	if err := os.WriteFile(cmd.Path, data, 0o755); err != nil {
		t.Fatal(err)
	}
	cmd.Dir = dir
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	return cmd
}
