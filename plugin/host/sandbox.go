package host

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/internal/proc"
	"github.com/bentobuild/bento/internal/sandbox"
)

// Sandbox is what a confined plugin may touch: it reads the workspace, the system
// and the directories on PATH, and writes its scratch directory. Of the home
// directory it sees nothing but what Read and Write name. It has no network.
type Sandbox struct {
	Helper  string // path of a program that calls sandbox.Enter, as bento does
	Root    string // of the workspace
	Scratch string // its temporary directory, made when it is missing
	// Read and Write are further paths. A directory to write is made when it is
	// missing: the plugin could not make it itself.
	Read, Write []string
	// Tasks bounds its processes and threads; 0 means 2,048.
	Tasks int

	network bool
}

// ForInstall gives s with the network, and with directories of the workspace to
// write. Those that are elsewhere, or lead there by a link, are left out: it is the
// plugin that names them.
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

// inside gives a path without links, if it is one inside root.
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

// Environ gives the variables that say where the scratch directory is.
func (s *Sandbox) Environ() map[string]string {
	return map[string]string{"TMPDIR": s.Scratch, "TMP": s.Scratch, "TEMP": s.Scratch}
}

// maxTasks is more than a parallel install of many tools needs, and less than what a
// machine stops at.
const maxTasks = 2048

// start starts a plugin in the sandbox, as far as the kernel offers one.
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

func (s *Sandbox) policy(spec proc.Spec) sandbox.Policy {
	env := adapters.Environ(spec.Env)
	read := append(sandbox.System(), s.Root, spec.Argv[0])
	for _, dir := range filepath.SplitList(env.Get("PATH")) {
		read = appendPlace(read, dir, env.Get("HOME"))
	}
	// A link to a program leads to where its other parts are.
	if real, err := filepath.EvalSymlinks(spec.Argv[0]); err == nil && real != spec.Argv[0] {
		read = appendPlace(append(read, real), filepath.Dir(real), env.Get("HOME"))
	}
	return sandbox.Policy{
		Read:    append(read, s.Read...),
		Write:   append([]string{s.Scratch}, s.Write...),
		Network: s.network,
		Tasks:   cmp.Or(s.Tasks, maxTasks),
	}
}

// appendPlace adds a directory of programs, unless it holds the home directory too.
func appendPlace(list []string, dir, home string) []string {
	if !filepath.IsAbs(dir) {
		return list
	}
	if dir = filepath.Clean(dir); dir == "/" || dir == home || strings.HasPrefix(home, dir+"/") {
		return list
	}
	return append(list, dir)
}
