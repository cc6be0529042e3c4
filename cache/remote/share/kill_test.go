package share

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/bentobuild/bento/cache"
	"github.com/bentobuild/bento/cache/remote"
)

// phaseEnv makes this program the process that is killed: it sends or fetches all results.
const phaseEnv = "BENTO_SHARE_TEST_PHASE"

const killed = 25 // results

func keys() (list []cache.Key) {
	for i := range killed {
		list = append(list, cache.Key{1, byte(i)})
	}
	return list
}

func storeOf(dir string) remote.Store {
	return remote.OverBackend(Open(dir), remote.Options{
		Place: remote.Place{Class: "linux", Read: []string{"trunk"}, Write: "trunk"}, Trust: remote.Trust{Server: true},
	})
}

// contentOf returns the output of result i. Every eighth is large enough to be staged.
func contentOf(i int) []byte {
	size := 20_000
	if i%8 == 0 {
		size = 9 << 20
	}
	return bytes.Repeat([]byte{byte(i), 1, 2, 3, 5, 7, 11, 13}, size/8)
}

// all returns the results of a disk, which it adds.
func all(disk *cache.Disk) (list []remote.Outgoing, err error) {
	for i, key := range keys() {
		data := contentOf(i)
		r := &cache.Record{Outputs: []cache.Output{{Path: "out", Kind: cache.File, Mode: 0o644, Digest: cache.Sum(data), Size: int64(len(data))}}}
		if err := errors.Join(disk.Add(cache.Sum(data), bytes.NewReader(data)), disk.Record(key, r)); err != nil {
			return nil, err
		}
		list = append(list, remote.Outgoing{Key: key, Record: r})
	}
	return list, nil
}

// kid prints a line for each result that is done.
func kid(phase, dir, disk string) int {
	d, err := cache.Open(disk, nil)
	if err == nil {
		err = work(phase, storeOf(dir), d, func() { fmt.Println("done") })
	}
	if err != nil {
		fmt.Println(err)
		return 1
	}
	return 0
}

func work(phase string, store remote.Store, disk *cache.Disk, done func()) (err error) {
	ctx := context.Background()
	if phase == "send" {
		list, err := all(disk)
		for i := range list { // one by one: a killed process has stored some
			store.Send(ctx, disk, list[i:i+1], func(s remote.Sent) {
				err = errors.Join(err, s.Err)
				done()
			})
		}
		return err
	}
	var found []*remote.Found
	store.Find(ctx, keys(), func(a remote.Answer) {
		if err = errors.Join(err, a.Err); a.Found != nil {
			found = append(found, a.Found)
		}
	})
	for _, f := range found {
		err = errors.Join(err, store.Fetch(ctx, f, disk))
		done()
	}
	return err
}

// kill starts a kid and kills it after it has done some results.
func kill(t *testing.T, phase, dir, disk string, after int) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self, dir, disk)
	cmd.Env = append(os.Environ(), phaseEnv+"="+phase)
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	for n := 0; n < after && lines.Scan(); n++ {
		if lines.Text() != "done" {
			t.Errorf("%s: %s", phase, lines.Text())
		}
	}
	_ = cmd.Process.Kill()
	_, _ = io.Copy(io.Discard, out)
	_ = cmd.Wait()
}

// A process that is killed while it sends or fetches leaves nothing that is used, and the next one succeeds.
func TestKilled(t *testing.T) {
	rounds := []int{1, 7, 9, 16, 20}
	if testing.Short() {
		rounds = rounds[:2]
	}
	dir, source, target := t.TempDir(), t.TempDir(), t.TempDir()
	for _, n := range rounds {
		kill(t, "send", dir, source, n)
		whole(t, dir)
	}
	from, err := cache.Open(source, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer from.Close()
	if err := work("send", storeOf(dir), from, func() {}); err != nil {
		t.Fatalf("send after that: %v", err)
	}
	whole(t, dir)
	for _, n := range rounds {
		kill(t, "fetch", dir, target, n)
		hits(t, target, 0)
	}
	to, err := cache.Open(target, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer to.Close()
	if err := work("fetch", storeOf(dir), to, func() {}); err != nil {
		t.Fatalf("fetch after that: %v", err)
	}
	hits(t, target, killed)
}

// whole checks that every blob of the share has its content.
func whole(t *testing.T, dir string) {
	t.Helper()
	err := filepath.WalkDir(filepath.Join(dir, blobs), func(path string, e fs.DirEntry, err error) error {
		if err != nil || !e.Type().IsRegular() {
			return err
		}
		data, err := os.ReadFile(path)
		sum := sha256.Sum256(data)
		if want := filepath.Base(filepath.Dir(path)) + e.Name(); hex.EncodeToString(sum[:]) != want {
			t.Errorf("%s has the content of %x", want, sum)
		}
		return err
	})
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
}

// hits checks that every result of a disk is whole, and that there are least of them.
func hits(t *testing.T, dir string, least int) {
	t.Helper()
	disk, err := cache.Open(dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer disk.Close()
	n := 0
	for i, key := range keys() {
		r, err := disk.Lookup(key)
		if err != nil {
			continue
		}
		n++
		f, err := disk.Open(r.Outputs[0].Digest)
		if err != nil {
			t.Errorf("result %d: %v", i, err)
			continue
		}
		if data, err := io.ReadAll(f); err != nil || !bytes.Equal(data, contentOf(i)) {
			t.Errorf("result %d: %d bytes, %v", i, len(data), err)
		}
		f.Close()
	}
	if n < least {
		t.Errorf("%d hits, want %d", n, least)
	}
}
