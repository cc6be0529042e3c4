package foreign

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bentobuild/bento/diagnostics"
	"github.com/bentobuild/bento/internal/clone"
	"github.com/bentobuild/bento/internal/config"
)

// tree writes files below a new directory, and returns a source with two dishes.
func tree(t *testing.T, files map[string]string) Source {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	src := Source{Files: clone.At(root), Dishes: []Dish{
		{Name: "root", Path: ".", Tasks: []string{"fmt"}}, {Name: "a", Path: "a", Tasks: []string{"build", "test"}}, {Name: "b", Path: "b", Tasks: []string{"build"}},
	}}
	for name, text := range files {
		path := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		if Is(name) {
			src.Paths = append(src.Paths, name)
		}
	}
	return src
}

func everyTool() (ids []string) {
	for _, t := range Tools() {
		ids = append(ids, t.ID)
	}
	return ids
}

// check fails the test for errors that no mapping may have.
func check(t *testing.T, m *Mapping) {
	t.Helper()
	for _, table := range m.Tables {
		text := table.Text("x")
		if errs := diagnostics.Errors(config.CheckDish(table.Path, []byte(text))); len(errs) > 0 {
			t.Errorf("%s\n%v", text, errs)
		}
	}
	for _, g := range m.Gaps {
		if g.File == "" || g.Line < 1 || g.Why == "" {
			t.Errorf("the gap %+v has no place or reason", g)
		}
	}
	for _, p := range m.Problems {
		if p.File == "" || p.Line < 1 || p.Message == "" {
			t.Errorf("the problem %+v has no place", p)
		}
	}
}

