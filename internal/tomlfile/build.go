package tomlfile

import (
	"errors"
	"strconv"

	"github.com/pelletier/go-toml/v2/unstable"

	"github.com/bentobuild/bento/diagnostics"
)

// maxDepth is the largest depth of nested values and keys: later code walks the tree recursively,
// and BurntSushi's parser has no limit of its own.
const maxDepth = 128

// builder makes the tree of a document with positions, and checks TOML's rules about duplicate
// definitions. fill sets the scalars later.
type builder struct {
	f        *File
	p        unstable.Parser
	current  *Value // table of the last header
	problems []diagnostics.Diagnostic
}

// build makes f.root.
func (f *File) build() []diagnostics.Diagnostic {
	b := &builder{f: f}
	f.root = &Value{file: f, kind: Table, origin: byHeader, table: map[string]*Value{}}
	b.current = f.root
	b.p.Reset(f.data)
	for len(b.problems) < maxProblems && b.p.NextExpression() {
		switch e := b.p.Expression(); e.Kind {
		case unstable.Table:
			b.header(e)
		case unstable.ArrayTable:
			b.element(e)
		case unstable.KeyValue:
			b.keyValue(b.current, e, 0)
		}
	}
	b.syntaxError()
	return b.problems
}

func (b *builder) syntaxError() {
	err := b.p.Error()
	if err == nil {
		return
	}
	offset := len(b.f.data)
	var perr *unstable.ParserError
	if errors.As(err, &perr) && len(perr.Highlight) > 0 {
		offset = int(b.p.Range(perr.Highlight).Offset)
	}
	b.problem(offset, "%s", err)
}

func (b *builder) problem(offset int, format string, args ...any) {
	b.problems = append(b.problems, b.f.pos(offset).Error(RuleSyntax, format, args...))
}

// twice reports that an existing definition of the key forbids the new one.
func (b *builder) twice(key *unstable.Node, old *Value) {
	first := b.f.pos(old.key)
	b.problem(int(key.Raw.Offset), "%s is defined twice, first in line %d column %d", Key(string(key.Data)), first.Line, first.Col)
}

// header handles [a.b.c].
func (b *builder) header(e *unstable.Node) {
	parent, last := b.headerParent(e)
	if parent == nil {
		return
	}
	v := parent.table[string(last.Data)]
	switch {
	case v == nil:
		v = b.add(parent, last, Table, byHeader)
	case v.kind == Table && v.origin == byLonger:
		v.origin = byHeader
	default:
		b.twice(last, v)
		return
	}
	b.open(v, last)
}

// element handles [[a.b.c]].
func (b *builder) element(e *unstable.Node) {
	parent, last := b.headerParent(e)
	if parent == nil {
		return
	}
	v := parent.table[string(last.Data)]
	if v == nil {
		v = b.add(parent, last, Array, byElements)
	} else if v.origin != byElements {
		b.twice(last, v)
		return
	}
	elem := b.child(v, strconv.Itoa(len(v.list)), Table, byHeader)
	v.list = append(v.list, elem)
	b.open(elem, last)
}

// open makes v the table of the next lines.
func (b *builder) open(v *Value, key *unstable.Node) {
	offset := int(key.Raw.Offset)
	v.key, v.start, v.end = offset, offset, offset+int(key.Raw.Length)
	v.tail = b.lineEnd(v.end)
	b.current = v
}

// headerParent returns the table of the last key of a header. If the header is invalid, it reports a problem and
// returns nil; build then ignores the next lines.
func (b *builder) headerParent(e *unstable.Node) (parent *Value, last *unstable.Node) {
	b.current = &Value{file: b.f, kind: Table, origin: byHeader, table: map[string]*Value{}}
	parent = b.f.root
	depth := 0
	for it := e.Key(); it.Next(); depth++ {
		key := it.Node()
		if it.IsLast() {
			return parent, key
		}
		if depth == maxDepth {
			b.tooDeep(key)
			break
		}
		v := parent.table[string(key.Data)]
		switch {
		case v == nil:
			v = b.add(parent, key, Table, byLonger)
		case v.origin == byElements:
			v = v.list[len(v.list)-1]
		case v.kind != Table || v.origin == byValue:
			b.twice(key, v)
			return nil, nil
		}
		parent = v
	}
	return nil, nil
}

