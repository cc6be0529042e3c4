package verify

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/bentobuild/bento/cache"
	"github.com/bentobuild/bento/internal/action"
	"github.com/bentobuild/bento/internal/dish"
	"github.com/bentobuild/bento/internal/plan"
	"github.com/bentobuild/bento/internal/run"
	"github.com/bentobuild/bento/internal/tree"
)

var task = &plan.Task{Dish: &dish.Dish{Name: "app", Path: "app"}, Name: "build", HostInputs: []string{"~/.declared"}}

// made returns an execution with files by path; a content "-> x" is a link, "/" a directory, "!x" an executable.
func made(files map[string]string, places ...string) Execution {
	e := Execution{Places: places, Open: func(o *cache.Output) (io.ReadCloser, error) {
		return io.NopCloser(strings.NewReader(files[o.Path])), nil
	}}
	for path, text := range files {
		o := cache.Output{Path: path, Kind: cache.File, Mode: 0o644, Digest: cache.Sum([]byte(text))}
		switch {
		case strings.HasPrefix(text, "-> "):
			o = cache.Output{Path: path, Kind: cache.Link, Target: text[3:]}
		case text == "/":
			o = cache.Output{Path: path, Kind: cache.Dir, Mode: 0o755}
		case strings.HasPrefix(text, "!"):
			o.Mode = 0o755
		}
		e.Outputs = append(e.Outputs, o)
	}
	return e
}

func TestCompare(t *testing.T) {
	for name, c := range map[string]struct {
		a, b map[string]string
		want []string // kinds and paths
	}{
		"alike":           {a: map[string]string{"x": "1", "l": "-> x"}, b: map[string]string{"x": "1", "l": "-> x"}},
		"content":         {a: map[string]string{"x": "1"}, b: map[string]string{"x": "2"}, want: []string{"not_reproducible x"}},
		"missing":         {a: map[string]string{"x": "1", "y": "1"}, b: map[string]string{"x": "1", "z": "1"}, want: []string{"not_reproducible y", "not_reproducible z"}},
		"target":          {a: map[string]string{"l": "-> x"}, b: map[string]string{"l": "-> y"}, want: []string{"not_reproducible l"}},
		"kind":            {a: map[string]string{"l": "-> x"}, b: map[string]string{"l": "y"}, want: []string{"not_reproducible l"}},
		"mode":            {a: map[string]string{"x": "!1"}, b: map[string]string{"x": "1"}, want: []string{"not_reproducible x"}},
		"place":           {a: map[string]string{"x": "in /tmp/a/b"}, b: map[string]string{"x": "in /tmp/c"}, want: []string{"absolute_path x"}},
		"place alike":     {a: map[string]string{"x": "in /home/u/ws"}, b: map[string]string{"x": "in /home/u/ws"}, want: []string{"absolute_path x"}},
		"directory":       {a: map[string]string{"d": "/", "d/x": "1"}, b: map[string]string{"d/x": "1"}},
		"empty directory": {a: map[string]string{"d": "/"}, b: nil, want: []string{"not_reproducible d"}},
	} {
		t.Run(name, func(t *testing.T) {
			var got []string
			for _, f := range Compare(task, made(c.a, "/tmp/a", "/home/u/ws"), made(c.b, "/tmp/c", "/home/u/ws")) {
				got = append(got, string(f.Kind)+" "+f.Path)
			}
			if d := cmp.Diff(c.want, got); d != "" {
				t.Errorf("(-want +got):\n%s", d)
			}
		})
	}
	f := Compare(task, made(map[string]string{"x": "same text, then 1"}), made(map[string]string{"x": "same text, then 2"}))
	if want := `"x" differs between two executions, first at byte 16: "ext, then 1" and "ext, then 2"`; len(f) != 1 || f[0].Message != want {
		t.Errorf("%+v, want %s", f, want)
	}
}

func TestHostFiles(t *testing.T) {
	at := Place{Home: "/home/u", Path: "/home/u/bin:/home/u/tools/node/bin:/usr/bin", Own: []string{"/tmp/verify"}}
	seen := &run.Seen{Task: task, Used: &action.Used{Outside: []string{
		"/etc/passwd", "/etc/tool.conf", "/home/u/.cache/x", "/home/u/.declared", "/home/u/.npmrc", "/home/u/bin/tool", "/home/u/other/data",
		"/home/u/tools/node/lib/x", "/srv/data", "/tmp/verify/x", "/usr/bin/cc", "/usr/include/x.h", "/usr/lib/x.so", "/dev/null", "/proc/self/maps",
	}}}
	var got []string
	for _, f := range hostFiles(seen, at) {
		got = append(got, f.Path)
	}
	slices.Sort(got)
	if d := cmp.Diff([]string{"/etc/tool.conf", "/srv/data", "/usr/include/x.h", "~/.npmrc", "~/other/data"}, got); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	seen.Used.Outside = nil
	for i := range 10 {
		seen.Used.Outside = append(seen.Used.Outside, fmt.Sprintf("/usr/include/%d.h", i))
	}
	if list := hostFiles(seen, at); len(list) != 1 || !strings.Contains(list[0].Message, "10 headers") {
		t.Errorf("%+v, want one finding", list)
	}
}

func TestCopy(t *testing.T) {
	from, to := t.TempDir(), t.TempDir()
	if err := os.Mkdir(filepath.Join(from, "d"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(from, "d/x"), []byte("x"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("d/x", filepath.Join(from, "l")); err != nil {
		t.Fatal(err)
	}
	when := time.Unix(1_000_000, 0)
	files := []tree.Entry{{Path: "d/x", Kind: tree.File, Mode: 0o755, Mtime: when.UnixNano()}, {Path: "l", Kind: tree.Link}}
	if err := Copy(t.Context(), from, to, files, -time.Hour); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(to, "l"))
	fi, statErr := os.Stat(filepath.Join(to, "d/x"))
	if err != nil || statErr != nil || string(text) != "x" || fi.Mode().Perm() != 0o755 || !fi.ModTime().Equal(when.Add(-time.Hour)) {
		t.Errorf("%q, %v, %v, %v, %v", text, err, fi.Mode(), fi.ModTime(), statErr)
	}
}
