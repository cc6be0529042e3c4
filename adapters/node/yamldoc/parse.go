package yamldoc

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/bentobuild/bento/diagnostics"
	"github.com/bentobuild/bento/internal/pattern"
)

// RuleSyntax is the rule of the diagnostic of a file that is not YAML.
const RuleSyntax = "yaml_syntax"

// Bounds of a file. maxFull is for the full parser, which needs a hundred times the memory
// of its input; files of the managers may be as large as any manifest.
const (
	maxNodes   = 2 << 20
	maxAliased = 20_000
	maxDepth   = 500
	maxFull    = 4 << 20
)

// Parse reads the documents of a file. Messages name it by path. The error is a
// diagnostics.Problems with file and line.
func Parse(path string, data []byte) ([]*Node, error) {
	data, _ = bytes.CutPrefix(data, []byte("\xef\xbb\xbf"))
	if docs, ok := parseFast(string(data)); ok {
		return docs, nil
	}
	docs, err := parseFull(data)
	if err != nil {
		return nil, problem(path, err, 1+bytes.Count(data, []byte{'\n'}))
	}
	return docs, nil
}

var errorLine = pattern.New(`^yaml: line (\d+): `)

// problem returns an error within the file's lines: the full parser knows further line ends
// besides newlines.
func problem(path string, err error, lines int) error {
	p := diagnostics.Diagnostic{
		File: path, Line: 1, Severity: diagnostics.Error, Rule: RuleSyntax, Source: diagnostics.Source,
		Message: "not valid YAML: " + strings.TrimPrefix(err.Error(), "yaml: "),
	}
	if m := errorLine.FindStringSubmatch(err.Error()); m != nil {
		p.Line, _ = strconv.Atoi(m[1])
		p.Line = min(max(p.Line, 1), lines)
		p.Message = "not valid YAML: " + strings.TrimPrefix(err.Error(), m[0])
	}
	return diagnostics.Problems{p}
}

func parseFull(data []byte) ([]*Node, error) {
	if len(data) > maxFull {
		return nil, fmt.Errorf("larger than %d MiB, and not in the layout of a package manager", maxFull>>20)
	}
	var docs []*Node
	c := &converter{}
	for d := yaml.NewDecoder(bytes.NewReader(data)); ; {
		var doc yaml.Node
		if err := d.Decode(&doc); errors.Is(err, io.EOF) {
			return docs, nil
		} else if err != nil {
			return nil, err
		}
		n, err := c.convert(&doc, 0)
		if err != nil {
			return nil, err
		}
		docs = append(docs, n)
	}
}

// converter converts nodes of the full parser, with aliases expanded up to a bound.
type converter struct {
	aliased int // values that aliases stand for
	inAlias int // how many aliases are being expanded
}

func (c *converter) convert(from *yaml.Node, depth int) (*Node, error) {
	if c.inAlias > 0 {
		c.aliased++
	}
	switch {
	case depth > maxDepth:
		return nil, lineError(from, "nested deeper than %d", maxDepth)
	case c.aliased > maxAliased:
		return nil, lineError(from, "aliases stand for more than %d values", maxAliased)
	}
	switch from.Kind {
	case yaml.DocumentNode:
		return c.convert(from.Content[0], depth+1)
	case yaml.AliasNode:
		c.inAlias++
		defer func() { c.inAlias-- }()
		return c.convert(from.Alias, depth+1)
	case yaml.MappingNode:
		return c.mapping(from, depth)
	case yaml.SequenceNode:
		return c.sequence(from, depth)
	}
	n := &Node{kind: Scalar, line: int32(from.Line), text: from.Value}
	if from.Tag == "!!null" {
		n.kind, n.text = Null, ""
	}
	return n, nil
}

func (c *converter) mapping(from *yaml.Node, depth int) (*Node, error) {
	n := &Node{kind: Map, line: int32(from.Line)}
	for i := 0; i+1 < len(from.Content); i += 2 {
		key := from.Content[i]
		if key.Kind == yaml.AliasNode {
			key = key.Alias
		}
		if key.Kind != yaml.ScalarNode {
			return nil, lineError(key, "a key that is not a string")
		}
		value, err := c.convert(from.Content[i+1], depth+1)
		if err != nil {
			return nil, err
		}
		n.pairs = append(n.pairs, Pair{Key: key.Value, Line: from.Content[i].Line, Value: value})
	}
	if twice, ok := duplicate(n.pairs); ok {
		return nil, fmt.Errorf("yaml: line %d: the key %.100q occurs twice", twice.Line, twice.Key)
	}
	return n, nil
}

func (c *converter) sequence(from *yaml.Node, depth int) (*Node, error) {
	n := &Node{kind: List, line: int32(from.Line)}
	for _, item := range from.Content {
		v, err := c.convert(item, depth+1)
		if err != nil {
			return nil, err
		}
		n.items = append(n.items, v)
	}
	return n, nil
}

func lineError(at *yaml.Node, format string, args ...any) error {
	return fmt.Errorf("yaml: line %d: %s", at.Line, fmt.Sprintf(format, args...))
}

// few is how many keys are compared with each other without an index.
const few = 12

// duplicate returns a key that occurs twice.
func duplicate(pairs []Pair) (Pair, bool) {
	if len(pairs) <= few {
		for i := range pairs {
			for j := range i {
				if pairs[i].Key == pairs[j].Key {
					return pairs[i], true
				}
			}
		}
		return Pair{}, false
	}
	seen := make(map[string]struct{}, len(pairs))
	for i := range pairs {
		if _, twice := seen[pairs[i].Key]; twice {
			return pairs[i], true
		}
		seen[pairs[i].Key] = struct{}{}
	}
	return Pair{}, false
}
