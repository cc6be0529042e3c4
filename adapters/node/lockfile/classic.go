package lockfile

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/bentobuild/bento/internal/lockgraph"
)

// Classic is the lockfile of yarn 1. It has no members: their requirements are in their
// manifests.
type Classic struct {
	graph    lockgraph.Graph
	patterns map[string]lockgraph.Node // "name@range"
}

// entry is one package with the patterns that resolve to it.
type entry struct {
	patterns     []string
	fields       map[string]string
	dependencies [][2]string // name, range
}

// IsClassic reports whether data is a lockfile of yarn 1.
func IsClassic(data []byte) bool {
	head := data[:min(len(data), 256)]
	return bytes.Contains(head, []byte("yarn lockfile v1")) || !bytes.Contains(data, []byte("__metadata:"))
}

// ParseClassic reads the lockfile of yarn 1, in its own format. The error says why it cannot.
func ParseClassic(data []byte) (*Classic, error) {
	p := &classicParser{}
	for line := range strings.Lines(string(bytes.TrimPrefix(data, []byte("\xef\xbb\xbf")))) {
		p.number++
		if err := p.line(strings.TrimRight(line, "\r\n")); err != nil {
			return nil, fmt.Errorf("line %d is not in the layout of yarn: %w", p.number, err)
		}
	}
	return newClassic(p.entries), nil
}

func newClassic(entries []*entry) *Classic {
	c := &Classic{patterns: make(map[string]lockgraph.Node, len(entries))}
	nodes := make([]lockgraph.Node, len(entries))
	for i, e := range entries {
		name, _ := splitDescriptor(e.patterns[0])
		nodes[i] = c.graph.Add("package", name, e.fields["version"], source(e.fields["integrity"], e.fields["resolved"]))
		for _, pattern := range e.patterns {
			c.patterns[pattern] = nodes[i]
		}
	}
	for i, e := range entries {
		for _, d := range e.dependencies {
			to, ok := c.patterns[d[0]+"@"+d[1]]
			if !ok {
				to = c.graph.Add("absent", d[0], d[1])
			}
			c.graph.Link(nodes[i], d[0], to)
		}
	}
	c.graph.Seal()
	return c
}

// Find returns the digest of what a dependency of a member resolves to; ok is false when
// the lockfile does not hold it, as for other members.
func (c *Classic) Find(name, spec string) (lockgraph.Sum, bool) {
	n, ok := c.patterns[name+"@"+spec]
	if !ok {
		return lockgraph.Sum{}, false
	}
	return c.graph.Sum(n), true
}

// classicParser reads line by line; the meaning of a line follows from its indentation.
type classicParser struct {
	number  int
	entries []*entry
	block   string // the field of the following lines, or ""
}

func (p *classicParser) line(line string) error {
	text := strings.TrimLeft(line, " ")
	if text == "" || text[0] == '#' {
		return nil
	}
	switch indent := len(line) - len(text); {
	case indent == 0:
		return p.begin(text)
	case len(p.entries) == 0:
		return fmt.Errorf("%.40q belongs to no entry", text)
	case indent == 2:
		return p.field(p.entries[len(p.entries)-1], text)
	case indent == 4 && p.block != "":
		return p.dependency(p.entries[len(p.entries)-1], text)
	}
	return fmt.Errorf("%.40q is indented by %d", text, len(line)-len(text))
}

func (p *classicParser) begin(text string) error {
	e := &entry{fields: make(map[string]string, 4)}
	p.entries, p.block = append(p.entries, e), ""
	for {
		pattern, rest, err := word(text, ",:")
		if err != nil {
			return err
		}
		e.patterns = append(e.patterns, pattern)
		if rest == ":" {
			return nil
		}
		more, ok := strings.CutPrefix(rest, ", ")
		if !ok {
			return fmt.Errorf("%.40q, expected a comma or a colon", rest)
		}
		text = more
	}
}

func (p *classicParser) field(e *entry, text string) error {
	name, rest, err := word(text, ": ")
	if err != nil {
		return err
	}
	if rest == ":" {
		p.block = name
		return nil
	}
	p.block = ""
	value, rest, err := word(strings.TrimPrefix(rest, " "), "")
	if err == nil && rest != "" {
		err = fmt.Errorf("%.40q after a value", rest)
	}
	e.fields[name] = value
	return err
}

func (p *classicParser) dependency(e *entry, text string) error {
	name, rest, err := word(text, " ")
	if err != nil {
		return err
	}
	spec, rest, err := word(strings.TrimPrefix(rest, " "), "")
	if err == nil && rest != "" {
		err = fmt.Errorf("%.40q after a range", rest)
	}
	if p.block == "dependencies" || p.block == "optionalDependencies" {
		e.dependencies = append(e.dependencies, [2]string{name, spec})
	}
	return err
}

// word reads a text, in quotes or up to one of the characters in ends.
func word(s, ends string) (text, rest string, err error) {
	if strings.HasPrefix(s, `"`) {
		return quotedWord(s)
	}
	end := len(s)
	if i := strings.IndexAny(s, ends); ends != "" && i >= 0 {
		end = i
	}
	if end == 0 {
		return "", "", fmt.Errorf("%.40q, expected a text", s)
	}
	return s[:end], s[end:], nil
}

func quotedWord(s string) (text, rest string, err error) {
	for i := 1; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++
		case '"':
			err := json.Unmarshal([]byte(s[:i+1]), &text)
			return text, s[i+1:], err
		}
	}
	return "", "", fmt.Errorf("%.40q has no closing quote", s)
}