// keyValue handles a.b.c = value, in a table or an inline table.
func (b *builder) keyValue(table *Value, e *unstable.Node, depth int) {
	for it := e.Key(); it.Next(); depth++ {
		key := it.Node()
		if depth == maxDepth {
			b.tooDeep(key)
			return
		}
		old := table.table[string(key.Data)]
		switch {
		case it.IsLast() && old == nil:
			v := b.add(table, key, kindOf(e.Value().Kind), byValue)
			v.start = b.valueStart(int(key.Raw.Offset + key.Raw.Length))
			v.end = int(e.Raw.Offset + e.Raw.Length)
			b.value(v, e.Value(), depth+1)
			b.current.tail = b.lineEnd(v.end)
			return
		case it.IsLast() || old != nil && old.origin != byDots:
			b.twice(key, old)
			return
		case old == nil:
			old = b.add(table, key, Table, byDots)
		}
		table = old
	}
}

// value adds the elements or keys of v, whose start and kind are known.
func (b *builder) value(v *Value, n *unstable.Node, depth int) {
	if v.kind != Array && v.kind != Table {
		return
	}
	if depth >= maxDepth {
		b.problem(v.start, "%s nests deeper than %d levels", v.kind, maxDepth)
		return
	}
	at := v.start + 1
	for it := n.Children(); it.Next(); {
		child := it.Node()
		if v.kind == Table {
			b.keyValue(v, child, depth)
			at = int(child.Raw.Offset + child.Raw.Length)
			continue
		}
		elem := b.child(v, strconv.Itoa(len(v.list)), kindOf(child.Kind), byValue)
		elem.start = b.skip(at)
		elem.key, elem.end = elem.start, elem.start+int(child.Raw.Length)
		v.list = append(v.list, elem)
		b.value(elem, child, depth+1)
		at = elem.end
	}
	v.end = b.skip(at) + 1
}

// skip returns the offset of the next token inside an array or inline table, which the parser does
// not report.
func (b *builder) skip(offset int) int {
	data := b.f.data
	for offset < len(data) {
		switch data[offset] {
		case ' ', '\t', '\r', '\n', ',':
			offset++
		case '#':
			offset = b.lineEnd(offset)
		default:
			return offset
		}
	}
	return offset
}

func (b *builder) tooDeep(key *unstable.Node) {
	b.problem(int(key.Raw.Offset), "the key has more than %d parts", maxDepth)
}

// add adds a new key to a table and returns its value.
func (b *builder) add(table *Value, key *unstable.Node, kind Kind, o origin) *Value {
	v := b.child(table, string(key.Data), kind, o)
	v.key = int(key.Raw.Offset)
	v.start, v.end = v.key, v.key+int(key.Raw.Length)
	table.names = append(table.names, v.name)
	table.table[v.name] = v
	return v
}

func (b *builder) child(parent *Value, name string, kind Kind, o origin) *Value {
	v := &Value{file: b.f, parent: parent, name: name, kind: kind, origin: o}
	if kind == Table {
		v.table = make(map[string]*Value)
	}
	return v
}

// valueStart returns the offset of the value whose key ends at offset.
func (b *builder) valueStart(offset int) int {
	for offset < len(b.f.data) {
		switch b.f.data[offset] {
		case ' ', '\t', '=':
			offset++
		default:
			return offset
		}
	}
	return offset
}

// lineEnd returns the offset after the line that contains offset.
func (b *builder) lineEnd(offset int) int {
	line := b.f.pos(offset).Line
	if line < len(b.f.lines) {
		return b.f.lines[line]
	}
	return len(b.f.data)
}

func kindOf(k unstable.Kind) Kind {
	switch k {
	case unstable.String:
		return String
	case unstable.Integer:
		return Integer
	case unstable.Float:
		return Float
	case unstable.Bool:
		return Bool
	case unstable.Array:
		return Array
	case unstable.InlineTable:
		return Table
	default:
		return Date
	}
}
