package pyproject

import (
	"bytes"
	"strings"

	"github.com/bentobuild/bento/adapters/python/requirements"
	"github.com/bentobuild/bento/adapters/snapshot"
)

// ini is a file of sections, keys and values that may have several lines, as Python's
// configparser reads it.
type ini []iniValue

type iniValue struct {
	section string
	key     string // lower case; "" for the section itself
	lines   []string
	line    int // of the key, from 1; lines[i] stands in line+i
}

func parseINI(data []byte) ini {
	data, _ = bytes.CutPrefix(data, []byte("\xef\xbb\xbf"))
	var out ini
	section, number := "", 0
	for line := range strings.Lines(string(data)) {
		number++
		text := strings.TrimSpace(line)
		indented := line[0] == ' ' || line[0] == '\t'
		switch {
		case text == "" || text[0] == '#' || text[0] == ';':
			// A comment inside a value keeps its line, for the line numbers.
			if n := len(out); n > 0 && out[n-1].key != "" {
				out[n-1].lines = append(out[n-1].lines, "")
			}
		case indented && len(out) > 0 && out[len(out)-1].key != "":
			out[len(out)-1].lines = append(out[len(out)-1].lines, text)
		case text[0] == '[' && strings.HasSuffix(text, "]"):
			section = text[1 : len(text)-1]
			out = append(out, iniValue{section: section, line: number})
		default:
			if i := strings.IndexAny(text, "=:"); i > 0 && section != "" {
				key := strings.ToLower(strings.TrimSpace(text[:i]))
				out = append(out, iniValue{section: section, key: key, lines: []string{strings.TrimSpace(text[i+1:])}, line: number})
			}
		}
	}
	return out
}

// find returns the last value under key, as configparser does.
func (f ini) find(section, key string) *iniValue {
	for i := len(f) - 1; i >= 0; i-- {
		if f[i].section == section && f[i].key == key {
			return &f[i]
		}
	}
	return nil
}

func (f ini) value(section, key string) (value string, ok bool) {
	v := f.find(section, key)
	if v == nil {
		return "", false
	}
	return strings.TrimSpace(strings.Join(v.lines, "\n")), true
}

// Section reports whether an INI file such as tox.ini has a section, and returns the value
// of one of its keys.
func Section(data []byte, section, key string) (value string, ok bool) {
	f := parseINI(data)
	if f.find(section, "") == nil {
		return "", false
	}
	value, _ = f.value(section, key)
	return value, true
}

// readSetup reads the dependencies of setup.cfg
// (https://setuptools.pypa.io/en/latest/userguide/declarative_config.html).
func (p *Project) readSetup(f *snapshot.Files) {
	path := f.Path("setup.cfg")
	p.Dependencies = p.config.find("options", "install_requires").requirements(f, path)
	for i := range p.config {
		if v := &p.config[i]; v.section == "options.extras_require" && v.key != "" {
			p.Extras = append(p.Extras, Group{Name: v.key, Requirements: v.requirements(f, path)})
		}
	}
	if v := p.config.find("options", "python_requires"); v != nil && v.lines[0] != "" {
		p.RequiresPython = Entry{Value: v.lines[0], File: path, Line: v.line}
	}
}

// requirements reads a value with one requirement a line.
func (v *iniValue) requirements(f *snapshot.Files, path string) []requirements.Requirement {
	if v == nil {
		return nil
	}
	var out []requirements.Requirement
	for i, text := range v.lines {
		if text == "" || strings.HasPrefix(text, "file:") {
			continue // "file:" names a file of requirements
		}
		r := requirements.Parse(text, f.Dir())
		r.File, r.Line = path, v.line+i
		out = append(out, r)
	}
	return out
}
