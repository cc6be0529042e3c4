//go:build unix

package outputs_test

import (
	"errors"
	"io/fs"
	"net"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bentobuild/bento/cache"
	"github.com/bentobuild/bento/cache/outputs"
)

func TestCaptureRefuses(t *testing.T) {
	root := t.TempDir()
	makeTree(t, root, tree{
		"out": "-> ../x", "abs": "-> /etc/passwd", "in": "-> " + root + "/src", "src/a": "644 a", "dir": "-> src",
		".git/config": "644 x", "sub/.git": "644 gitdir: x",
	})
	if err := syscall.Mkfifo(filepath.Join(root, "fifo"), 0o666); err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("unix", filepath.Join(root, "sock"))
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	for path, says := range map[string]string{
		"out": "link out of the workspace", "abs": "link out of the workspace", "dir/a": `"dir" is a link`,
		"fifo": "named pipe", "sock": "socket", ".git/config": ".git", "sub/.git": ".git", "../x": "leaves the workspace",
		"src/a/b": "is not a directory", ".": "workspace itself", "/etc/passwd": "absolute",
	} {
		_, err := outputs.Capture(nil, nil, root, []string{path})
		var refused *cache.RefusedError
		if !errors.As(err, &refused) || refused.Path != path || !strings.Contains(err.Error(), says) {
			t.Errorf("%q: %v, want it refused as %q", path, err, says)
		}
	}
	if _, err := outputs.Capture(nil, nil, root, []string{"gone"}); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("of nothing: %v", err)
	}
	if out, err := outputs.Capture(nil, nil, root, []string{"in", "src", "src/a", "src/a"}); err != nil || len(out) != 3 {
		t.Errorf("%v, %v", out, err)
	}
}

func TestCaptureWithoutStore(t *testing.T) {
	s, _ := openDisk(t)
	root := t.TempDir()
	makeTree(t, root, sample)
	with, err := outputs.Capture(nil, s, root, sortedKeys(sample))
	if err != nil {
		t.Fatal(err)
	}
	without, err := outputs.Capture(nil, nil, root, sortedKeys(sample))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(with, without); diff != "" {
		t.Errorf("-with +without:\n%s", diff)
	}
}

func TestCaptureLarge(t *testing.T) {
	s, _ := openDisk(t)
	root := t.TempDir()
	content := strings.Repeat("0123456789abcdef", 1<<16)
	makeTree(t, root, tree{"big": "644 " + content})
	out, err := outputs.Capture(nil, s, root, []string{"big"})
	if err != nil || out[0].Digest != cache.Sum([]byte(content)) || out[0].Size != int64(len(content)) {
		t.Errorf("%v, %v", out, err)
	}
}
