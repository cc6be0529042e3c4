package adapters

import (
	"bufio"
	"bytes"
	"path/filepath"
	"slices"
	"strings"
)

// ToolVersions returns the version of tool in the nearest .tool-versions file with a line
// for one of names (https://asdf-vm.com/manage/configuration.html), or nil. A line that
// leaves the choice to the machine ("system", "latest", "path:…", "ref:…") requires nothing
// and ends the search.
func (f *Files) ToolVersions(tool string, names ...string) (*Toolchain, error) {
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
			return &Toolchain{Tool: tool, Version: version, File: path, Line: line}, nil
		}
	}
	return nil, nil
}

// toolVersion returns the first version of the first line for one of names.
func toolVersion(data []byte, names []string) (version string, line int) {
	lines := bufio.NewScanner(bytes.NewReader(data))
	lines.Buffer(nil, MaxManifest+1)
	for n := 1; lines.Scan(); n++ {
		text, _, _ := strings.Cut(lines.Text(), "#")
		fields := strings.Fields(text)
		if len(fields) >= 2 && slices.Contains(names, fields[0]) {
			return fields[1], n
		}
	}
	return "", 0
}
