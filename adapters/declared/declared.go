// Package declared is an adapter that a workspace defines in TOML: markers, recipes and commands,
// without a program of its own. The repository controls the definition, so a command that only reads
// starts no program of it. The version of the tool is known only at run time, until a run has stored
// it.
package declared

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/zeebo/blake3"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/adapters/snapshot"
	"github.com/bentobuild/bento/internal/probe"
)

// Definition is the definition of a language in a workspace. The caller has checked it.
type Definition struct {
	Manifest adapters.Manifest // without Identity and Projects, which New sets
	Markers  []string          // names of files, or patterns of names; one of them makes a project

	Command []string // a name on PATH and its arguments; empty for no toolchain
	Version string   // regular expression for the output; "": the whole output
	PinFile string   // relative to the dish; "": no version is required
	Pin     string   // regular expression for PinFile; "": its first word
	Hint    string   // how to install the tool

	Install string   // a line for the shell; "": no install
	Files   []string // relative to the dish, decide an install; empty: the fingerprint files
	Made    []string // relative to the dish, left by an install
}

// Adapter is the adapter of a Definition. It is safe for concurrent use.
type Adapter struct {
	snapshot.Source
	adapters.NoParser
	def      Definition
	manifest *adapters.Manifest
	env      adapters.Environ // of child processes
	asker    *probe.Asker
}

// New returns the adapter. Its identity is the digest of the definition.
func New(d Definition, o snapshot.Options) *Adapter {
	m := d.Manifest
	m.Projects = d.Markers
	m.FingerprintFiles = slices.Concat(d.Markers, m.FingerprintFiles)
	m.Capabilities = adapters.Capabilities{
		Detect: true, RequiredToolchain: d.PinFile != "", ResolvedToolchainFingerprint: len(d.Command) > 0, Install: d.Install != "",
	}
	text, err := json.Marshal(struct {
		Definition  Definition
		Env, Passes []string
	}{d, m.SteeringEnv, m.PassEnv})
	if err != nil {
		panic(err) // strings and numbers
	}
	sum := blake3.Sum256(text)
	m.Identity = hex.EncodeToString(sum[:])
	a := &Adapter{Source: o.Source(), def: d, manifest: &m}
	a.env = o.Env.Strict(slices.Concat(m.PassEnv, m.SteeringEnv)...).With(m.SetEnv)
	a.asker = probe.New(o.Source(), a.env)
	return a
}

// Manifest implements adapters.Adapter.
func (a *Adapter) Manifest() *adapters.Manifest { return a.manifest }

// Detect implements adapters.Adapter.
func (a *Adapter) Detect(_ context.Context, dir string) (bool, error) {
	f := a.Files(dir)
	return slices.ContainsFunc(a.def.Markers, func(marker string) bool { return has(f, marker) }), nil
}

// has reports whether a file of the directory has a name that matches.
func has(f *snapshot.Files, marker string) bool {
	if !strings.ContainsAny(marker, `*?[\`) {
		return f.IsFile(marker)
	}
	for _, e := range f.List(".") {
		if match, err := path.Match(marker, e.Name()); match && err == nil && f.IsFile(e.Name()) {
			return true
		}
	}
	return false
}

// Tasks implements adapters.TaskLister. The recipes are the same everywhere; the answer depends on
// the files that Detect and RequiredToolchain read.
func (a *Adapter) Tasks(_ context.Context, dir string) (adapters.TasksAnswer, error) {
	f := a.Files(dir)
	for _, marker := range a.def.Markers {
		has(f, marker)
	}
	if a.def.PinFile != "" {
		_, _ = f.ReadIfExists(a.def.PinFile) // RequiredToolchain reports the error
	}
	return adapters.TasksAnswer{Tasks: a.manifest.DefaultTasks, Reads: f.Reads()}, nil
}

// InstallScope implements adapters.Scoper: each project is installed on its own.
func (a *Adapter) InstallScope(_ context.Context, dir string) (adapters.Scope, error) {
	s := adapters.Scope{Dir: dir, Command: a.def.Install, Nothing: a.def.Install == "", Made: a.def.Made}
	for _, name := range a.def.Files {
		s.Files = append(s.Files, filepath.Join(dir, filepath.FromSlash(name)))
	}
	return s, nil
}

// Install implements adapters.Adapter.
func (a *Adapter) Install(ctx context.Context, req adapters.InstallRequest, log adapters.LogFunc) error {
	if a.def.Install == "" {
		return nil
	}
	w := probe.Work{Argv: []string{"sh", "-c", a.def.Install}, Dir: req.DishDir, Env: req.Env.Or(a.env), Shown: a.def.Install}
	return probe.Run(ctx, req.Leave(), w, log)
}
