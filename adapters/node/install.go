package node

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/adapters/node/packagejson"
	"github.com/bentobuild/bento/internal/proc"
)

// mark is what npm writes last into node_modules, relative to the scope.
const mark = "node_modules/.package-lock.json"

// maxErrors bounds how many lines of npm's errors are told.
const maxErrors = 20

// InstallScope gives the root of the workspace that dir is a member of, else dir.
func (a *Adapter) InstallScope(ctx context.Context, dir string) (adapters.Scope, error) {
	f := adapters.NewFiles(dir)
	p, err := a.open(f)
	if err != nil {
		return adapters.Scope{}, err
	}
	s := adapters.Scope{Dir: p.scope(), Made: []string{mark}}
	s.Nothing = len(p.root.Workspaces) == 0 && len(p.Dependencies) == 0
	s.Command = commandLine(installArgs(f, s.Dir))
	s.Files = a.installFiles(f, p.root)
	s.Reads = f.Reads()
	return s, nil
}

// installFiles gives what decides the install of a package or workspace. Its
// members share the list.
func (a *Adapter) installFiles(f *adapters.Files, root *packagejson.Manifest) []string {
	files, _ := a.installs.get(f, root.Path, func(f *adapters.Files) ([]string, error) {
		f.Path(root.Path)
		dir := dirOf(root)
		var files []string
		for _, name := range []string{packageFile, "package-lock.json", "npm-shrinkwrap.json", ".npmrc"} {
			files = append(files, filepath.Join(dir, name))
		}
		for _, member := range a.membersOf(f, root) {
			files = append(files, filepath.Join(member, packageFile))
		}
		for _, d := range root.Dependencies {
			if target := fileTarget(dir, d.Value); target != "" {
				files = append(files, manifestOf(target))
			}
		}
		return slices.Clip(append(files, patches(f, dir)...)), nil
	})
	return files
}

// manifestOf gives the file that says what a dependency by path needs in turn.
func manifestOf(target string) string {
	if isArchive(target) {
		return target
	}
	return filepath.Join(target, packageFile)
}

// patches gives the files of patch-package, which a script of the install applies.
func patches(f *adapters.Files, dir string) []string {
	var paths []string
	for _, e := range f.List(filepath.Join(dir, "patches")) {
		if !e.IsDir() {
			paths = append(paths, filepath.Join(dir, "patches", e.Name()))
		}
	}
	return paths
}

// installArgs gives the command without the path of npm. Without a lockfile none
// is written: an install adds nothing to the sources.
func installArgs(f *adapters.Files, dir string) []string {
	for _, lock := range []string{"package-lock.json", "npm-shrinkwrap.json"} {
		if f.IsFile(filepath.Join(dir, lock)) {
			return []string{"npm", "ci"}
		}
	}
	return []string{"npm", "install", "--no-package-lock"}
}

func commandLine(args []string) string {
	quoted := make([]string, len(args))
	for i, arg := range args {
		quoted[i] = quote(arg)
	}
	return strings.Join(quoted, " ")
}

// Install runs npm in the scope's directory. npm itself makes good what an
// interrupted install left: "npm ci" begins with an empty node_modules.
func (a *Adapter) Install(ctx context.Context, req adapters.InstallRequest, log adapters.LogFunc) error {
	dir := req.Scope.Dir
	if dir == "" {
		scope, err := a.InstallScope(ctx, req.DishDir)
		if err != nil {
			return err
		}
		dir = scope.Dir
	}
	args := installArgs(adapters.NewFiles(dir), dir)
	path, err := find(req.Env, args[0])
	if err != nil {
		return err
	}
	// What begins now may be interrupted; until the end nothing says otherwise.
	if err := os.Remove(filepath.Join(dir, filepath.FromSlash(mark))); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("begin the install of %q: %w", dir, err)
	}
	filter := &usageFilter{log: log}
	out := adapters.NewTranscript(filter.take)
	res, err := proc.Run(ctx, proc.Spec{
		Argv: slices.Concat([]string{path}, args[1:]), Dir: dir,
		Env: req.Env.With(a.manifest.SetEnv), Stdout: out.Stdout(), Stderr: out.Stderr(),
	})
	out.Close()
	switch {
	case err != nil:
		return err
	case res.Canceled:
		return context.Cause(ctx)
	case res.ExitCode != 0:
		return &adapters.InstallError{Command: commandLine(args), ExitStatus: res.ExitCode, Detail: filter.detail(out)}
	}
	return ensureMark(dir)
}

// usageFilter keeps what npm says is wrong from being buried under the usage that
// it prints behind it.
type usageFilter struct {
	log    adapters.LogFunc
	errors []string
	usage  bool
}

func (u *usageFilter) take(l adapters.Log) {
	text, isError := strings.CutPrefix(l.Message, "npm error")
	if !isError {
		text, isError = strings.CutPrefix(l.Message, "npm ERR!")
	}
	text = strings.TrimSpace(text)
	if isError && text == "Usage:" {
		u.usage = true
	}
	if isError && u.usage {
		return
	}
	if isError && text != "" && len(u.errors) < maxErrors {
		u.errors = append(u.errors, text)
	}
	if u.log != nil {
		u.log(l)
	}
}

// detail gives npm's own errors, else the last lines of all that was printed.
func (u *usageFilter) detail(out *adapters.Transcript) string {
	if len(u.errors) == 0 {
		return out.Tail()
	}
	return strings.Join(u.errors, "\n")
}

// ensureMark writes the mark when npm did not, which it leaves out together with
// node_modules when there is nothing to put there (a lone optional dependency for
// another system). It is what npm writes for an empty tree.
func ensureMark(dir string) error {
	path := filepath.Join(dir, filepath.FromSlash(mark))
	if _, err := os.Stat(path); err == nil {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return fmt.Errorf("mark the install of %q: %w", dir, err)
	}
	if err := os.WriteFile(path, []byte("{\"lockfileVersion\":3,\"requires\":true,\"packages\":{}}\n"), 0o644); err != nil {
		return fmt.Errorf("mark the install of %q: %w", dir, err)
	}
	return nil
}
