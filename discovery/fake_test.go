package discovery

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/diagnostics"
	"github.com/bentobuild/bento/internal/config"
	"github.com/bentobuild/bento/internal/dish"
	"github.com/bentobuild/bento/internal/tree"
)

// toy is the adapter of a small language. A project is a directory with the file
// <id>.toy. Each line of the file is an answer:
//
//	member DIR | link DIR | dev DIR | shared DIR | needs NAME | provides NAME | pin VERSION | aggregate
//	fail CALL CODE | broken LINE | unsure
type toy struct {
	manifest adapters.Manifest

	mu    sync.Mutex
	calls []string
}

func newToy(id, family string, more ...string) *toy {
	return &toy{manifest: adapters.Manifest{
		AdapterID: id, Family: family, Runtime: family,
		FingerprintFiles: append([]string{id + ".toy"}, more...),
		DerivedPaths:     []string{"made/**"},
		Projects:         []string{id + ".toy"},
	}}
}

func (a *toy) Manifest() *adapters.Manifest { return &a.manifest }

// lines returns the answers of a call, or its failure.
func (a *toy) lines(call, dir string) ([][]string, error) {
	a.mu.Lock()
	a.calls = append(a.calls, call+" "+filepath.Base(dir))
	a.mu.Unlock()
	path := filepath.Join(dir, a.manifest.AdapterID+".toy")
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var lines [][]string
	for i, line := range strings.Split(string(data), "\n") {
		words := append(strings.Fields(line), "", "")
		switch {
		case words[0] == "fail" && words[1] == call && words[2] == "":
			return nil, errors.New(call + " went wrong")
		case words[0] == "fail" && words[1] == call:
			return nil, &adapters.Failure{Code: adapters.Code(words[2]), Adapter: a.manifest.AdapterID, Call: call, Dir: dir, Message: "no answer", Hint: "look"}
		case words[0] == "broken" && call == "tasks":
			return nil, diagnostics.Problems{{File: path, Line: i + 1, Severity: diagnostics.Error, Message: "bad line", Source: diagnostics.Source}}
		}
		lines = append(lines, append(words, strconv.Itoa(i+1)))
	}
	return lines, nil
}

func (a *toy) Detect(_ context.Context, dir string) (bool, error) {
	_, err := a.lines("detect", dir)
	if errors.Is(err, os.ErrNotExist) {
		return false, nil
	}
	return err == nil, err
}

func (a *toy) Tasks(_ context.Context, dir string) (adapters.TasksAnswer, error) {
	lines, err := a.lines("tasks", dir)
	out := adapters.TasksAnswer{Tasks: []adapters.Task{{Name: "build", Run: "true"}}}
	for _, l := range lines {
		switch l[0] {
		case "unsure":
			line, _ := strconv.Atoi(l[len(l)-1])
			out.Warnings = append(out.Warnings, diagnostics.Diagnostic{
				File: filepath.Join(dir, a.manifest.AdapterID+".toy"), Line: line, Severity: diagnostics.Warning, Message: "unknown", Source: diagnostics.Source,
			})
		case "member":
			out.Members = append(out.Members, filepath.Join(dir, l[1]))
		case "aggregate":
			out.Aggregate = true
		}
	}
	return out, err
}

func (a *toy) Links(_ context.Context, dir string) (adapters.LinksAnswer, error) {
	lines, err := a.lines("links", dir)
	var out adapters.LinksAnswer
	for _, l := range lines {
		link := adapters.Link{File: filepath.Join(dir, a.manifest.AdapterID+".toy"), Dev: l[0] == "dev"}
		link.Line, _ = strconv.Atoi(l[len(l)-1])
		switch l[0] {
		case "link", "dev":
			link.Dir = filepath.Join(dir, l[1])
			out.Links = append(out.Links, link)
		case "private":
			link.Dir, link.Private = filepath.Join(dir, l[1]), true
			out.Links = append(out.Links, link)
		case "deep":
			link.Dir, link.Deep = filepath.Join(dir, l[1]), true
			out.Links = append(out.Links, link)
		case "shared":
			link.Dir, link.Shared = filepath.Join(dir, l[1]), true
			out.Links = append(out.Links, link)
		case "needs":
			link.Package = l[1]
			out.Links = append(out.Links, link)
		case "provides":
			out.Provides = append(out.Provides, l[1])
		}
	}
	return out, err
}

func (a *toy) RequiredToolchain(_ context.Context, dir string) (*adapters.Toolchain, error) {
	lines, err := a.lines("pin", dir)
	for _, l := range lines {
		if l[0] == "pin" {
			return &adapters.Toolchain{Tool: a.manifest.AdapterID + "c", Version: l[1]}, nil
		}
	}
	return nil, err
}

func (a *toy) ToolchainFingerprint(context.Context, string) (string, error) { return "", nil }

func (a *toy) Install(context.Context, adapters.InstallRequest, adapters.LogFunc) error { return nil }

func (a *toy) ParseDiagnostics(context.Context, adapters.ParseRequest) ([]diagnostics.Diagnostic, error) {
	return nil, nil
}

// toys returns adapters of two families: "aa" and "ab" share manifests, "bb" does not.
func toys() []adapters.Adapter {
	return []adapters.Adapter{newToy("aa", "fam"), newToy("ab", "fam"), newToy("bb", "")}
}

// find runs Find on files with toys. The function change may change the options.
func find(t *testing.T, files map[string]string, change func(o *Options)) (*dish.Workspace, []string) {
	t.Helper()
	return findIn(t, write(t, files), change)
}

func findIn(t *testing.T, root string, change func(o *Options)) (*dish.Workspace, []string) {
	t.Helper()
	walked, err := tree.Walk(t.Context(), root, &tree.Options{})
	if err != nil {
		t.Fatal(err)
	}
	cfg, problems := config.Load(root, "")
	o := Options{Tree: walked, Config: cfg, Registry: adapters.NewRegistry(toys()...)}
	if change != nil {
		change(&o)
	}
	ws, more := Find(t.Context(), o)
	return ws, messages(root, append(problems, more...))
}

// outline returns the dishes as "path name adapter".
func outline(ws *dish.Workspace) []string {
	var out []string
	for _, d := range ws.Dishes {
		id := "-"
		if d.Adapter != nil {
			id = d.Adapter.Manifest().AdapterID
		}
		out = append(out, d.Path+" "+d.Name+" "+id)
	}
	return out
}
