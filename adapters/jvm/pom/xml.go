package pom

import (
	"bytes"
	"encoding/binary"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf16"

	"github.com/bentobuild/bento/diagnostics"
)

// Bounds of a document. The caller bounds the size of the file.
const (
	maxDepth    = 128
	maxElements = 500_000
)

// RuleSyntax is the rule of a file that is not XML, or not accepted here.
const RuleSyntax = "xml_syntax"

// node is one element. The files read here use no attributes and namespaces.
type node struct {
	name      string
	text      string // of its own, trimmed
	line, col int
	kids      []*node
}

// child returns the first child with this name, or nil; n may be nil.
func (n *node) child(name string) *node {
	if n == nil {
		return nil
	}
	for _, k := range n.kids {
		if k.name == name {
			return k
		}
	}
	return nil
}

// at follows names down from n.
func (n *node) at(names ...string) *node {
	for _, name := range names {
		n = n.child(name)
	}
	return n
}

// all returns the children of n's child list with this name.
func (n *node) all(list, name string) []*node {
	var out []*node
	if l := n.child(list); l != nil {
		for _, k := range l.kids {
			if k.name == name {
				out = append(out, k)
			}
		}
	}
	return out
}

// value returns the text of a child and its line; a missing one is empty.
func (n *node) value(name string) Value {
	if c := n.child(name); c != nil {
		return Value{c.text, c.line}
	}
	return Value{}
}

// problem returns an error about a place in a file.
func problem(path string, line, col int, hint, format string, args ...any) error {
	return diagnostics.Problems{diagnostics.Pos{File: path, Line: line, Col: col}.Error(RuleSyntax, format, args...).WithHint(hint)}
}

// document reads the one element of an XML document. It refuses document types: they can
// define entities that blow up, or read other files.
func document(path string, data []byte) (*node, error) {
	r := &reader{path: path, line: 1, col: 1}
	text, err := transcode(data)
	if err != nil {
		return nil, problem(path, 1, 1, "save the file as UTF-8", "%v", err)
	}
	r.dec = xml.NewDecoder(bytes.NewReader(text))
	r.dec.Entity = xml.HTMLEntity // as Maven does
	r.dec.CharsetReader = charset
	for {
		token, err := r.dec.RawToken()
		if errors.Is(err, io.EOF) {
			break
		}
		if err == nil {
			err = r.take(token)
		} else {
			err = r.failed(err)
		}
		if err != nil {
			return nil, err
		}
		r.line, r.col = r.dec.InputPos()
	}
	if n := len(r.open); n > 0 {
		return nil, problem(path, r.line, r.col, "", "the file ends inside <%s>, which begins in line %d", r.open[n-1].name, r.open[n-1].line)
	}
	if r.root == nil {
		return nil, problem(path, 1, 1, "", "expected an XML document, got none")
	}
	return r.root, nil
}

// reader builds the tree of a document.
type reader struct {
	path      string
	dec       *xml.Decoder
	line, col int // where the current token begins
	open      []*node
	texts     [][]byte // of the open elements
	root      *node
	elements  int
}

func (r *reader) take(token xml.Token) error {
	switch t := token.(type) {
	case xml.StartElement:
		return r.start(t.Name.Local)
	case xml.EndElement:
		return r.end(t.Name.Local)
	case xml.CharData:
		return r.chars(t)
	case xml.Directive:
		return problem(r.path, r.line, r.col, "remove the <!DOCTYPE …>", "a document type is not allowed here: it could define entities or read other files")
	}
	return nil
}

