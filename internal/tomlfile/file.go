// Package tomlfile reads TOML with the position of every key and value, for diagnostics with file,
// line and column. It changes single values and keeps the comments and the order of the rest.
//
// Two parsers read each document. BurntSushi's reads the values; it reports no positions of keys, ends at the first
// fault and accepts some documents that TOML forbids. go-toml's reports positions and continues after a key that is
// defined twice; it reads no values. A document that one of them refuses is refused, and so are those that both
// accept although TOML forbids them (a table defined by a dotted key and by a header).
package tomlfile

import (
	"bytes"
	"slices"
	"unicode/utf8"

	"github.com/bentobuild/bento/diagnostics"
)

// The largest sizes of a document in bytes.
const (
	MaxConfig   = 1 << 20
	MaxManifest = 16 << 20
)

// The rules of the diagnostics of this package.
const (
	RuleSyntax     = "toml_syntax"
	RuleTooLarge   = "file_too_large"
	RuleUnknownKey = "unknown_key"
	RuleWrongType  = "wrong_type"
)

// maxProblems is the largest number of reported problems of one document.
const maxProblems = 100

// File is a parsed document. It does not change and is safe for concurrent use.
type File struct {
	path  string
	data  []byte // without byte order mark
	bom   bool
	lines []int // offset of the start of each line
	root  *Value
}

// Parse parses a configuration file of at most MaxConfig bytes. path is its name in messages. The
// file is nil when there is a problem; Parse checks keys and values against no schema. It keeps
// data, which must not change.
func Parse(path string, data []byte) (*File, []diagnostics.Diagnostic) {
	return parse(path, data, MaxConfig)
}

// ParseManifest is Parse for the manifests and lockfiles of languages, with at most MaxManifest
// bytes.
func ParseManifest(path string, data []byte) (*File, []diagnostics.Diagnostic) {
	return parse(path, data, MaxManifest)
}

func parse(path string, data []byte, limit int) (*File, []diagnostics.Diagnostic) {
	if len(data) > limit {
		d := diagnostics.Pos{File: path}.Error(RuleTooLarge, "the file has %d bytes, expected at most %d", len(data), limit)
		return nil, []diagnostics.Diagnostic{d}
	}
	text, bom := bytes.CutPrefix(data, []byte("\xef\xbb\xbf"))
	f := &File{path: path, data: slices.Clip(text), bom: bom, lines: lineStarts(text)}
	if d, ok := f.checkText(); !ok {
		return nil, []diagnostics.Diagnostic{d}
	}
	if problems := f.build(); len(problems) > 0 {
		return nil, problems
	}
	if problems := f.fill(); len(problems) > 0 {
		return nil, problems
	}
	return f, nil
}

func lineStarts(text []byte) []int {
	starts := make([]int, 1, bytes.Count(text, []byte{'\n'})+1)
	for i, c := range text {
		if c == '\n' {
			starts = append(starts, i+1)
		}
	}
	return starts
}

// checkText reports a document that is no UTF-8, above all UTF-16, for which the parsers would
// report a wrong key.
func (f *File) checkText() (diagnostics.Diagnostic, bool) {
	if i := bytes.IndexByte(f.data, 0); i >= 0 {
		return f.pos(i).Error(RuleSyntax, "a NUL byte; expected UTF-8 text (is the file UTF-16?)"), false
	}
	if utf8.Valid(f.data) {
		return diagnostics.Diagnostic{}, true
	}
	i := 0
	for i < len(f.data) {
		r, n := utf8.DecodeRune(f.data[i:])
		if r == utf8.RuneError && n == 1 {
			break
		}
		i += n
	}
	return f.pos(i).Error(RuleSyntax, "byte 0x%02x is not valid UTF-8; expected UTF-8 text", f.data[min(i, len(f.data)-1)]), false
}

// pos returns the position of a byte.
func (f *File) pos(offset int) diagnostics.Pos {
	line, found := slices.BinarySearch(f.lines, offset)
	if !found {
		line--
	}
	return diagnostics.Pos{File: f.path, Line: line + 1, Col: offset - f.lines[line] + 1}
}

// Path returns the name of the file in messages.
func (f *File) Path() string { return f.path }

// Root returns the table of the whole document.
func (f *File) Root() *Value { return f.root }

// Lookup returns the value under key, nil when it is missing. Indices ("0") are the keys of array
// elements.
func (f *File) Lookup(key ...string) *Value {
	v := f.root
	for _, k := range key {
		if v = v.Child(k); v == nil {
			return nil
		}
	}
	return v
}

// Pos returns line and column, from 1, of a key or an array element, zeros when it is missing.
func (f *File) Pos(key ...string) (line, col int) {
	v := f.Lookup(key...)
	if v == nil {
		return 0, 0
	}
	p := v.KeyPos()
	return p.Line, p.Col
}
