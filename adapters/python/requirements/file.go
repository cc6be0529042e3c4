package requirements

import (
	"bytes"
	"encoding/binary"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/bentobuild/bento/adapters/snapshot"
	"github.com/bentobuild/bento/diagnostics"
)

// RuleMissing is the rule of the diagnostic of a missing included file.
const RuleMissing = "missing_include"

// maxFiles is how many files one file may include.
const maxFiles = 64

// Set is the content of a file and of the files that it includes.
type Set struct {
	Requirements []Requirement
	Files        []string // absolute, with included files and constraints
	Hashed       bool     // some requirement states the hash of its archive
}

// Has reports whether the set requires a package.
func (s *Set) Has(name string) bool {
	return s != nil && slices.ContainsFunc(s.Requirements, func(r Requirement) bool { return r.Name == name })
}

// Pinned reports whether the set requires something, and one version of each package.
func (s *Set) Pinned() bool {
	return len(s.Requirements) > 0 && !slices.ContainsFunc(s.Requirements, func(r Requirement) bool {
		return r.Path != "" || !strings.HasPrefix(r.Spec, "==") || strings.ContainsAny(r.Spec, ",*")
	})
}

// Read reads the file at path and the files that it includes; it returns nil when the file
// is missing. The error of a missing include is a diagnostics.Problems.
func Read(f *snapshot.Files, path string) (*Set, error) {
	data, err := f.ReadIfExists(path)
	if data == nil || err != nil {
		return nil, err
	}
	r := &reader{files: f}
	if err := r.file(f.Path(path), data, false); err != nil {
		return nil, err
	}
	return &r.set, nil
}

type reader struct {
	files *snapshot.Files
	set   Set
}

// file reads one file. It leaves out the requirements of a constraint file, which are only
// limits.
func (r *reader) file(path string, data []byte, constraint bool) error {
	r.set.Files = append(r.set.Files, path)
	for _, l := range logicalLines(decode(data)) {
		option, value := splitOption(l.text)
		switch {
		case option == "-r" || option == "-c":
			if err := r.include(path, l.number, value, constraint || option == "-c"); err != nil {
				return err
			}
		case constraint || option == "" && l.text == "" || option != "" && option != "-e":
		default:
			r.add(path, l, value, option == "-e")
		}
	}
	return nil
}

func (r *reader) add(path string, l logicalLine, text string, editable bool) {
	text, hashed := withoutOptions(text)
	req := Parse(text, r.files.Dir())
	req.Editable, req.Hashed, req.File, req.Line = editable, hashed, path, l.number
	r.set.Hashed = r.set.Hashed || hashed
	r.set.Requirements = append(r.set.Requirements, req)
}

// include reads another file, relative to the including one.
func (r *reader) include(from string, line int, name string, constraint bool) error {
	if name == "" || strings.Contains(name, "://") || strings.Contains(name, "${") {
		return nil
	}
	path := name
	if !filepath.IsAbs(path) {
		path = filepath.Join(filepath.Dir(from), filepath.FromSlash(name))
	}
	if slices.Contains(r.set.Files, path) || len(r.set.Files) >= maxFiles {
		return nil
	}
	data, err := r.files.ReadIfExists(path)
	if err != nil {
		return err
	}
	if data == nil {
		return diagnostics.Problems{diagnostics.Pos{File: from, Line: line}.Error(RuleMissing, "the included file \"%s\" does not exist", name)}
	}
	return r.file(path, data, constraint)
}

// decode removes a byte order mark; PowerShell writes UTF-16 with one.
func decode(data []byte) string {
	if text, ok := bytes.CutPrefix(data, []byte("\xef\xbb\xbf")); ok {
		return string(text)
	}
	var order binary.ByteOrder
	switch {
	case bytes.HasPrefix(data, []byte("\xff\xfe")):
		order = binary.LittleEndian
	case bytes.HasPrefix(data, []byte("\xfe\xff")):
		order = binary.BigEndian
	default:
		return string(data)
	}
	var out []byte
	units := make([]uint16, 0, len(data)/2)
	for i := 2; i+1 < len(data); i += 2 {
		units = append(units, order.Uint16(data[i:]))
	}
	for _, c := range utf16.Decode(units) {
		out = utf8.AppendRune(out, c)
	}
	return string(out)
}

type logicalLine struct {
	text   string
	number int // of its first line, from 1
}

// logicalLines joins continued lines and drops comments and empty lines.
func logicalLines(text string) []logicalLine {
	var out []logicalLine
	var parts []string
	number, first := 0, 0
	for line := range strings.Lines(text) {
		number++
		line = strings.TrimRight(line, "\r\n")
		if len(parts) == 0 {
			first = number
		}
		part, more := strings.CutSuffix(line, `\`)
		if strings.HasPrefix(strings.TrimSpace(line), "#") {
			part, more = "", false
		}
		parts = append(parts, part)
		if more {
			continue
		}
		out, parts = appendLine(out, parts, first), nil
	}
	return appendLine(out, parts, first)
}

func appendLine(out []logicalLine, parts []string, number int) []logicalLine {
	text := strings.Join(parts, "")
	for i := 0; i < len(text); i++ {
		if text[i] == '#' && (i == 0 || text[i-1] == ' ' || text[i-1] == '\t') {
			text = text[:i]
		}
	}
	if text = strings.TrimSpace(text); text == "" {
		return out
	}
	return append(out, logicalLine{text, number})
}

// splitOption returns the short name of the option on a line, "" for a requirement. Options
// that are not used here keep their name.
func splitOption(line string) (option, value string) {
	if !strings.HasPrefix(line, "-") {
		return "", line
	}
	for short, long := range map[string]string{"-r": "--requirement", "-c": "--constraint", "-e": "--editable"} {
		for _, name := range []string{long, short} {
			rest, ok := strings.CutPrefix(line, name)
			if !ok || name == long && rest != "" && !strings.HasPrefix(rest, "=") && !strings.HasPrefix(rest, " ") && !strings.HasPrefix(rest, "\t") {
				continue
			}
			return short, strings.Trim(strings.TrimPrefix(strings.TrimSpace(rest), "="), " \t\"'")
		}
	}
	option, value, _ = strings.Cut(line, " ")
	return option, value
}

// withoutOptions removes the options after a requirement on its line, such as hashes.
func withoutOptions(text string) (requirement string, hashed bool) {
	for i := 1; i+2 < len(text); i++ {
		if text[i] == '-' && text[i+1] == '-' && (text[i-1] == ' ' || text[i-1] == '\t') {
			return strings.TrimSpace(text[:i]), strings.Contains(text[i:], "--hash")
		}
	}
	return text, false
}
