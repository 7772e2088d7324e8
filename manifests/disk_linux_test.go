package manifests

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
)

// Real system errors get their kind and a remedy.
func TestFullDevice(t *testing.T) {
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Skipf("NOT RUN: %v", err)
	}
	defer full.Close()
	_, _, err = copySync(t.Context(), "vault/x", full, bytes.NewReader([]byte("x")))
	if !errors.Is(err, ErrFull) || !errors.Is(err, syscall.ENOSPC) || !strings.Contains(err.Error(), "free space") {
		t.Fatalf("writing to a full device = %v", err)
	}
}

func TestFullVault(t *testing.T) {
	vault := t.TempDir()
	if err := syscall.Mount("tmpfs", vault, "tmpfs", 0, "size=64k"); err != nil {
		t.Skipf("NOT RUN: a small file system can't be mounted here: %v", err)
	}
	t.Cleanup(func() { check(t, syscall.Unmount(vault, 0)) })
	spec := goodSpec(t)
	spec.Payload = append(spec.Payload, source(t, "large", strings.Repeat("x", 200<<10)))
	dir := filepath.Join(vault, "bag")
	if _, err := WriteBag(t.Context(), dir, spec); !errors.Is(err, ErrFull) {
		t.Fatalf("WriteBag = %v", err)
	}
	assertNothing(t, dir)
	check(t, syscall.Mount("", vault, "", syscall.MS_REMOUNT|syscall.MS_RDONLY, ""))
	if _, err := WriteBag(t.Context(), dir, goodSpec(t)); !errors.Is(err, ErrDenied) || !strings.Contains(err.Error(), "read-only") {
		t.Fatalf("WriteBag into a read-only vault = %v", err)
	}
	assertNothing(t, dir)
}

func TestVaultWithoutPermission(t *testing.T) {
	vault := filepath.Join(t.TempDir(), "vault")
	check(t, os.Mkdir(vault, 0o500))
	spec := goodSpec(t)
	done := make(chan error)
	go func() {
		if os.Geteuid() == 0 {
			// File access of this thread only is no longer root's; the thread ends with the goroutine, never unlocked.
			runtime.LockOSThread()
			if err := syscall.Setfsuid(65534); err != nil {
				done <- err
				return
			}
		}
		_, err := WriteBag(t.Context(), filepath.Join(vault, "bag"), spec)
		done <- err
	}()
	if err := <-done; !errors.Is(err, ErrDenied) || !strings.Contains(err.Error(), "permission denied") {
		t.Fatalf("WriteBag = %v", err)
	}
	assertNothing(t, filepath.Join(vault, "bag"))
}

// A named pipe that nobody writes to must not be waited for.
func TestPipeIsRefused(t *testing.T) {
	bag := mustWrite(t, goodSpec(t))
	pipe := filepath.Join(bag.Dir, "data", "pipe")
	check(t, syscall.Mkfifo(pipe, 0o600))
	if _, _, err := FileDigest(pipe); !errors.Is(err, ErrIO) {
		t.Errorf("FileDigest = %v", err)
	}
	var e *BagError
	if _, err := VerifyBag(bag.Dir, nil); !errors.As(err, &e) || len(e.Faults) != 1 || e.Faults[0].Kind != Unsafe {
		t.Errorf("VerifyBag = %v", err)
	}
}
