package golang

import (
	"bytes"
	"context"
	"go/parser"
	"go/token"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/adapters/snapshot"
)

// lifecycle returns the recipes of every module.
func lifecycle() []adapters.Task {
	return []adapters.Task{
		{Name: "build", Run: "go build ./...", SkipsPrivate: true},
		{Name: "check", Run: "go vet ./..."},
		{Name: "test", Run: "go test ./..."},
	}
}

// scripts returns the tasks that run by name only. Benchmarks measure the machine, and the
// others run for their effects.
func scripts(f *snapshot.Files) []adapters.Task {
	list := []adapters.Task{
		{Name: "bench", Run: "go test -run '^$' -bench . ./...", Script: true, NoCache: true},
		{Name: "format", Run: "go fmt ./...", Script: true, NoCache: true, SideEffects: true},
	}
	if f.IsFile("main.go") {
		list = append(list, adapters.Task{Name: "run", Run: "go run .", Script: true, NoCache: true, SideEffects: true})
	}
	return list
}

// Tasks implements adapters.TaskLister.
func (a *Adapter) Tasks(_ context.Context, dir string) (adapters.TasksAnswer, error) {
	f := a.Files(dir)
	p, err := a.project(f)
	if err != nil {
		return adapters.TasksAnswer{}, err
	}
	answer := adapters.TasksAnswer{Aggregate: p.mod == nil, Members: p.members()}
	if p.noWork {
		answer.Notes = []string{"GOWORK=off: the go.work above does not use this module"}
	}
	if p.mod != nil {
		if answer.Tasks, err = a.tasks(f, p); err != nil {
			return adapters.TasksAnswer{}, err
		}
	}
	if _, err := a.pin(f, p); err != nil {
		return adapters.TasksAnswer{}, err
	}
	answer.Reads = f.Reads()
	return answer, nil
}

func (a *Adapter) tasks(f *snapshot.Files, p *project) ([]adapters.Task, error) {
	count, only := packages(f, p.mod)
	if count == 0 {
		return nil, nil // go vet and go test fail without packages
	}
	list := lifecycle()
	if count == 1 {
		list[0] = a.single(f, list[0], executable(p, only))
		if len(list[0].Outputs) > 0 && isCommand(f, only) {
			// Else the next git add would add an executable beside the sources.
			list[0].Instead = []adapters.Alternative{
				{Path: "bin/" + strings.TrimSuffix(list[0].Outputs[0], "/**"), Run: "go build -o bin/ ./...", Outputs: []string{"bin/**"}}, {Run: discard},
			}
		}
	}
	list = append(list, lint(f, p.mod)...)
	list = append(list, scripts(f)...)
	above, err := a.above(f, p)
	if err != nil {
		return nil, err
	}
	for i := range list {
		list[i].ExtraInputs = append(list[i].ExtraInputs, above...)
		list[i].Env = p.env()
	}
	return list, nil
}

// discard compiles and links every package, and writes nothing into the sources.
const discard = "go build -o " + os.DevNull + " ./..."

// single returns the build of a module with one package. For a command, go build writes an
// executable of this name, and fails when another file has it.
func (a *Adapter) single(f *snapshot.Files, build adapters.Task, name string) adapters.Task {
	if name == "" || strings.HasPrefix(name, ".") || strings.ContainsAny(name, `*?[]{}\!/`) {
		return build // a name that go or a glob does not allow
	}
	if a.env.Get("GOOS") == "windows" {
		name += ".exe"
	}
	if f.IsDir(name) || f.IsFile(name) && !isObject(f.Whole(name)) {
		build.Run = discard
		return build
	}
	// As a pattern: go build writes no executable for a library or with a build mode of its
	// own.
	build.Outputs = []string{name + "/**"}
	return build
}

// isCommand reports whether the package in dir is a command, by the first of its sources that is no test
// and is not left out by a build constraint.
func isCommand(f *snapshot.Files, dir string) bool {
	for _, e := range f.List(dir) {
		if name := e.Name(); e.IsDir() || !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") || name[0] == '.' || name[0] == '_' {
			continue
		}
		data, err := f.Read(filepath.Join(dir, e.Name()))
		if err != nil {
			return false
		}
		file, err := parser.ParseFile(token.NewFileSet(), "", data, parser.PackageClauseOnly|parser.ParseComments)
		if err != nil {
			return false // go build reports it
		}
		if !bytes.Contains(data[:file.Package-1], []byte("//go:build")) {
			return file.Name.Name == "main"
		}
	}
	return false
}

// executable returns the name that go build uses for the command in dir (DefaultExecName in
// cmd/go/internal/load).
func executable(p *project, dir string) string {
	rel, err := filepath.Rel(p.dir, dir)
	if err != nil {
		rel = "."
	}
	importPath := path.Join(p.mod.Name, filepath.ToSlash(rel))
	elem := path.Base(importPath)
	if elem != importPath && isVersion(elem) {
		elem = path.Base(path.Dir(importPath))
	}
	return elem
}

// isVersion reports whether the last element of a path is a major version: v2, v3.
func isVersion(elem string) bool {
	digits, ok := strings.CutPrefix(elem, "v")
	return ok && digits != "" && digits[0] != '0' && digits != "1" && strings.Trim(digits, "0123456789") == ""
}

// isObject reports whether a file begins like an executable or object file, which go build
// overwrites.
func isObject(path string) bool {
	file, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return false
	}
	defer file.Close()
	head := make([]byte, 8)
	n, _ := file.Read(head)
	return slices.ContainsFunc(objectMagic(), func(magic []byte) bool { return bytes.HasPrefix(head[:n], magic) })
}

// objectMagic is the table of the same name in cmd/go/internal/work.
func objectMagic() [][]byte {
	return [][]byte{
		[]byte("!<arch>\n"), []byte("<bigaf>\n"), []byte("\x7FELF"), []byte("go object"),
		{0xFE, 0xED, 0xFA, 0xCE}, {0xFE, 0xED, 0xFA, 0xCF}, {0xCE, 0xFA, 0xED, 0xFE}, {0xCF, 0xFA, 0xED, 0xFE},
		{0x4d, 0x5a, 0x90, 0x00, 0x03, 0x00}, {0x4d, 0x5a, 0x78, 0x00, 0x01, 0x00},
		{0x00, 0x00, 0x01, 0xEB}, {0x00, 0x00, 0x8a, 0x97}, {0x00, 0x00, 0x06, 0x47},
		{0x00, 0x61, 0x73, 0x6D}, {0x01, 0xDF}, {0x01, 0xF7},
	}
}

// above returns the files outside the dish that change its tasks: the workspace, its
// vendored modules, and the go.mod of its other members, which take part in choosing
// versions.
func (a *Adapter) above(f *snapshot.Files, p *project) ([]string, error) {
	if p.work == nil {
		return nil, nil
	}
	var files []string
	if top := p.work.Dir(); top != p.dir {
		files = append(files, p.work.File, filepath.Join(top, "go.work.sum"))
		if f.IsFile(filepath.Join(top, "vendor", "modules.txt")) {
			files = append(files, filepath.Join(top, "vendor"))
		}
	}
	siblings, err := a.siblings(f, p)
	for _, s := range siblings {
		files = append(files, filepath.Join(s.dir, "go.mod"))
	}
	return files, err
}
