package main

import (
	"context"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/bentobuild/bento/adapters"
)

// shown returns the commands of bento that a document shows, one a line.
func shown(t *testing.T, name string) (lines [][]string) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", filepath.FromSlash(name)))
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range regexp.MustCompile(`(?m)^(?:    |\$ |    \$ )bento (.*)$`).FindAllStringSubmatch(string(text), -1) {
		line, _, _ := strings.Cut(m[1], " #")
		if words := strings.Fields(strings.TrimSuffix(line, "&")); !strings.ContainsAny(line, "|<>…'\"") {
			lines = append(lines, words)
		}
	}
	return lines
}

// TestShownCommands: the commands of the documents are there, and have their flags.
func TestShownCommands(t *testing.T) {
	t.Parallel()
	for _, doc := range []string{"README.md", "docs/tour.md", "docs/commands.md", "docs/configuration.md", "docs/languages.md", "docs/adapters.md"} {
		for _, words := range shown(t, doc) {
			root := newRoot(&session{process: process{out: io.Discard, err: io.Discard, environ: adapters.NewEnviron(nil)}})
			cmd, rest, err := root.Find(words)
			if err == nil && cmd == root {
				t.Errorf("%s: bento %s is no command", doc, strings.Join(words, " "))
			} else if err == nil {
				err = cmd.ParseFlags(rest)
			}
			if err != nil {
				t.Errorf("%s: bento %s: %v", doc, strings.Join(words, " "), err)
			}
		}
	}
}

// TestReadme runs what README.md says to use, in the order in which it does.
func TestReadme(t *testing.T) {
	t.Parallel()
	git := needTool(t, "git")
	root := t.TempDir()
	write(t, root, "api/dish.toml", "language = \"none\"\n[tasks.build]\nrun = \"true\"\n[tasks.test]\nrun = \"true\"\n[tasks.serve]\nrun = \"echo served\"\n")
	for _, args := range [][]string{{"init", "-q"}, {"add", "."}, {"commit", "-qm", "one"}, {"commit", "-qm", "two", "--allow-empty"}} {
		cmd := exec.Command(git, append([]string{"-c", "user.name=n", "-c", "user.email=e"}, args...)...)
		cmd.Dir = root
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %q: %v\n%s", args, err, out)
		}
	}
	ran := 0
	for _, words := range shown(t, "README.md") {
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
		defer cancel()
		cmd := exec.CommandContext(ctx, needTool(t, "bento"), words...)
		cmd.Dir, cmd.Env = root, append(os.Environ(), "BENTO_CACHE_DIR="+filepath.Join(root, ".git", "cache"))
		switch words[0] {
		case "watch", "add": // one does not end, one wants a package
			continue
		case "dish":
			cmd.Dir = t.TempDir()
			write(t, cmd.Dir, "bento.toml", "")
		}
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("bento %q: %v\n%s", words, err, out)
		}
		ran++
	}
	if ran < 10 {
		t.Errorf("README.md shows %d commands", ran)
	}
}