func (r *reader) start(name string) error {
	if r.elements++; r.elements > maxElements {
		return problem(r.path, r.line, r.col, "", "more than %d elements", maxElements)
	}
	if len(r.open) == maxDepth {
		return problem(r.path, r.line, r.col, "", "elements are nested more than %d deep", maxDepth)
	}
	n := &node{name: strings.Clone(name), line: r.line, col: r.col}
	switch last := len(r.open) - 1; {
	case last >= 0:
		r.open[last].kids = append(r.open[last].kids, n)
	case r.root != nil:
		return problem(r.path, r.line, r.col, "", "expected one element, got <%s> after <%s>", name, r.root.name)
	default:
		r.root = n
	}
	r.open = append(r.open, n)
	if len(r.texts) < len(r.open) {
		r.texts = append(r.texts, nil)
	}
	r.texts[len(r.open)-1] = r.texts[len(r.open)-1][:0]
	return nil
}

func (r *reader) end(name string) error {
	last := len(r.open) - 1
	if last < 0 {
		return problem(r.path, r.line, r.col, "", "</%s> closes nothing", name)
	}
	n := r.open[last]
	if n.name != name {
		return problem(r.path, r.line, r.col, "", "expected </%s> for the <%s> of line %d, got </%s>", n.name, n.name, n.line, name)
	}
	n.text = string(bytes.TrimSpace(r.texts[last]))
	r.open = r.open[:last]
	return nil
}

func (r *reader) chars(text []byte) error {
	if last := len(r.open) - 1; last >= 0 {
		r.texts[last] = append(r.texts[last], text...)
		return nil
	}
	if rest := bytes.TrimPrefix(bytes.TrimSpace(text), []byte("\ufeff")); len(rest) > 0 {
		return problem(r.path, r.line, r.col, "", "expected an element, got the text %.40q", rest)
	}
	return nil
}

// failed adds the place to an error of the decoder.
func (r *reader) failed(err error) error {
	line, col := r.dec.InputPos()
	text := err.Error()
	var syntax *xml.SyntaxError
	if errors.As(err, &syntax) {
		text = syntax.Msg
	}
	return problem(r.path, line, col, "", "%s", text)
}

// transcode converts UTF-16 with a byte order mark to UTF-8, and drops the byte order mark
// of UTF-8.
func transcode(data []byte) ([]byte, error) {
	var order binary.ByteOrder
	switch {
	case bytes.HasPrefix(data, []byte("\xef\xbb\xbf")):
		return data[3:], nil
	case bytes.HasPrefix(data, []byte("\xfe\xff")):
		order = binary.BigEndian
	case bytes.HasPrefix(data, []byte("\xff\xfe")):
		order = binary.LittleEndian
	default:
		return data, nil
	}
	if len(data)%2 != 0 {
		return nil, errors.New("UTF-16 with half a character at the end")
	}
	units := make([]uint16, 0, len(data)/2)
	for i := 2; i < len(data); i += 2 {
		units = append(units, order.Uint16(data[i:]))
	}
	return []byte(string(utf16.Decode(units))), nil
}

// charset converts the encodings that a declaration may name. UTF-16 is UTF-8 by then.
func charset(name string, input io.Reader) (io.Reader, error) {
	switch strings.ToLower(name) {
	case "utf-8", "utf8", "utf-16", "utf-16le", "utf-16be", "us-ascii", "ascii":
		return input, nil
	case "iso-8859-1", "iso-8859-15", "latin1", "windows-1252", "cp1252":
		return &latin1{input}, nil // they differ in characters that no name or path here has
	}
	return nil, fmt.Errorf("the encoding %q is not known", name)
}

// latin1 converts ISO 8859-1 to UTF-8.
type latin1 struct{ from io.Reader }

func (l *latin1) Read(p []byte) (int, error) {
	if len(p) < 2 {
		return 0, io.ErrShortBuffer
	}
	n, err := l.from.Read(p[:len(p)/2])
	high := 0
	for _, b := range p[:n] {
		if b >= 0x80 {
			high++
		}
	}
	for i, j := n-1, n+high-1; i >= 0; i, j = i-1, j-1 {
		if b := p[i]; b >= 0x80 {
			p[j-1], p[j] = 0xc0|b>>6, 0x80|b&0x3f
			j--
		} else {
			p[j] = b
		}
	}
	return n + high, err
}
