package cargolock

import (
	"strconv"
	"strings"
)

// document holds the parts of a Cargo.lock that this package uses.
type document struct {
	version  int64
	odd      string // a version that is not a number
	packages []entry
	sums     map[string]string // see checksums
}

// scan reads the layout that cargo writes, line by line; ok is false for any other layout.
func scan(data string) (d document, ok bool) {
	s := scanner{rest: data}
	for s.next() {
		switch {
		case s.line == "" || s.line[0] == '#':
		case s.line == "[[package]]":
			d.packages = append(d.packages, entry{})
			s.into = &d.packages[len(d.packages)-1]
		case s.line == "[[patch.unused]]":
			s.into = &s.unused
		case s.line[0] == '[':
			return d, false
		default:
			if !s.pair(&d) {
				return d, false
			}
		}
	}
	return d, true
}

type scanner struct {
	rest, line string
	into       *entry // nil in the top table
	unused     entry
}

func (s *scanner) next() bool {
	if s.rest == "" {
		return false
	}
	s.line, s.rest, _ = strings.Cut(s.rest, "\n")
	return true
}

// pair reads "key = value".
func (s *scanner) pair(d *document) bool {
	key, value, ok := strings.Cut(s.line, " = ")
	if !ok {
		return false
	}
	if s.into == nil {
		n, err := strconv.ParseInt(value, 10, 64)
		d.version = n
		return key == "version" && err == nil && value[0] != '+'
	}
	if key == "dependencies" {
		s.into.Dependencies, ok = s.list(value)
		return ok
	}
	text, ok := quoted(value)
	switch key {
	case "name":
		s.into.Name = text
	case "version":
		s.into.Version = text
	case "source":
		s.into.Source = text
	case "checksum":
		s.into.Checksum = text
	case "replace":
		s.into.Replace = text
	default:
		return false
	}
	return ok
}

// list reads an array of strings, one on each line.
func (s *scanner) list(open string) (list []string, ok bool) {
	if open != "[" {
		return nil, false
	}
	for s.next() {
		if s.line == "]" {
			return list, true
		}
		line, indented := strings.CutPrefix(s.line, " ")
		line, ended := strings.CutSuffix(line, ",")
		text, plain := quoted(line)
		if !indented || !ended || !plain {
			return nil, false
		}
		list = append(list, text)
	}
	return nil, false
}

// quoted returns the text between quotes when it holds no escapes.
func quoted(text string) (string, bool) {
	if len(text) < 2 || text[0] != '"' || text[len(text)-1] != '"' {
		return "", false
	}
	text = text[1 : len(text)-1]
	for i := range len(text) {
		if c := text[i]; c == '"' || c == '\\' || c < ' ' || c >= 0x7f {
			return "", false
		}
	}
	return text, true
}
