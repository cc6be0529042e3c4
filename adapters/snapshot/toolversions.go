package snapshot

import (
	"bytes"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bentobuild/bento/adapters"
)

// ToolVersions returns the version of tool in the nearest .tool-versions file with a line for one of
// names (https://asdf-vm.com/manage/configuration.html), or nil. A line that leaves the choice to the
// machine ("system", "latest", "path:…", "ref:…") requires no version and ends the search.
func (f *Files) ToolVersions(tool string, names ...string) (*adapters.Toolchain, error) {
	for dir := range f.Ancestors() {
		path := filepath.Join(dir, ".tool-versions")
		data, err := f.ReadIfExists(path)
		if err != nil {
			return nil, err
		}
		if version, line := toolVersion(data, names); line > 0 {
			if strings.Contains(version, ":") || version == "system" || version == "latest" {
				return nil, nil
			}
			return &adapters.Toolchain{Tool: tool, Version: version, File: path, Line: line}, nil
		}
	}
	return nil, nil
}

// VersionFile returns the pin in the nearest file of a name, or nil; see VersionIn.
func (f *Files) VersionFile(tool, name string) (*adapters.Toolchain, error) {
	path, ok := f.Up(name)
	if !ok {
		return nil, nil
	}
	return f.VersionIn(tool, path)
}

// VersionIn returns the first line of the file at path that is not empty, without a comment, or nil
// if there is none.
func (f *Files) VersionIn(tool, path string) (*adapters.Toolchain, error) {
	data, err := f.Read(path)
	if err != nil {
		return nil, err
	}
	text, line := firstLine(data)
	if line == 0 {
		return nil, nil
	}
	return &adapters.Toolchain{Tool: tool, Version: text, File: path, Line: line}, nil
}

// firstLine returns the first line that is not empty, without a comment, and its number, or 0.
func firstLine(data []byte) (text string, line int) {
	data, _ = bytes.CutPrefix(data, []byte("\xef\xbb\xbf"))
	n := 0
	for l := range bytes.Lines(data) {
		n++
		text, _, _ := strings.Cut(string(l), "#")
		if text = strings.TrimSpace(text); text != "" {
			return text, n
		}
	}
	return "", 0
}

// toolVersion returns the first version of the first line for one of names.
func toolVersion(data []byte, names []string) (version string, line int) {
	n := 0
	for l := range bytes.Lines(data) {
		n++
		text, _, _ := strings.Cut(string(l), "#")
		fields := strings.Fields(text)
		if len(fields) >= 2 && slices.Contains(names, fields[0]) {
			return fields[1], n
		}
	}
	return "", 0
}
