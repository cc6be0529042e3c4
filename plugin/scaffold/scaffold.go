// Package scaffold holds the projects of new adapters, one for each language that they are written in.
package scaffold

import (
	"embed"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
)

//go:embed templates
var templates embed.FS

// Languages returns the languages, sorted. An adapter in "toml" is a definition without a program.
func Languages() []string { return []string{"go", "python", "rust", "shell", "toml", "typescript"} }

// File is a file of a project.
type File struct {
	Path string // relative, with slashes
	Text string
}

// SDK is the module that a project in Go is built on.
type SDK struct {
	Module string // the lines of go.mod
	Sum    string // the text of go.sum, "" for none: then go finds the checksums
}

// fill returns files with the module, and with go.sum if the text is known.
func (sdk SDK) fill(files []File) []File {
	for i, f := range files {
		if f.Path == "go.mod" {
			files[i].Text = strings.Replace(f.Text, "__SDK__", sdk.Module, 1)
		}
	}
	if sdk.Sum != "" {
		files = append(files, File{Path: "go.sum", Text: sdk.Sum})
	}
	slices.SortFunc(files, func(a, b File) int { return strings.Compare(a.Path, b.Path) })
	return files
}

// Files returns the files of the project of an adapter, by path. id is a valid id of an adapter and
// language one of Languages. sdk counts for "go" alone.
func Files(id, language string, sdk SDK) ([]File, error) {
	if !slices.Contains(Languages(), language) {
		return nil, fmt.Errorf("no language %q", language)
	}
	fill := words(id, language)
	var files []File
	for _, part := range []string{"common", language} {
		root := path.Join("templates", part)
		err := fs.WalkDir(templates, root, func(name string, e fs.DirEntry, err error) error {
			if err != nil || e.IsDir() {
				return err
			}
			text, err := templates.ReadFile(name)
			if err != nil {
				return err
			}
			to := renamed(strings.TrimPrefix(name, root+"/"), id)
			files = slices.DeleteFunc(files, func(f File) bool { return f.Path == to }) // the file of the language overrides it
			files = append(files, File{Path: to, Text: fill.Replace(string(text))})
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	return sdk.fill(files), nil
}

// renamed returns the path of a file in the project. A template has another name if git, go or embed would
// take it for a file of bento's own.
func renamed(name, id string) string {
	dir, base := path.Split(name)
	switch base = strings.TrimSuffix(base, ".tmpl"); base {
	case "marker.txt":
		base = id + ".txt"
	case "version":
		base = "." + id + "-version"
	case "ignore":
		base = ".gitignore"
	case "adapter.toml":
		base = id + ".toml"
	}
	return dir + base
}

// words replaces the words of the templates.
func words(id, language string) *strings.Replacer {
	target, makes := "./bento-adapter-"+id, "leaves ./bento-adapter-"+id
	adapter := "bento-adapter-" + id
	use := "To use it, put `bento-adapter-" + id + "` into a directory of `PATH`: `bento plugin list` shows it, `bento plugin trace -- plan`\nprints what bento asks."
	if language == "toml" {
		adapter, target, makes = id+".toml", "./"+id+".toml", "is not needed: a definition has no program"
		use = "To use it, copy `" + id + ".toml` to `bentos/adapters/` of a workspace."
	}
	return strings.NewReplacer("__ID__", id, "__TARGET__", target, "__MAKES__", makes, "__ADAPTER__", adapter, "__USE__", use)
}
