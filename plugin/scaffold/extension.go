package scaffold

import (
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
)

// ExtensionLanguages returns the languages of Extension, sorted.
func ExtensionLanguages() []string { return []string{"go", "python"} }

// Extension returns the files of the project of an extension of ainb v2, by path. id is its name and the
// name of its directory. A file that begins with "#!" is executable. sdk counts for "go" alone.
func Extension(id, language string, sdk SDK) ([]File, error) {
	if !slices.Contains(ExtensionLanguages(), language) {
		return nil, fmt.Errorf("no language %q", language)
	}
	build := ""
	if language == "go" {
		build = "    make                           # leaves ./" + id + "\n"
	}
	fill := strings.NewReplacer("__ID__", id, "__BUILD__", build)
	var files []File
	for _, part := range []string{"common", language} {
		root := path.Join("templates/extension", part)
		err := fs.WalkDir(templates, root, func(name string, e fs.DirEntry, err error) error {
			if err != nil || e.IsDir() {
				return err
			}
			text, err := templates.ReadFile(name)
			to := renamed(strings.TrimPrefix(name, root+"/"), id)
			if to == "main.py" {
				to = id // bento starts the file with the name of the directory
			}
			files = append(files, File{Path: to, Text: fill.Replace(string(text))})
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	return sdk.fill(files), nil
}
