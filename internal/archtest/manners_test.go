package archtest

import (
	"bytes"
	"go/ast"
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestNoInit: no package has an init function; its user makes the values that it needs.
func TestNoInit(t *testing.T) {
	for _, s := range sources(t) {
		for _, decl := range s.ast.Decls {
			if f, ok := decl.(*ast.FuncDecl); ok && f.Recv == nil && f.Name.Name == "init" {
				t.Errorf("%s: func init; give the package a constructor", s.fset.Position(f.Pos()))
			}
		}
	}
}

func TestPackageComments(t *testing.T) {
	files := byPackage(sources(t))
	for _, pkg := range slices.Sorted(maps.Keys(files)) {
		documented := func(s *source) bool { return s.ast.Doc.Text() != "" }
		if !slices.ContainsFunc(files[pkg], documented) {
			t.Errorf("package %s says nowhere what it is; put a comment above a package clause", pkg)
		}
	}
}

// threads are the files that may lock a goroutine to its thread, and why no thread ends
// of it.
var threads = map[string]string{
	"internal/proc/terminal_linux.go":              "unlocks it again",
	"internal/proc/family_linux.go":                "unlocks it again",
	"internal/sandbox/enter_linux.go":              "becomes another program",
	"internal/sandbox/rules_linux.go":              "becomes another program",
	"internal/observe/start_linux.go":              "becomes another program, or never ends",
	"internal/observe/listen_linux.go":             "unlocks it again",
	"cache/cachetest/faults_linux.go":              "unlocks it again; in tests",
	"internal/sandbox/sandboxtest/lesser_linux.go": "becomes another program, or ends; in tests",
	"internal/growth/growth.go":                    "unlocks it again; in tests",
}

// TestThreadsLive: a thread ends with the goroutine that is locked to it, and Linux kills the
// children that it has forked, also those of other goroutines before (golang.org/issue/27505). Package proc forks children on any thread.
func TestThreadsLive(t *testing.T) {
	for _, s := range sources(t) {
		ast.Inspect(s.ast, func(n ast.Node) bool {
			if sel, ok := n.(*ast.SelectorExpr); ok && sel.Sel.Name == "LockOSThread" && !s.test && threads[s.path] == "" {
				t.Errorf("%s: locks a goroutine to its thread; children die when one ends so; name it above when none does", s.fset.Position(sel.Pos()))
			}
			return true
		})
	}
}

// TestAdaptersAskByTheTable: adapters start processes only through internal/probe. They take the
// leave to run a program from the request that they received, and never make one.
func TestAdaptersAskByTheTable(t *testing.T) {
	starts := []string{"StartProcess", "ForkExec", "Exec", "PosixSpawn"}
	requests := []string{"InstallRequest", "AddRequest", "RunRequest"}
	for _, s := range sources(t) {
		if s.test || !below("adapters/**", s.dir()) || below("adapters/adaptertest/**", s.dir()) {
			continue
		}
		ast.Inspect(s.ast, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.SelectorExpr:
				if of, ok := n.X.(*ast.Ident); ok && (of.Name == "os" || of.Name == "syscall" || of.Name == "unix") && slices.Contains(starts, n.Sel.Name) {
					t.Errorf("%s: starts a process; ask or run through internal/probe", s.fset.Position(n.Pos()))
				}
			case *ast.CompositeLit:
				if of, ok := n.Type.(*ast.SelectorExpr); ok && slices.Contains(requests, of.Sel.Name) {
					t.Errorf("%s: makes a request of its own, and with it a leave", s.fset.Position(n.Pos()))
				}
			}
			return true
		})
	}
}

// waiting is, by file, the reason why os.Open and os.ReadFile may be used there. Elsewhere they must
// not: they would wait for ever for the writer of a named pipe, and read a device to its end.
var waiting = map[string]string{
	"cmd/bento/workers.go":              "of /proc",
	"cmd/bento/memory_linux.go":         "of /proc and the control groups",
	"internal/owner/groups.go":          "of /etc",
	"internal/sandbox/group_linux.go":   "of /proc and the control groups",
	"internal/observe/sockets_linux.go": "of /proc",
	"adapters/golang/modcopy.go":        "after a look at its kind, in an install",
}

// TestFilesAreOpenedWithoutWaiting checks that the program opens files with O_NONBLOCK, or by a
// package that does, and directories with O_DIRECTORY, as os.ReadDir does.
func TestFilesAreOpenedWithoutWaiting(t *testing.T) {
	used := make(map[string]bool)
	for _, s := range sources(t) {
		kit := slices.Contains([]string{"adapters/adaptertest", "cache/remote/servertest", "cache/cachetest", "internal/browsertest", "internal/bench", "internal/growth", "internal/release", "internal/shortened", "internal/testlog", "internal/sandbox/sandboxtest", "internal/testrun", "plugin/plugintest"}, s.dir())
		if s.test || kit || strings.HasPrefix(s.path, "examples/") || strings.HasPrefix(s.path, "scripts/") {
			continue
		}
		ast.Inspect(s.ast, func(n ast.Node) bool {
			call, ok := n.(*ast.SelectorExpr)
			if !ok || !isName(call.X, "os") || call.Sel.Name != "Open" && call.Sel.Name != "ReadFile" {
				return true
			}
			used[s.path] = true
			if waiting[s.path] == "" {
				t.Errorf("%s: os.%s waits for a named pipe; open with O_NONBLOCK, or read through internal/clone or snapshot.Source", s.fset.Position(n.Pos()), call.Sel.Name)
			}
			return true
		})
	}
	for name := range waiting {
		if !used[name] {
			t.Errorf("%s uses neither; remove it from the table", name)
		}
	}
}

// vague are names that do not describe the content of a package.
var vague = []string{"util", "utils", "common", "core", "types", "models", "helpers", "helper", "pkg"}

func TestPackageNames(t *testing.T) {
	for pkg := range byPackage(sources(t)) {
		for _, part := range strings.Split(pkg, "/") {
			if slices.Contains(vague, part) {
				t.Errorf("package %s: %q does not say what is inside", pkg, part)
			}
		}
	}
}

// vagueFiles are names of files that collect declarations, which belong beside their uses.
var vagueFiles = []string{"types.go", "errors.go", "helpers.go", "utils.go", "util.go", "common.go", "misc.go", "constants.go", "interfaces.go"}

func TestFileNames(t *testing.T) {
	for _, s := range sources(t) {
		if slices.Contains(vagueFiles, path.Base(s.path)) {
			t.Errorf("%s: split by idea, not by kind of declaration", s.path)
		}
	}
}

// unwanted are the texts that no file may have.
var unwanted = []struct {
	text *regexp.Regexp
	why  string
}{
	{regexp.MustCompile(`(^|[^\w.*/-])/(wor[k]|tmp/tea[m])/`), "a path of one machine"},
	{regexp.MustCompile(`"resolved": *"https?:`), "a lockfile that names the registry it was made with; npm config set omit-lockfile-registry-resolved true"},
	{regexp.MustCompile(`(?m)^(<{7} |>{7} |={7}$)`), "a conflict that was left in"},
}

func TestUnwantedText(t *testing.T) {
	for _, name := range tracked(t) {
		data, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(name)))
		if err != nil || bytes.IndexByte(data, 0) >= 0 {
			continue
		}
		for _, u := range unwanted {
			if at := u.text.FindIndex(data); at != nil {
				line := 1 + bytes.Count(data[:at[0]], []byte("\n"))
				t.Errorf("%s:%d: %q: %s", name, line, data[at[0]:at[1]], u.why)
			}
		}
	}
}
