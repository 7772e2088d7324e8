package storetest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"sort"
	"strconv"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"
)

// Cluster is a running PostgreSQL server with a folder of its own. Its superuser is "postgres", reached without a password
// through a socket that only this user can reach.
type Cluster struct {
	URL      string // of the database "postgres"
	dir      string
	lifeline io.Closer
	watchdog *exec.Cmd
}

// watchdogScript runs the server and outlives the process that started it just long enough to end it: the read returns when
// the other end of the pipe is closed, by Stop or by the kernel.
const watchdogScript = `
program=$1
dir=$2
shift 2
"$program" -D "$dir/data" -k "$dir" -c listen_addresses= -c fsync=off -c synchronous_commit=off -c full_page_writes=off \
	-c max_connections=200 -c shared_buffers=64MB "$@" >"$dir/log" 2>&1 </dev/null &
server=$!
read line
kill -QUIT $server
wait $server
rm -rf "$dir"
`

// Start makes and starts a cluster, with settings NAME=VALUE of the server. Durability is off unless they say otherwise: it must
// not survive anything.
func Start(settings ...string) (*Cluster, error) {
	initdb, err := findBinary("initdb")
	if err != nil {
		return nil, err
	}
	postgres := filepath.Join(filepath.Dir(initdb), "postgres")
	credential, err := serverUser()
	if err != nil {
		return nil, err
	}
	// The socket's path must stay under 108 bytes, which $TMPDIR may not leave room for.
	dir, err := os.MkdirTemp("", "sheetlift-pg-")
	if err == nil && len(dir) > 80 {
		_ = os.Remove(dir)
		dir, err = os.MkdirTemp("/tmp", "sheetlift-pg-")
	}
	if err != nil {
		return nil, err
	}
	c := &Cluster{dir: dir, URL: (&url.URL{Scheme: "postgres", User: url.User("postgres"), Path: "/postgres",
		RawQuery: url.Values{"host": {dir}}.Encode()}).String()}
	if err := c.start(initdb, postgres, credential, settings); err != nil {
		_ = c.Stop()
		_ = os.RemoveAll(dir)
		return nil, err
	}
	return c, nil
}

func (c *Cluster) start(initdb, postgres string, credential *syscall.Credential, settings []string) error {
	if credential != nil {
		if err := os.Chown(c.dir, int(credential.Uid), int(credential.Gid)); err != nil {
			return err
		}
	}
	var out bytes.Buffer
	cmd := exec.Command(initdb, "-D", filepath.Join(c.dir, "data"), "-U", "postgres", "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync")
	cmd.Dir, cmd.Stdout, cmd.Stderr = c.dir, &out, &out
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: credential}
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("initdb: %w: %s", err, bytes.TrimSpace(out.Bytes()))
	}
	args := []string{"-c", watchdogScript, "watchdog", postgres, c.dir}
	for _, s := range settings {
		args = append(args, "-c", s)
	}
	c.watchdog = exec.Command("/bin/sh", args...)
	// Its own session: Ctrl-C in the terminal is for the test, which then ends, and then the server does.
	c.watchdog.SysProcAttr = &syscall.SysProcAttr{Credential: credential, Setsid: true}
	c.watchdog.Dir = c.dir
	lifeline, err := c.watchdog.StdinPipe()
	if err != nil {
		return err
	}
	c.lifeline = lifeline
	if err := c.watchdog.Start(); err != nil {
		c.watchdog = nil
		return err
	}
	return c.await()
}

// await asks until the server answers.
func (c *Cluster) await() error {
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	for {
		conn, err := pgx.Connect(ctx, c.URL)
		if err == nil {
			return conn.Close(ctx)
		}
		select {
		case <-ctx.Done():
			log, _ := os.ReadFile(filepath.Join(c.dir, "log"))
			return fmt.Errorf("the server did not come up: %w: %s", err, bytes.TrimSpace(log))
		case <-time.After(25 * time.Millisecond):
		}
	}
}

// Stop ends the server and removes its folder. It may be called twice.
func (c *Cluster) Stop() error {
	if c.lifeline != nil {
		_ = c.lifeline.Close()
		c.lifeline = nil
	}
	if c.watchdog == nil {
		return nil
	}
	err := c.watchdog.Wait()
	c.watchdog = nil
	return err
}

func findBinary(name string) (string, error) {
	if p, err := exec.LookPath(name); err == nil {
		// Distributions link into PATH; the other binaries lie beside the real one.
		if p, err = filepath.EvalSymlinks(p); err == nil {
			return filepath.Abs(p)
		}
	}
	found, _ := filepath.Glob("/usr/lib/postgresql/*/bin/" + name)
	if len(found) == 0 {
		return "", errors.New("no PostgreSQL server binaries in PATH or /usr/lib/postgresql (Debian: apt-get install postgresql)")
	}
	sort.Slice(found, func(i, j int) bool { return majorVersion(found[i]) < majorVersion(found[j]) })
	return found[len(found)-1], nil
}

func majorVersion(binary string) int {
	n, _ := strconv.Atoi(filepath.Base(filepath.Dir(filepath.Dir(binary))))
	return n
}

// serverUser is whom the server runs as: it refuses to run as root.
func serverUser() (*syscall.Credential, error) {
	if os.Geteuid() != 0 {
		return nil, nil
	}
	for _, name := range []string{"postgres", "nobody"} {
		u, err := user.Lookup(name)
		if err != nil {
			continue
		}
		uid, uerr := strconv.ParseUint(u.Uid, 10, 32)
		gid, gerr := strconv.ParseUint(u.Gid, 10, 32)
		if uerr == nil && gerr == nil {
			return &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}, nil
		}
	}
	return nil, errors.New("running as root, and there is no user postgres or nobody to run the server as")
}
