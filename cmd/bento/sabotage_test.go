package main

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/bentobuild/bento/diagnostics"
	"github.com/bentobuild/bento/internal/sampling"
	"github.com/bentobuild/bento/internal/tomlfile"
)

// sabotage is one way to break the CMake example, and the texts that must report it.
type sabotage struct {
	Name   string     `toml:"name"`
	Edit   [][]string `toml:"edit"`
	Shell  string     `toml:"shell"`
	Bento  string     `toml:"bento"`
	Code   int        `toml:"code"`
	Says   string     `toml:"says"`
	Suite  string     `toml:"suite"`
	Within string     `toml:"within"`
	Slow   bool       `toml:"slow"`
}

// TestSabotages breaks the adapter that docs/adapters.md builds: bento and the suite both name the cause.
func TestSabotages(t *testing.T) {
	if testing.Short() {
		t.Skip("the suite starts the plugin fifty times")
	}
	t.Parallel()
	needTool(t, "python3")
	needTool(t, "cmake")
	bento := builtBento(t)
	list := sabotages(t)
	if len(list) < 60 {
		t.Errorf("only %d sabotages", len(list))
	}
	for _, s := range sampling.Of(t, 8, list) {
		t.Run(strings.ReplaceAll(s.Name, " ", "-"), func(t *testing.T) {
			t.Parallel()
			if s.Slow && !sampling.All() {
				t.Skip("bento waits for 30 s")
			}
			s.try(t, bento)
		})
	}
}

func sabotages(t *testing.T) []sabotage {
	t.Helper()
	const name = "testdata/sabotages.toml"
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	var table struct {
		List []sabotage `toml:"sabotage"`
	}
	file, problems := tomlfile.Parse(name, text)
	if file != nil {
		problems = append(problems, file.Decode(&table)...)
	}
	if err := diagnostics.AsError(problems); err != nil {
		t.Fatal(err)
	}
	return table.List
}

func (s *sabotage) try(t *testing.T, bento string) {
	dir := t.TempDir()
	for _, sub := range []string{"bin", "home"} {
		if err := os.Mkdir(filepath.Join(dir, sub), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	fixtures, err := filepath.Abs("../../examples/bento-adapter-cmake/fixtures")
	if err != nil {
		t.Fatal(err)
	}
	plugin, root := filepath.Join(dir, "bin", "bento-adapter-cmake"), filepath.Join(dir, "ws")
	if err := os.CopyFS(root, os.DirFS(fixtures)); err != nil {
		t.Fatal(err)
	}
	s.breakIt(t, plugin)
	env := append(os.Environ(), "PATH="+strings.Join([]string{filepath.Dir(plugin), filepath.Dir(bento), systemPython(t), os.Getenv("PATH")}, string(os.PathListSeparator)),
		"HOME="+filepath.Join(dir, "home"), "LC_ALL=C", "BENTO_CACHE_DIR="+filepath.Join(dir, "cache"), "PLUGIN="+plugin)
	run := func(name string, args ...string) (string, int) {
		cmd := exec.CommandContext(context.WithoutCancel(t.Context()), name, args...)
		cmd.Dir, cmd.Env = root, env
		out, err := cmd.CombinedOutput()
		if exit, ok := asExit(err); ok {
			return string(out), exit.ExitCode()
		} else if err != nil {
			t.Fatal(err)
		}
		return string(out), 0
	}
	if err := os.WriteFile(filepath.Join(root, "bento.toml"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if s.Shell != "" {
		if out, code := run("sh", "-ec", s.Shell); code != 0 {
			t.Fatal(out)
		}
	}
	command := strings.Fields(s.Bento)
	if len(command) == 0 {
		command = []string{"plan"}
	}
	out, code := run(bento, command...)
	if says := regexp.MustCompile(s.Says); code != s.Code || !says.MatchString(out) {
		t.Errorf("bento %s: exit code %d, want %d, and what matches %q, got\n%s", command, code, s.Code, s.Says, out)
	}
	within := s.Within
	if within == "" {
		within = "5m"
	}
	out, code = run(bento, "plugin", "test", plugin, "--within", within, "--dir", fixtures)
	said := regexp.MustCompile(`(?m)^(fail (MUST  |SHOULD) |bento: warning: )` + s.Suite)
	if s.Suite != "" && !said.MatchString(out) {
		t.Errorf("the suite: want what matches %q, got\n%s", said, out)
	} else if s.Suite == "" && (code != 0 || strings.Contains(out, "fail ")) {
		t.Errorf("the suite fails:\n%s", out)
	}
}

// breakIt writes the edited adapter to path.
func (s *sabotage) breakIt(t *testing.T, path string) {
	t.Helper()
	data, err := os.ReadFile("../../examples/bento-adapter-cmake/bento-adapter-cmake")
	if err != nil {
		t.Fatal(err)
	}
	text := string(data)
	for _, edit := range s.Edit {
		if len(edit) != 2 || !strings.Contains(text, edit[0]) {
			t.Fatalf("the example has no %q", edit)
		}
		text = strings.Replace(text, edit[0], edit[1], 1)
	}
	if err := os.WriteFile(path, []byte(text), 0o755); err != nil {
		t.Fatal(err)
	}
}
