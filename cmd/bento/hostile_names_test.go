//go:build linux

package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/bentobuild/bento/diagnostics"
	"github.com/bentobuild/bento/internal/sampling"
)

// nasty returns texts that would steer a terminal, or look like lines of bento itself.
func nasty() []string {
	return []string{
		"esc\x1b[2J\x1b[31m", "osc\x1b]0;title\x07", "osc8\x1b]8;;x\x1b\\", "csi\u009b31m", "bidi\u202egpj.exe\u2066", "cr\rbento: all is well",
		"newline\n::error::evil", "bs\b\b\b\x7f", "invalid\xff\xfe\xc3", "long" + strings.Repeat("x", 200), "line\nbento: all is well", "separator\u2028\u2029", "zero\u200b\u2060\ufeffwidth\u00ad\U000e0041",
		"dcs\x1bPq#1\x1b\\", "apc\x1b_x\x1b\\", "nel\u0085bento: all is well", "vt\v\fbento: all is well", "isolate\u061c\u2067x\u2069",
	}
}

// TestNastyFiles: when only files and links have nasty names, the commands succeed, and no name that they print
// steers the terminal or begins a line.
func TestNastyFiles(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	write(t, root, "bento.toml", "")
	write(t, root, "a/dish.toml", "name = \"a\"\nlanguage = \"none\"\n[tasks.build]\nrun = \"mkdir -p out; cp -P to-* out/; echo made > out/made\"\noutputs = [\"out/**\"]\n")
	for _, name := range nasty() {
		write(t, root, filepath.Join("a", name), "x")
		if err := os.Symlink(name, filepath.Join(root, "a", "to-"+strconv.Itoa(len(name))+name)); err != nil {
			t.Fatal(err)
		}
	}
	for _, line := range []string{"run build", "why a:build --all", "plan", "artifacts", "last", "clean --dry-run", "run build --no-cache -v"} {
		for _, more := range []string{"", " --json"} {
			if code := looksClean(t, root, strings.Fields(line+more)); code != exitOK {
				t.Errorf("bento %s%s: exit %d", line, more, code)
			}
		}
	}
}

// TestNastyNames: bento escapes nasty names of files, links, tasks and dishes and nasty texts of TOML on a
// terminal, and every document is valid JSON.
func TestNastyNames(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	write(t, root, "bento.toml", "")
	write(t, root, "a/dish.toml", "language = \"none\"\n[tasks.build]\nrun = \"true\"\n[tasks.build.env]\nX = \"\\u001b[31m\\u202e\\rx\"\n")
	for _, name := range nasty() {
		write(t, root, filepath.Join("a", name), "x")
		if err := os.Symlink(name, filepath.Join(root, "a", "to-"+strconv.Itoa(len(name))+name)); err != nil {
			t.Fatal(err)
		}
		write(t, root, filepath.Join("n"+name, "package.json"), `{"name": `+strconv.Quote(strings.ToValidUTF8(name, "?"))+`, "scripts": {"build": "true", `+jsonText(name)+`: "true"}}`)
		write(t, root, filepath.Join("b"+name, "go.mod"), "module "+name+"\n\ngo \x1b[31m"+name+"\n")
		write(t, root, filepath.Join("c"+name, "dish.toml"), "name = "+jsonText(name)+"\nlanguage = "+jsonText(name)+"\n"+jsonText(name)+" = 1\n[tasks."+jsonText(name)+"]\nrun = 1\n")
		write(t, root, filepath.Join("bentos", "x"+name+".toml"), "dishes = ["+jsonText(name)+"]\n")
	}
	lines := sampling.Short(t, 5, []string{"plan", "why a:build --all", "graph", "graph --format dot", "dish list", "box list", "doctor", "toolchain list", "run build", "artifacts",
		"last", "clean --dry-run", "plan --since HEAD", "plugin list", "explain"})
	for _, line := range lines {
		for _, more := range []string{"", " --json"} {
			if more != "" && strings.Contains(line, "--format") {
				continue
			}
			looksClean(t, root, strings.Fields(line+more))
		}
	}
	for _, name := range sampling.Short(t, 9, nasty()) {
		for _, args := range [][]string{{"run", name}, {"plan", name}, {"why", name}, {"explain", name}, {name}, {"--" + name}, {"plan", "-C", name}, {"plan", "--since", name}} {
			looksClean(t, root, args)
		}
	}
}

// jsonText quotes a text in the syntax of JSON, which TOML accepts too.
func jsonText(s string) string {
	text, _ := json.Marshal(strings.ToValidUTF8(s, "?"))
	return string(text)
}

// looksClean checks that the output of a command line has no sequence that steers a terminal. It returns the
// exit code.
func looksClean(t *testing.T, root string, args []string) int {
	t.Helper()
	var out, said strings.Builder
	cmd := exec.Command(builtBento(t), args...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = root, &out, &said
	cmd.Env = append(os.Environ(), "BENTO_CACHE_DIR="+filepath.Join(root, ".cache"), "HOME="+root)
	_ = cmd.Run()
	for stream, text := range map[string]string{"stdout": out.String(), "stderr": said.String()} {
		if i := strings.IndexFunc(text, steers); i >= 0 || !utf8.ValidString(text) {
			i = max(i, 0)
			t.Errorf("bento %q, %s: %q", args, stream, text[max(0, i-80):min(len(text), i+40)])
		}
		for line := range strings.Lines(text) {
			if strings.HasPrefix(line, "::error::") || strings.HasPrefix(line, "bento: all is well") {
				t.Errorf("bento %q, %s: a line of its own: %q", args, stream, line)
			}
		}
	}
	if args[len(args)-1] == "--json" && !json.Valid([]byte(out.String())) {
		t.Errorf("bento %q: stdout is no JSON document: %.200q", args, out.String())
	}
	return cmd.ProcessState.ExitCode()
}

func steers(r rune) bool {
	return r != '\n' && r != '\t' && diagnostics.Unprintable(r)
}
