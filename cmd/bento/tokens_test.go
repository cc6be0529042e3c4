package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestFewTokens: the answers for coding agents are short. The number of words, numbers and signs is more than that of the
// tokens of common models.
func TestFewTokens(t *testing.T) {
	if testing.Short() {
		t.Skip("the go command compiles the standard library")
	}
	t.Parallel()
	needTool(t, "go")
	root := t.TempDir()
	write(t, root, "bento.toml", "")
	write(t, root, "api/go.mod", "module example.com/api\n\ngo 1.21\n")
	write(t, root, "api/a.go", "package api\n\n// F is tested.\nfunc F() int { return 1 }\n")
	test := "package api\n\nimport \"testing\"\n\nfunc TestF(t *testing.T) {\n\tif got := F(); got != WANT {\n\t\tt.Errorf(\"F() = %d, want WANT\", got)\n\t}\n}\n"
	write(t, root, "api/a_test.go", strings.ReplaceAll(test, "WANT", "1"))
	pieces := regexp.MustCompile(`\w+|[^\w\s]`)
	run := func(most int, args ...string) {
		t.Helper()
		cmd := exec.Command(builtBento(t), args...)
		cmd.Dir, cmd.Env = root, append(os.Environ(), "BENTO_CACHE_DIR="+filepath.Join(root, ".bento", "cache"), "CI=", "GITHUB_ACTIONS=")
		out, _ := cmd.CombinedOutput() // a failed test is expected
		if n := len(pieces.FindAll(out, -1)); n > most || n == 0 {
			t.Errorf("bento %s prints %d words and signs, want at most %d:\n%s", strings.Join(args, " "), n, most, out)
		}
	}
	a := agentIn(t, root, "--allow", "run")
	ask := func(most int, failed bool) {
		t.Helper()
		texts, isError := a.ask(t, "run", map[string]any{"tasks": []string{"build", "test"}})
		if n := len(pieces.FindAllString(strings.Join(texts, "\n"), -1)); n > most || isError != failed {
			t.Errorf("the tool run answers %d words and signs, want at most %d, failed %v:\n%s", n, most, isError, texts)
		}
	}
	run(60, "ci", "--output", "quiet")
	run(60, "ci")
	ask(60, false)
	ask(60, false) // hits
	write(t, root, "api/a_test.go", strings.ReplaceAll(test, "WANT", "2"))
	run(400, "ci", "--output", "quiet")
	run(400, "ci", "--no-cache")
	run(400, "test", "api")
	run(400, "last", "--findings")
	ask(400, true)
}
