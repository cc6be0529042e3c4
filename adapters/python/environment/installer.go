package environment

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/internal/probe"
)

// BasePython is the placeholder in a command for the interpreter that makes a virtual environment.
const BasePython = "python3"

// Installer runs the commands of one install or change.
type Installer struct {
	Leave  adapters.Leave
	Dir    string // absolute
	Env    adapters.Environ
	Python string // the interpreter that replaces BasePython
	Log    adapters.LogFunc
}

// Run runs one command; the first word is BasePython, Python or a tool on PATH. A tool
// that failed is an *adapters.InstallError.
func (i *Installer) Run(ctx context.Context, words []string) error {
	path, err := i.find(words[0])
	if err != nil {
		return err
	}
	return probe.Run(ctx, i.Leave, probe.Work{
		Argv: slices.Concat([]string{path}, words[1:]), Dir: i.Dir, Env: i.Env, Shown: Quoted(words),
	}, i.Log)
}

func (i *Installer) find(tool string) (string, error) {
	switch tool {
	case BasePython:
		return i.Python, nil
	case Python:
		return filepath.Join(i.Dir, Python), nil
	}
	return FindTool(i.Env, tool)
}

// FindTool returns the path of uv or poetry; the error says how to install it.
func FindTool(env adapters.Environ, tool string) (string, error) {
	path, err := env.LookPath(tool)
	var missing *adapters.MissingTool
	if errors.As(err, &missing) {
		names := map[string]adapters.Packages{
			"uv":     {Brew: "uv", Pacman: "uv", Apk: "uv", Zypper: "uv", Dnf: "uv", Else: "install it with \"pipx install uv\", or see https://docs.astral.sh/uv/"},
			"poetry": {Apt: "python3-poetry", Brew: "poetry", Pacman: "python-poetry", Apk: "poetry", Dnf: "poetry", Else: "install it with \"pipx install poetry\", or see https://python-poetry.org/docs/"},
		}
		missing.Hint = names[tool].Hint(env)
	}
	return path, err
}

// CommandLine returns all commands of an install for a shell, with the directory first: an
// environment that was moved has to be made again.
func CommandLine(dir string, steps [][]string) string {
	lines := []string{"cd " + adapters.Quote(dir)}
	for _, words := range steps {
		lines = append(lines, Quoted(words))
	}
	return strings.Join(lines, " && ")
}

// Quoted returns words as one line for a shell.
func Quoted(words []string) string {
	out := make([]string, len(words))
	for i, word := range words {
		out[i] = adapters.Quote(word)
	}
	return strings.Join(out, " ")
}
