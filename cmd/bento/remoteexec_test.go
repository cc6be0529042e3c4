package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/adapters/builtin"
	"github.com/bentobuild/bento/adapters/snapshot"
	"github.com/bentobuild/bento/cache/remote/servertest"
	"github.com/bentobuild/bento/internal/remoteexec"
)

// TestScriptWithWorkers runs the scripts of testdata/workers with real servers that execute actions, whose URL is $SERVER.
func TestScriptWithWorkers(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob(filepath.Join("testdata", "workers", "*.txtar"))
	if err != nil || len(files) == 0 {
		t.Fatalf("%d scripts, %v", len(files), err)
	}
	for name, open := range map[string]func(*testing.T) string{
		"BuildGrid":     func(t *testing.T) string { return servertest.OpenGrid(t, 2, "").GRPC },
		"buildbox-casd": func(t *testing.T) string { return servertest.Workers(t).GRPC },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := "grpc://" + open(t)
			runScriptsWith(t, "", files, func(env *testscript.Env) { env.Setenv("SERVER", server) })
		})
	}
}

// TestEveryAdapterIsPortable: a worker can be asked for the toolchain of every built-in adapter, each says what a worker needs of an
// install, and the page has a row for it.
func TestEveryAdapterIsPortable(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile(filepath.Join("..", "..", "docs", "remote-execution.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, table, _ := strings.Cut(string(page), "| adapter | what a worker gets |")
	table, _, _ = strings.Cut(table, "\n\n")
	for _, a := range builtin.All(snapshot.Options{}) {
		id := a.Manifest().AdapterID
		if _, ok := a.(adapters.Porter); !ok || !remoteexec.CanAsk(id) {
			t.Errorf("%s: Porter: %t, has a question: %t", id, ok, remoteexec.CanAsk(id))
		}
		if !regexp.MustCompile(`(?m)^\| ([^|]*, )?` + id + `[ ,]`).MatchString(table) {
			t.Errorf("the table lacks %s", id)
		}
	}
}

// TestRemoteExecutionPage follows the walk-throughs of docs/remote-execution.md. The workers of BuildGrid are those of the tests.
func TestRemoteExecutionPage(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(filepath.Join("..", "..", "docs", "remote-execution.md"))
	if err != nil {
		t.Fatal(err)
	}
	page := string(text)
	dish, commands := codeAfter(t, page, "has a task:"), codeAfter(t, page, "Then:")
	follow := func(t *testing.T, config, address string) {
		t.Helper()
		root := t.TempDir()
		write(t, root, "bento.toml", regexp.MustCompile(`127\.0\.0\.1:\d+`).ReplaceAllLiteralString(config, address))
		write(t, root, "hello/dish.toml", dish)
		ran := ""
		for _, line := range strings.Split(strings.TrimSpace(commands), "\n") {
			words := strings.Fields(strings.TrimPrefix(line, "$ bento "))
			cmd := exec.Command(builtBento(t), words...)
			cmd.Dir, cmd.Env = root, append(os.Environ(), "BENTO_CACHE_DIR="+t.TempDir())
			out, err := cmd.CombinedOutput()
			if err != nil {
				t.Errorf("%s: %v\n%s", line, err, out)
			}
			ran += string(out)
		}
		for _, want := range []string{"executes tasks", "on a worker", "remote execution: 1 task\n", "a worker executes it"} {
			if !strings.Contains(ran, want) {
				t.Errorf("the commands do not print %q:\n%s", want, ran)
			}
		}
		if made, _ := os.ReadFile(filepath.Join(root, "hello/out/text")); string(made) != "hello from /bento/w/hello\n" {
			t.Errorf("made %q", made)
		}
	}
	t.Run("one machine", func(t *testing.T) {
		t.Parallel()
		follow(t, codeAfter(t, page, "bento.toml names it:"), servertest.Workers(t).GRPC)
	})
	t.Run("cluster", func(t *testing.T) {
		t.Parallel()
		follow(t, codeAfter(t, page, "Now bento.toml chooses the workers:"), servertest.OpenGrid(t, 2, codeAfter(t, page, "server.yml has its configuration:")).GRPC)
	})
}

// codeAfter returns the indented block of a page behind a line.
func codeAfter(t *testing.T, page, line string) string {
	t.Helper()
	_, rest, found := strings.Cut(page, line+"\n\n")
	code, _, _ := strings.Cut(rest, "\n\n")
	if !found {
		t.Fatalf("the page lacks %q", line)
	}
	return strings.ReplaceAll("\n"+code, "\n    ", "\n") + "\n"
}
