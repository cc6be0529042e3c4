package builtin_test

import (
	"errors"
	"fmt"
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
	"github.com/bentobuild/bento/adapters/ruby/gemfile"
	"github.com/bentobuild/bento/adapters/snapshot"
	"github.com/bentobuild/bento/diagnostics"
	"github.com/bentobuild/bento/internal/growth"
)

// in reads a file that lies in a directory.
func in[T any](t *testing.T, name string, read func(*snapshot.Files) (T, error)) func([]byte) error {
	return func(data []byte) error {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o644); err != nil {
			t.Fatal(err)
		}
		_, err := read(snapshot.NewFiles(dir))
		return err
	}
}

func errOf[T any](parse func(string, []byte) (T, error)) func([]byte) error {
	return func(data []byte) error {
		_, err := parse("/w/file", data)
		return err
	}
}

// chain is a project with groups of which each includes the next one, with n requirements
// in all: of m groups the k-th has m-k of its own or included, and as many includes less 1.
func chain(n int) string {
	var b strings.Builder
	b.WriteString("[dependency-groups]\n")
	i := 0
	for ; i < 250; i++ { // 250 * 250 steps
		fmt.Fprintf(&b, "g%d = [\"p\", {include-group = \"g%d\"}]\n", i, i+1)
	}
	b.WriteString("rest = [")
	for range n - i*(i+1) {
		b.WriteString("\"p\", ")
	}
	return b.String() + "]\n"
}

// Lists that are compared with directories, or become tasks, are read up to a bound; one
// entry more is a diagnostic that names the file, the number and the bound.
func TestListsAreBounded(t *testing.T) {
	for name, tt := range map[string]struct {
		read  func([]byte) error
		file  func(n int) string
		bound int
	}{
		"scripts":       {errOf(packagejson.ParseManifest), growth.List(`{"scripts": {`, `"s%d": "x"`, ",", "}}"), adapters.MaxScripts},
		"workspaces":    {errOf(packagejson.ParseManifest), growth.List(`{"workspaces": [`, `"p%d/**"`, ",", "]}"), adapters.MaxMembers},
		"pnpm packages": {in(t, settings.PNPMFile, func(f *snapshot.Files) (*settings.PNPM, error) { return settings.ReadPNPM(f, f.Dir()) }), growth.List("packages:\n", "  - 'p%d/**'\n", "", ""), adapters.MaxMembers},
		"cargo members": {errOf(cargotoml.Parse), growth.List("[workspace]\nmembers = [", `"p%d/*"`, ",", "]\n"), adapters.MaxMembers},
		"cargo exclude": {errOf(cargotoml.Parse), growth.List("[workspace]\nexclude = [", `"p%d"`, ",", "]\n"), adapters.MaxMembers},
		"uv members":    {in(t, "pyproject.toml", pyproject.Read), growth.List("[tool.uv.workspace]\nmembers = [", `"p%d/*"`, ",", "]\n"), adapters.MaxMembers},
		"uv exclude":    {in(t, "pyproject.toml", pyproject.Read), growth.List("[tool.uv.workspace]\nexclude = [", `"p%d/*"`, ",", "]\n"), adapters.MaxMembers},
		"included":      {in(t, "pyproject.toml", pyproject.Read), chain, adapters.MaxIncluded},
		"Rakefile":      {in(t, "Rakefile", gemfile.ReadRakefile), growth.List("", "task(:t%d) {}\n", "", ""), adapters.MaxScripts},
		"composer":      {errOf(composer.ParseManifest), growth.List(`{"repositories": [`, `{"type": "path", "url": "p%d/*"}`, ",", "]}"), adapters.MaxMembers},
		"deno":          {errOf(denojson.Parse), growth.List(`{"workspace": [`, `"./p%d/*"`, ",", "]}"), adapters.MaxMembers},
		"deno tasks":    {errOf(denojson.Parse), growth.List(`{"tasks": {`, `"t%d": "x"`, ",", "}}"), adapters.MaxScripts},
		"go.work":       {errOf(gomod.ParseWork), growth.List("go 1.22\n", "use ./p%d\n", "", ""), adapters.MaxMembers},
		"modules":       {errOf(pom.Parse), growth.List("<project><modules>", "<module>p%d</module>", "", "</modules></project>"), adapters.MaxMembers},
		"gradle":        {errOf(script.ParseSettings), growth.List("", "include ':p%d'\n", "", ""), adapters.MaxProjects - 1}, // and the root
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
