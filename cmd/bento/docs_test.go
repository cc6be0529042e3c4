package main

import (
	"context"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/adapters/builtin"
	"github.com/bentobuild/bento/adapters/snapshot"
	"github.com/bentobuild/bento/discovery"
	"github.com/bentobuild/bento/internal/report"
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

// TestShownCommands: the commands and flags that the documents show exist.
func TestShownCommands(t *testing.T) {
	t.Parallel()
	for _, doc := range []string{"README.md", "docs/install.md", "docs/tour.md", "docs/commands.md", "docs/configuration.md", "docs/discovery.md", "docs/languages.md", "docs/adapters.md", "docs/extensions.md"} {
		for _, words := range shown(t, doc) {
			root := newRoot(&session{process: process{out: io.Discard, err: io.Discard, environ: adapters.NewEnviron(nil)}}, "")
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

// TestReadme runs the commands of README.md in order.
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
		cmd := exec.CommandContext(ctx, builtBento(t), words...)
		cmd.Dir, cmd.Env = root, append(os.Environ(), "BENTO_CACHE_DIR="+filepath.Join(root, ".git", "cache"))
		switch words[0] {
		case "watch", "add": // watch does not end, add needs a package
			continue
		case "init":
			if len(words) > 1 {
				cmd.Dir = t.TempDir()
				write(t, cmd.Dir, "turbo.json", `{"tasks": {"build": {}}}`)
				write(t, cmd.Dir, "package.json", `{"name": "app", "scripts": {"build": "true"}}`)
			}
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

// TestDiscoveryPage compares the tables of docs/discovery.md with the rules of the adapters and of
// discovery.
func TestDiscoveryPage(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(filepath.Join("..", "..", "docs", "discovery.md"))
	if err != nil {
		t.Fatal(err)
	}
	var manifests, inside, reasons []string
	families := make(map[string][]string)
	for _, a := range builtin.All(snapshot.Options{}) {
		m := a.Manifest()
		families[m.FamilyName()] = append(families[m.FamilyName()], m.AdapterID)
		if _, decides := a.(adapters.Nester); !decides || m.Inside == "" || len(m.Projects) == 0 {
			t.Errorf("%s does not say which projects inside a dish are dishes", m.AdapterID)
		}
	}
	for _, a := range builtin.All(snapshot.Options{}) {
		m := a.Manifest()
		ids := families[m.FamilyName()]
		if ids[len(ids)-1] != m.AdapterID {
			continue
		}
		manifests = append(manifests, "| "+ticked(ids)+" | "+ticked(m.Projects)+" |")
		inside = append(inside, "| "+ticked(ids)+" | "+m.Inside+" |")
	}
	inside = append(inside, "| a plugin | it detects the directory, and one of its `fingerprint_files` lies there, unless its manifest says `nested: false` |")
	for _, e := range report.Codes() {
		if strings.Contains(e.Meaning, " is no dish, as ") {
			reasons = append(reasons, e.Code)
		}
	}
	for head, want := range map[string][]string{
		"| language | manifests |": manifests,
		"| language | inside another dish of the language, a directory is a dish if |": inside,
	} {
		if diff := cmp.Diff(want, rowsBelow(string(text), head)); diff != "" {
			t.Errorf("%s (-adapters +page):\n%s", head, diff)
		}
	}
	var listed []string
	for _, row := range rowsBelow(string(text), "| reason | meaning |") {
		listed = append(listed, strings.Split(row, "`")[1])
	}
	if diff := cmp.Diff(reasons, listed); diff != "" {
		t.Errorf("reasons (-codes +page):\n%s", diff)
	}
	if names := ticked(discovery.TestDataNames()); !strings.Contains(string(text), "\n"+names+"\n") {
		t.Errorf("the page does not list the names of test data: %s", names)
	}
}

// TestExtensionsPage compares the topics of docs/extensions.md with the published ones, and its example
// in Python with the template that bento ext new writes.
func TestExtensionsPage(t *testing.T) {
	t.Parallel()
	read := func(path ...string) string {
		text, err := os.ReadFile(filepath.Join(append([]string{"..", ".."}, path...)...))
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	var topics, listed []string
	for _, topic := range report.Topics() {
		topics = append(topics, topic.Name)
	}
	for _, row := range rowsBelow(read("docs", "extensions.md"), "| topic | when |") {
		listed = append(listed, strings.Split(row, "`")[1])
	}
	slices.Sort(topics)
	slices.Sort(listed)
	if diff := cmp.Diff(topics, listed); diff != "" {
		t.Errorf("topics (-published +page):\n%s", diff)
	}
	if read("examples", "extensions", "budget", "ainb.py") != read("plugin", "scaffold", "templates", "extension", "python", "ainb.py") {
		t.Error("ainb.py of the example is not that of the template")
	}
}

// ticked returns the words in backticks, separated by commas.
func ticked(words []string) string { return "`" + strings.Join(words, "`, `") + "`" }

// rowsBelow returns the rows of the table with the given header.
func rowsBelow(text, head string) (rows []string) {
	_, rest, _ := strings.Cut(text, head+"\n")
	for line := range strings.Lines(rest) {
		if !strings.HasPrefix(line, "|") {
			break
		}
		if row := strings.TrimSpace(line); !strings.HasPrefix(row, "|---") {
			rows = append(rows, row)
		}
	}
	return rows
}