// FuzzRead: Read returns for any files of other tools, the tables are valid, and each gap has a place
// and a reason.
func FuzzRead(f *testing.F) {
	f.Add([]byte(`{"tasks": {"build": {"dependsOn": ["^build", "b#build", "//#fmt"], "inputs": ["$TURBO_DEFAULT$", "../../x", "!a"], "outputs": ["a//b", "/*", "**"],},}} // end`))
	f.Add([]byte(`{"targetDefaults": {"build": {"inputs": [{"env": "1"}, "y,]", "x"]}}, "namedInputs": {"x": ["x", "y"], "y": ["x", "x"]}, "targets": {"a\nb": {"command": "x"}}}`))
	f.Add([]byte("tasks:\n  build:\n    command: \"x\"\n    deps: [\"~:y\"]\n    sources: ['{{.x}}']\n  y: {command: [a, \"b'c\"], options: {timeout: 9999999999999}}\n"))
	f.Add([]byte(".PHONY: a b\na:\nb: a\ntest:\n\ttrue\nX := 1\nmod x\nalias y := z\n[private]\nq w:\n"))
	f.Add([]byte(`{"projects": [{"projectFolder": "a"}], "operationSettings": [{"operationName": "build", "outputFolderNames": ["../..", "x"], "dependsOnEnvVars": ["=", "A"]}], "phases": [{"name": "_phase:test"}]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		files := make(map[string]string)
		for _, tool := range Tools() {
			files[tool.Files[0]] = string(data)
		}
		for _, name := range []string{"a/turbo.json", "a/project.json", "new/project.json", "b/moon.yml", "package.json", ".moon/tasks.yml", "a/config/rush-project.json", "common/config/rush/command-line.json"} {
			files[name] = string(data)
		}
		src := tree(t, files)
		check(t, Read(src, everyTool()))
		for _, id := range everyTool() {
			check(t, Read(src, []string{id}))
		}
	})
}

// TestHostile: files of other tools that cannot be read are problems with their places, and those
// behind a link that leads out of the workspace are missing.
func TestHostile(t *testing.T) {
	t.Parallel()
	bomb := "a: &a [x, x, x, x, x, x, x, x, x]\n"
	for i := 'b'; i < 'k'; i++ {
		bomb += fmt.Sprintf("%c: &%c [%s]\n", i, i, strings.TrimSuffix(strings.Repeat("*"+string(i-1)+", ", 9), ", "))
	}
	for _, c := range []struct{ name, tool, file, text, want string }{
		{"a syntax error", "turbo", "turbo.json", "{\n  \"tasks\": {,}\n}", `turbo.json:2:13: not valid JSON: ',', expected a name in quotes`},
		{"a wrong type", "turbo", "turbo.json", `{"tasks": [1]}`, `turbo.json:1:11: "tasks" is a list, expected an object`},
		{"no object", "nx", "nx.json", `[]`, `nx.json:1:1: the file holds a list, expected an object`},
		{"a bomb", "task", "Taskfile.yml", bomb, `not valid YAML: aliases stand for more than`},
		{"a key twice", "moon", ".moon/workspace.yml", "projects: []\nprojects: []\n", `.moon/workspace.yml:2: `},
		{"too large", "rush", "rush.json", strings.Repeat(" ", 1<<20) + "{}", `rush.json:1:1: larger than 1 MiB`},
		{"deep", "lerna", "lerna.json", strings.Repeat(`{"a":`, 5000), `lerna.json:1:5006: not valid JSON: nested deeper than`},
	} {
		m := Read(tree(t, map[string]string{c.file: c.text}), []string{c.tool})
		if len(m.Problems) != 1 || !strings.Contains(m.Problems[0].String(), c.want) {
			t.Errorf("%s: %v, want %s", c.name, m.Problems, c.want)
		}
	}
	outside := filepath.Join(t.TempDir(), "turbo.json")
	if err := os.WriteFile(outside, []byte(`{"tasks": {"build": {"cache": false}}}`), 0o644); err != nil {
		t.Fatal(err)
	}
	src := tree(t, nil)
	if err := os.Symlink(outside, filepath.Join(src.Files.Root(), "turbo.json")); err != nil {
		t.Fatal(err)
	}
	if ids := Present(src.Files); len(ids) > 0 {
		t.Errorf("a file outside was found: %v", ids)
	}
	if m := Read(src, everyTool()); len(m.Tables)+len(m.Files) > 0 {
		t.Errorf("a file outside was read: %+v", m)
	}
}

// TestBounds: named inputs that double at each step are expanded once each, and a file that declares
// too many tasks for too many dishes is refused.
func TestBounds(t *testing.T) {
	t.Parallel()
	named := `"n0": ["{projectRoot}/x"]`
	for i := range 60 {
		named += fmt.Sprintf(`, "n%d": ["n%d", "n%d"]`, i+1, i, i)
	}
	m := Read(tree(t, map[string]string{"nx.json": `{"namedInputs": {` + named + `}, "targetDefaults": {"build": {"inputs": ["n60"]}}}`}), []string{"nx"})
	if text := m.Tables[0].Text(""); !strings.Contains(text, `inputs = ["x"]`) {
		t.Errorf("the inputs are not expanded:\n%s", text)
	}
	var tasks []string
	src := tree(t, nil)
	for i := range 150 {
		tasks = append(tasks, fmt.Sprintf(`"t%d": {"cache": false}`, i))
		src.Dishes[1].Tasks = append(src.Dishes[1].Tasks, fmt.Sprintf("t%d", i))
	}
	for i := range 150 {
		src.Dishes = append(src.Dishes, Dish{Name: fmt.Sprint("d", i), Path: fmt.Sprint("d", i), Tasks: src.Dishes[1].Tasks})
	}
	if err := os.WriteFile(filepath.Join(src.Files.Root(), "turbo.json"), []byte(`{"tasks": {`+strings.Join(tasks, ",")+`}}`), 0o644); err != nil {
		t.Fatal(err)
	}
	m = Read(src, []string{"turbo"})
	if len(m.Problems) != 1 || !strings.Contains(m.Problems[0].Message, "declares more than 20000 tasks") {
		t.Errorf("%v, want one problem of too many tasks", m.Problems)
	}
}
