// Package answer defines which answers of a plugin are valid. Each has a shape with bounds. The error of
// an invalid answer names the member, with the wanted and the received value. Unknown members are ignored.
package answer

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/plugin/wire"
	"github.com/bentobuild/bento/plugin/wire/shape"
)

// form is the required form of a method's results.
type form struct {
	shape *shape.Shape
	into  func() any
}

// forms returns the forms of results, by method.
func forms() map[string]form {
	return map[string]form{
		wire.MethodDetect:       {detectedShape(), func() any { return new(wire.Detected) }},
		wire.MethodToolchain:    {toolchainShape(), func() any { return new(*adapters.Toolchain) }},
		wire.MethodFingerprint:  {fingerprintShape(), func() any { return new(*string) }},
		wire.MethodDiagnostics:  {diagnosedShape(), func() any { return new(wire.Diagnosed) }},
		wire.MethodResolved:     {resolvedShape(), func() any { return new(*adapters.ResolvedToolchain) }},
		wire.MethodTasks:        {tasksAnswerShape(), func() any { return new(adapters.TasksAnswer) }},
		wire.MethodLinks:        {linksAnswerShape(), func() any { return new(adapters.LinksAnswer) }},
		wire.MethodScaffold:     {scaffoldedShape(), func() any { return new(wire.Scaffolded) }},
		wire.MethodInstallScope: {scopeShape(), func() any { return new(adapters.Scope) }},
	}
}

// Reader decodes results. It is safe for concurrent use.
type Reader struct{ forms map[string]form }

// NewReader makes a Reader.
func NewReader() *Reader { return &Reader{forms()} }

// Decode decodes the result of a method into the value that into points to, if it is valid.
// The results of a method without a form are all valid.
func (r *Reader) Decode(method string, result json.RawMessage, into any) error {
	if err := shape.Decode(result, r.forms[method].shape, into); err != nil {
		return err
	}
	switch a := into.(type) {
	case *adapters.TasksAnswer:
		return checkTasks("tasks", a.Tasks)
	case *adapters.LinksAnswer:
		return checkLinks(a)
	case *wire.Scaffolded:
		return checkScaffolded(a)
	case *adapters.Scope:
		return checkMade(a)
	}
	return nil
}

// Check returns an error that describes how the result of a method is invalid. Results of
// methods without a form are valid. ReadManifest does the same for initialize.
func Check(method string, result json.RawMessage) error {
	r := NewReader()
	f, ok := r.forms[method]
	if !ok {
		return nil
	}
	return r.Decode(method, result, f.into())
}

// InstallCommands returns the commands in the result of install, nil if it has none. A result that
// is no object is valid, and has none.
func InstallCommands(result json.RawMessage) ([][]string, error) {
	var installed wire.Installed
	if !bytes.HasPrefix(bytes.TrimSpace(result), []byte("{")) {
		return nil, nil
	}
	if err := shape.Decode(result, installedShape(), &installed); err != nil {
		return nil, err
	}
	for i, argv := range installed.Commands {
		if len(argv) == 0 || argv[0] == "" {
			return nil, fmt.Errorf("commands[%d]: expected a program and its arguments, got no program", i)
		}
	}
	return installed.Commands, nil
}

// Unknown returns the members in the result of a method that bento ignores.
func Unknown(method string, result json.RawMessage) []shape.Stranger {
	switch method {
	case wire.MethodInitialize:
		return shape.Unknown(result, manifestShape())
	case wire.MethodInstall:
		return shape.Unknown(result, installedShape())
	}
	return shape.Unknown(result, forms()[method].shape)
}

// checkMade checks that the paths that an install makes are inside its directory. It makes absolute paths
// relative, as all others are.
func checkMade(a *adapters.Scope) error {
	for i, made := range a.Made {
		if !filepath.IsAbs(made) {
			continue
		}
		rel, err := filepath.Rel(a.Dir, made)
		if err != nil || !filepath.IsLocal(rel) {
			return fmt.Errorf("made[%d]: expected a path in \"dir\", %q, got %.60q", i, a.Dir, made)
		}
		a.Made[i] = rel
	}
	return nil
}

// checkTasks checks rules that a shape cannot state: names are unique, variables have names, and no task
// depends on itself.
func checkTasks(path string, tasks []adapters.Task) error {
	seen := make(map[string]int, len(tasks))
	for i, t := range tasks {
		if first, ok := seen[t.Name]; ok {
			return fmt.Errorf("%s[%d].name: expected a unique name, got %q as in %s[%d]", path, i, t.Name, path, first)
		}
		seen[t.Name] = i
		for _, variable := range slices.Sorted(maps.Keys(t.Env)) { // sorted, so that the error is always the same
			if !isVariable(variable) {
				return fmt.Errorf("%s[%d].env: expected names of variables, got %.60q", path, i, variable)
			}
		}
	}
	return checkOrder(path, tasks, seen)
}

// checkOrder finds tasks that depend on themselves; index has the position of each task, by name. Tasks of
// other dishes and of dish.toml are unknown here.
func checkOrder(path string, tasks []adapters.Task, index map[string]int) error {
	const waits, done = 1, 2
	state := make([]int, len(tasks))
	var visit func(i int) error
	visit = func(i int) error {
		state[i] = waits
		for j, name := range tasks[i].DependsOn {
			next, ok := index[name]
			switch {
			case ok && state[next] == waits:
				return fmt.Errorf("%s[%d].depends_on[%d]: expected a task that does not wait for %q, got %q", path, i, j, tasks[i].Name, name)
			case ok && state[next] != done:
				if err := visit(next); err != nil {
					return err
				}
			}
		}
		state[i] = done
		return nil
	}
	for i := range tasks {
		if state[i] == 0 {
			if err := visit(i); err != nil {
				return err
			}
		}
	}
	return nil
}

func checkLinks(a *adapters.LinksAnswer) error {
	for i, l := range a.Links {
		if (l.Dir == "") == (l.Package == "") {
			return fmt.Errorf("links[%d]: expected one of dir and package", i)
		}
	}
	return nil
}

// checkScaffolded checks that a project has each file once, and that no file is bento's or git's.
func checkScaffolded(a *wire.Scaffolded) error {
	seen := make(map[string]bool)
	for i, f := range a.Files {
		clean := path.Clean(f.Path)
		first, _, _ := strings.Cut(clean, "/")
		switch {
		case clean == "." || clean != f.Path:
			return fmt.Errorf("files[%d].path: expected the path of a file, got %.60q", i, f.Path)
		case first == ".git" || first == ".bento":
			return fmt.Errorf("files[%d].path: expected a file outside .git and .bento, got %.60q", i, f.Path)
		case seen[clean]:
			return fmt.Errorf("files[%d].path: expected each file once, got %.60q again", i, f.Path)
		}
		seen[clean] = true
	}
	return nil
}
