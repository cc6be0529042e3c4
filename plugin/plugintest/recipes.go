package plugintest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/diagnostics"
	"github.com/bentobuild/bento/internal/semver"
	"github.com/bentobuild/bento/internal/tree/glob"
	"github.com/bentobuild/bento/plugin/adapter/answer"
	"github.com/bentobuild/bento/plugin/wire"
)

// fill makes the directory of the project from the answer of scaffold, else from an empty file for each
// fingerprint file that is no pattern.
func (s *suite) fill(ctx context.Context, t *talk) error {
	dir := filepath.Join(s.scratch, "projekt")
	files := make(map[string]string)
	for _, name := range s.manifest.FingerprintFiles {
		if !strings.ContainsAny(name, `*?[{\`) {
			files[path.Clean(name)] = ""
		}
	}
	if s.manifest.Capabilities.Scaffold {
		result, err := t.result(ctx, wire.MethodScaffold, wire.Scaffold{Name: "projekt"})
		var made wire.Scaffolded
		if err == nil && answer.NewReader().Decode(wire.MethodScaffold, result, &made) == nil {
			for _, f := range made.Files {
				files[f.Path] = f.Text
			}
		}
	}
	files["sub/notes"] = "text\n"
	for name, text := range files {
		file := filepath.Join(dir, filepath.FromSlash(name))
		err := os.MkdirAll(filepath.Dir(file), 0o755)
		if err == nil {
			err = os.WriteFile(file, []byte(text), 0o644)
		}
		if err != nil && !errors.Is(err, syscall.ENOTDIR) && !errors.Is(err, syscall.EISDIR) { // names of the plugin's
			return err
		}
	}
	s.project = dir
	return nil
}

// recipes returns the step that checks the tasks of the manifest and of each directory.
func (s *suite) recipes(fault func([]adapters.Task) string) step {
	return func(ctx context.Context, t *talk) outcome {
		if why := fault(s.manifest.DefaultTasks); why != "" {
			return fail("default_tasks%s", why)
		}
		for _, dir := range []string{s.empty, s.project} {
			tasks, err := s.tasks(ctx, t, dir)
			if err != nil {
				return skip("tasks fails, see above")
			}
			if why := fault(tasks); why != "" {
				return fail("tasks%s", why)
			}
		}
		return pass()
	}
}

// tasks returns the tasks of a directory. Those of an answer that is an error, or invalid, are the
// matter of clause 9.1.
func (s *suite) tasks(ctx context.Context, t *talk, dir string) ([]adapters.Task, error) {
	if !s.manifest.Capabilities.Tasks {
		return s.manifest.DefaultTasks, nil
	}
	result, err := t.result(ctx, wire.MethodTasks, wire.Dir{Dir: dir})
	var a adapters.TasksAnswer
	if err == nil {
		err = answer.NewReader().Decode(wire.MethodTasks, result, &a)
	}
	return a.Tasks, err
}

// wrongOrder returns the fault of the first depends_on that bento would refuse. Tasks of other dishes are
// unknown here.
func wrongOrder(tasks []adapters.Task) string {
	names := make([]string, len(tasks))
	for i, t := range tasks {
		names[i] = t.Name
	}
	for i, t := range tasks {
		for j, on := range t.DependsOn {
			place := fmt.Sprintf("[%d].depends_on[%d]", i, j)
			linked, isLinked := strings.CutPrefix(on, "^")
			dish, name, isOther := strings.Cut(on, ":")
			switch {
			case slices.Contains(names, on) || isLinked && linked != "" || isOther && dish != "" && name != "":
			case isLinked || isOther:
				return fmt.Sprintf(`%s: expected "task", "dish:task" or "^task", got %q`, place, on)
			default:
				why := fmt.Sprintf("%s: expected a task of the same answer, got %q", place, on)
				if hint := diagnostics.Suggest(on, names); hint != "" {
					why += "; " + hint
				}
				return why
			}
		}
	}
	return ""
}

// sharedOutput returns the first two tasks that name one output though neither waits for the other,
// which no run can start.
func sharedOutput(tasks []adapters.Task) string {
	sets := make([]*glob.Set, len(tasks))
	for i, t := range tasks {
		sets[i], _ = glob.Compile("", t.Outputs) // checked before
	}
	for i := range tasks {
		for j := range tasks[:i] {
			a, b := &tasks[j], &tasks[i]
			if waits(tasks, a.Name, b.Name) || waits(tasks, b.Name, a.Name) || a.Mutex != "" && a.Mutex == b.Mutex {
				continue
			}
			if shared, ok := sets[j].Shared(sets[i]); ok {
				return fmt.Sprintf("[%d].outputs: %q and %q both name %q, and neither depends on the other", i, a.Name, b.Name, shared)
			}
		}
	}
	return ""
}

// waits reports whether a task depends on another one of the same dish.
func waits(tasks []adapters.Task, name, on string) bool {
	seen, next := map[string]bool{name: true}, []string{name}
	for len(next) > 0 {
		i := slices.IndexFunc(tasks, func(t adapters.Task) bool { return t.Name == next[0] })
		next = next[1:]
		if i < 0 {
			continue
		}
		for _, d := range tasks[i].DependsOn {
			if d == on {
				return true
			}
			if !seen[d] { // a task may be reached in very many ways
				seen[d], next = true, append(next, d)
			}
		}
	}
	return false
}

// installsNoOutput checks that an install makes no output of a task: a restore of the output would replace
// the installed files.
func (s *suite) installsNoOutput(ctx context.Context, t *talk) outcome {
	for _, dir := range []string{s.empty, s.project} {
		tasks, err := s.tasks(ctx, t, dir)
		if err != nil {
			return skip("tasks fails, see above")
		}
		result, err := t.result(ctx, wire.MethodInstallScope, wire.Dir{Dir: dir})
		var scope adapters.Scope
		if err != nil || answer.NewReader().Decode(wire.MethodInstallScope, result, &scope) != nil {
			return skip("install_scope fails, see above")
		}
		if scope.Dir != dir {
			continue // another directory, whose tasks are unknown
		}
		for i, made := range scope.Made {
			if t := outputOf(tasks, filepath.ToSlash(filepath.Clean(made))); t != "" {
				return fail("made[%d]: %q is an output of the task %q", i, made, t)
			}
		}
	}
	return pass()
}

// outputOf returns the name of the first task whose outputs have a path, or something below it, "" for
// none.
func outputOf(tasks []adapters.Task, made string) string {
	literal := strings.NewReplacer(`\`, `\\`, "*", `\*`, "?", `\?`, "[", `\[`, "{", `\{`)
	below, err := glob.Compile("", []string{literal.Replace(made)})
	if err != nil {
		return ""
	}
	for _, t := range tasks {
		if outputs, err := glob.Compile("", t.Outputs); err == nil && outputs.Overlaps(below) {
			return t.Name
		}
	}
	return ""
}

// versionsCompare compares the versions as bento does it, with the installed tool.
func (s *suite) versionsCompare(ctx context.Context, t *talk) outcome {
	if wanted, err := t.result(ctx, wire.MethodToolchain, wire.Dir{Dir: s.project}); err == nil && s.manifest.Capabilities.RequiredToolchain {
		var pin *adapters.Toolchain
		if answer.NewReader().Decode(wire.MethodToolchain, wanted, &pin) == nil && pin != nil {
			if _, why := semver.Satisfies("1.0.0", pin.Version); why != "" {
				return fail("requiredToolchain: version: %s", why)
			}
		}
	}
	result, err := t.result(ctx, wire.MethodResolved, s.toolchain("1.0.0\n", ""))
	var r *adapters.ResolvedToolchain
	if err != nil || answer.NewReader().Decode(wire.MethodResolved, result, &r) != nil || r == nil {
		return pass() // no tool, or the matter of 6.8
	}
	_, why := semver.Satisfies(r.Version, "*")
	return when(why == "", "resolvedToolchain: version: %s", why)
}
