package storetest

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

const childVariable = "STORETEST_CHILD"

// TestMain is also the process that TestEndsWithItsProcess kills.
func TestMain(m *testing.M) {
	if os.Getenv(childVariable) != "" {
		c, err := Start()
		if err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		fmt.Println(c.dir)
		_, _ = io.Copy(io.Discard, os.Stdin)
		os.Exit(0)
	}
	Main(m)
}

// The server and its folder go even if the process that started them had no time to stop them.
func TestEndsWithItsProcess(t *testing.T) {
	Postgres(t) // skips where there is no server to start
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(exe)
	cmd.Env = append(os.Environ(), childVariable+"=1")
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	line, _ := bufio.NewReader(out).ReadString('\n')
	dir := strings.TrimSpace(line)
	if _, err := os.Stat(dir); err != nil {
		t.Fatalf("the child said %q", line)
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	for deadline := time.Now().Add(30 * time.Second); ; time.Sleep(20 * time.Millisecond) {
		if _, err := os.Stat(dir); errors.Is(err, fs.ErrNotExist) {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("%s is still there", dir)
		}
	}
}

// Databases are fresh, and their collation differs from byte order if the server can do so.
func TestPostgresIsFresh(t *testing.T) {
	first, second := Postgres(t), Postgres(t)
	for _, url := range []string{first, second} {
		conn, err := pgx.Connect(t.Context(), url)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := conn.Exec(t.Context(), `CREATE TABLE only_once (id BIGINT)`); err != nil {
			t.Error(err)
		}
		var byLocale bool
		if err := conn.QueryRow(t.Context(), `SELECT 'a' < 'B'`).Scan(&byLocale); err != nil {
			t.Error(err)
		}
		t.Logf("collation differs from byte order: %v", byLocale)
		if err := conn.Close(t.Context()); err != nil {
			t.Error(err)
		}
	}
}
