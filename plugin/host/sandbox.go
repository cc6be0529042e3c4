package host

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/internal/proc"
	"github.com/bentobuild/bento/internal/sandbox"
	"github.com/bentobuild/bento/internal/state"
)

// Sandbox is the access of a confined plugin. It reads the workspace except bento's own
// directory, the system and the directories on PATH. It writes its scratch directory. In
// the home directory it reads and writes only Read and Write. It has no network.
type Sandbox struct {
	Helper  string // path of a program that calls sandbox.Enter, as bento does
	Root    string // of the workspace
	Scratch string // its temporary directory, created when it is missing
	// Read and Write are further paths. Bento creates a missing directory of Write: the
	// plugin could not.
	Read, Write []string
	// Tasks is how many processes and threads it may have; 0 means 2,048.
	Tasks int

	network bool
}

// ForInstall returns s with the network, and with write access to directories of the
// workspace. It leaves out directories elsewhere, also behind a link: the plugin names
// them.
func (s *Sandbox) ForInstall(dirs ...string) *Sandbox {
	wider := *s
	wider.network = true
	wider.Write = s.Write[:len(s.Write):len(s.Write)]
	for _, dir := range dirs {
		if real, ok := inside(s.Root, dir); ok {
			wider.Write = append(wider.Write, real)
		}
	}
	return &wider
}

// Writing returns s with write access to further directories.
func (s *Sandbox) Writing(dirs ...string) *Sandbox {
	wider := *s
	wider.Write = append(s.Write[:len(s.Write):len(s.Write)], dirs...)
	return &wider
}

// inside returns a path without links, if it is one inside root.
func inside(root, path string) (real string, ok bool) {
	root, err := filepath.EvalSymlinks(root)
	if err != nil || !filepath.IsAbs(path) {
		return "", false
	}
	if real, err = filepath.EvalSymlinks(path); err != nil {
		return "", false
	}
	rel, err := filepath.Rel(root, real)
	return real, err == nil && filepath.IsLocal(rel)
}

// Environ returns the variables that name the scratch directory.
func (s *Sandbox) Environ() map[string]string {
	return map[string]string{"TMPDIR": s.Scratch, "TMP": s.Scratch, "TEMP": s.Scratch}
}

// maxTasks is more than a parallel install of many tools needs, and less than the limits of
// a machine.
const maxTasks = 2048

// start starts a plugin in the sandbox, as far as the kernel has one.
func (s *Sandbox) start(spec proc.Spec) (confinable, error) {
	for _, dir := range append([]string{s.Scratch}, s.Write...) {
		if _, err := os.Stat(dir); !errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return nil, err
		}
	}
	p, err := sandbox.Start(spec, s.policy(spec), s.Helper)
	if err != nil {
		return nil, fmt.Errorf("in its sandbox: %w", err)
	}
	return p, nil
}

// Run runs a program in the sandbox and waits for its end, as proc.Run does.
func (s *Sandbox) Run(ctx context.Context, spec proc.Spec) (proc.Result, error) {
	p, err := s.start(spec)
	if err != nil {
		return proc.Result{}, err
	}
	return p.Wait(ctx), nil
}

func (s *Sandbox) policy(spec proc.Spec) sandbox.Policy {
	env := adapters.Environ(spec.Env)
	read := append(sandbox.System(), s.Root, spec.Argv[0])
	for _, dir := range filepath.SplitList(env.Get("PATH")) {
		read = appendPlace(read, dir, env.Get("HOME"))
	}
	// The other files of a program are beside the target of its link.
	if real, err := filepath.EvalSymlinks(spec.Argv[0]); err == nil && real != spec.Argv[0] {
		read = appendPlace(append(read, real), filepath.Dir(real), env.Get("HOME"))
	}
	return sandbox.Policy{
		Read:    append(read, s.Read...),
		Write:   append([]string{s.Scratch}, s.Write...),
		Hide:    s.hidden(),
		Network: s.network,
		Tasks:   cmp.Or(s.Tasks, maxTasks),
	}
}

// hidden returns bento's own directory in the workspace, if it exists: a plugin that reads,
// locks or writes files in it would affect bento.
func (s *Sandbox) hidden() []string {
	dir := filepath.Join(s.Root, state.Name)
	if fi, err := os.Lstat(dir); err != nil || !fi.IsDir() {
		return nil
	}
	return []string{dir}
}

// appendPlace adds a directory of programs, unless the home directory is in it.
func appendPlace(list []string, dir, home string) []string {
	if !filepath.IsAbs(dir) {
		return list
	}
	if dir = filepath.Clean(dir); dir == "/" || dir == home || strings.HasPrefix(home, dir+"/") {
		return list
	}
	return append(list, dir)
}
