// Package yamldoc reads the YAML that package managers write, such as lockfiles of many
// thousand lines, and the settings that people write for them.
//
// The fast parser reads the small part of YAML that the managers write. The full parser
// reads everything else. Both return the same values: of every scalar but null a string.
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
	"github.com/bentobuild/bento/internal/jsonfile"
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
func Parse(path string, data []byte) ([]*jsonfile.Value, error) {
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

// ParsePlaced is Parse for small files that people write. The values have columns, too.
func ParsePlaced(path string, data []byte) ([]*jsonfile.Value, error) {
	data, _ = bytes.CutPrefix(data, []byte("\xef\xbb\xbf"))
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
	p := diagnostics.Pos{File: path, Line: 1}.Error(RuleSyntax, "not valid YAML: %s", strings.TrimPrefix(err.Error(), "yaml: "))
	if m := errorLine.FindStringSubmatch(err.Error()); m != nil {
		p.Line, _ = strconv.Atoi(m[1])
		p.Line = min(max(p.Line, 1), lines)
		p.Message = "not valid YAML: " + strings.TrimPrefix(err.Error(), m[0])
	}
	return diagnostics.Problems{p}
}

func parseFull(data []byte) ([]*jsonfile.Value, error) {
	if len(data) > maxFull {
		return nil, fmt.Errorf("larger than %d MiB, and not in the layout of a package manager", maxFull>>20)
	}
	var docs []*jsonfile.Value
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

func (c *converter) convert(from *yaml.Node, depth int) (*jsonfile.Value, error) {
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
	n := new(jsonfile.Value)
	n.At(from.Column)
	if from.Tag == "!!null" {
		n.Start(jsonfile.Null, from.Line, "")
	} else {
		n.Start(jsonfile.String, from.Line, from.Value)
	}
	return n, nil
}

func (c *converter) mapping(from *yaml.Node, depth int) (*jsonfile.Value, error) {
	var pairs []jsonfile.Member
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
		pairs = append(pairs, jsonfile.Member{Name: key.Value, Line: from.Content[i].Line, Value: value})
	}
	if twice, ok := duplicate(pairs); ok {
		return nil, fmt.Errorf("yaml: line %d: the key %.100q occurs twice", twice.Line, twice.Name)
	}
	n := new(jsonfile.Value)
	n.Start(jsonfile.Object, from.Line, "")
	n.At(from.Column)
	n.Fill(pairs, nil)
	return n, nil
}

func (c *converter) sequence(from *yaml.Node, depth int) (*jsonfile.Value, error) {
	var items []*jsonfile.Value
	for _, item := range from.Content {
		v, err := c.convert(item, depth+1)
		if err != nil {
			return nil, err
		}
		items = append(items, v)
	}
	n := new(jsonfile.Value)
	n.Start(jsonfile.Array, from.Line, "")
	n.At(from.Column)
	n.Fill(nil, items)
	return n, nil
}

func lineError(at *yaml.Node, format string, args ...any) error {
	return fmt.Errorf("yaml: line %d: %s", at.Line, fmt.Sprintf(format, args...))
}

// few is how many keys are compared with each other without an index.
const few = 12

// duplicate returns a key that occurs twice.
func duplicate(pairs []jsonfile.Member) (jsonfile.Member, bool) {
	if len(pairs) <= few {
		for i := range pairs {
			for j := range i {
				if pairs[i].Name == pairs[j].Name {
					return pairs[i], true
				}
			}
		}
		return jsonfile.Member{}, false
	}
	seen := make(map[string]struct{}, len(pairs))
	for i := range pairs {
		if _, twice := seen[pairs[i].Name]; twice {
			return pairs[i], true
		}
		seen[pairs[i].Name] = struct{}{}
	}
	return jsonfile.Member{}, false
}
