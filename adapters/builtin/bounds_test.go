package builtin_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/adapters/cargo/cargotoml"
	"github.com/bentobuild/bento/adapters/deno/denojson"
	"github.com/bentobuild/bento/adapters/golang/gomod"
	"github.com/bentobuild/bento/adapters/jvm/pom"
	"github.com/bentobuild/bento/adapters/jvm/script"
	"github.com/bentobuild/bento/adapters/node/packagejson"
	"github.com/bentobuild/bento/adapters/node/settings"
	"github.com/bentobuild/bento/adapters/php/composer"
	"github.com/bentobuild/bento/adapters/python/pyproject"
	"github.com/bentobuild/bento/diagnostics"
)

// in reads a file that lies in a directory.
func in[T any](t *testing.T, name string, read func(*adapters.Files) (T, error)) func([]byte) error {
	return func(data []byte) error {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o644); err != nil {
			t.Fatal(err)
		}
		_, err := read(adapters.NewFiles(dir))
		return err
	}
}

func errOf[T any](parse func(string, []byte) (T, error)) func([]byte) error {
	return func(data []byte) error {
		_, err := parse("/w/file", data)
		return err
	}
}

// Lists that are compared with directories, or become tasks, are read up to a bound; one
// entry more is a diagnostic that names the file, the number and the bound.
func TestListsAreBounded(t *testing.T) {
	for name, tt := range map[string]struct {
		read  func([]byte) error
		file  func(n int) string
		bound int
	}{
		"scripts":       {errOf(packagejson.ParseManifest), list(`{"scripts": {`, `"s%d": "x"`, ",", "}}"), adapters.MaxScripts},
		"workspaces":    {errOf(packagejson.ParseManifest), list(`{"workspaces": [`, `"p%d/**"`, ",", "]}"), adapters.MaxMembers},
		"pnpm packages": {in(t, settings.PNPMFile, func(f *adapters.Files) (*settings.PNPM, error) { return settings.ReadPNPM(f, f.Dir()) }), list("packages:\n", "  - 'p%d/**'\n", "", ""), adapters.MaxMembers},
		"cargo members": {errOf(cargotoml.Parse), list("[workspace]\nmembers = [", `"p%d/*"`, ",", "]\n"), adapters.MaxMembers},
		"cargo exclude": {errOf(cargotoml.Parse), list("[workspace]\nexclude = [", `"p%d"`, ",", "]\n"), adapters.MaxMembers},
		"uv members":    {in(t, "pyproject.toml", pyproject.Read), list("[tool.uv.workspace]\nmembers = [", `"p%d/*"`, ",", "]\n"), adapters.MaxMembers},
		"uv exclude":    {in(t, "pyproject.toml", pyproject.Read), list("[tool.uv.workspace]\nexclude = [", `"p%d/*"`, ",", "]\n"), adapters.MaxMembers},
		"composer":      {errOf(composer.ParseManifest), list(`{"repositories": [`, `{"type": "path", "url": "p%d/*"}`, ",", "]}"), adapters.MaxMembers},
		"deno":          {errOf(denojson.Parse), list(`{"workspace": [`, `"./p%d/*"`, ",", "]}"), adapters.MaxMembers},
		"deno tasks":    {errOf(denojson.Parse), list(`{"tasks": {`, `"t%d": "x"`, ",", "}}"), adapters.MaxScripts},
		"go.work":       {errOf(gomod.ParseWork), list("go 1.22\n", "use ./p%d\n", "", ""), adapters.MaxMembers},
		"modules":       {errOf(pom.Parse), list("<project><modules>", "<module>p%d</module>", "", "</modules></project>"), adapters.MaxMembers},
		"gradle":        {errOf(script.ParseSettings), list("", "include ':p%d'\n", "", ""), adapters.MaxProjects - 1}, // and the root
	} {
		t.Run(name, func(t *testing.T) {
			if err := tt.read([]byte(tt.file(tt.bound))); err != nil {
				t.Errorf("%d entries: %v", tt.bound, err)
			}
			err := tt.read([]byte(tt.file(tt.bound + 1)))
			var problems diagnostics.Problems
			if !errors.As(err, &problems) || problems[0].Rule != diagnostics.RuleTooMany || problems[0].File == "" || !strings.Contains(problems[0].Message, "at most") {
				t.Errorf("%d entries: %v", tt.bound+1, err)
			}
		})
	}
}
