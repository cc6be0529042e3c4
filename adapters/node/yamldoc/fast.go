package yamldoc

import (
	"strings"
	"unicode/utf8"

	"github.com/bentobuild/bento/internal/jsonfile"
)

// fastDepth is how deep blocks may nest for the fast parser.
const fastDepth = 64

// fast reads blocks line by line. It gives up at the first construct that it does not know:
// ok is then false, here and in all its methods.
type fast struct {
	src   string
	rest  string // after the current line
	line  int32  // the current line, from 1
	depth int    // its indentation
	text  string // its text without indentation; "" at the end of a document
	ended bool   // there are no more lines

	count int
	slab  []jsonfile.Value
	pairs []jsonfile.Member // of the open maps, the innermost last
	items []*jsonfile.Value
}

func parseFast(src string) (docs []*jsonfile.Value, ok bool) {
	f := &fast{src: src, rest: src}
	if !f.advance() {
		return nil, false
	}
	for !f.ended {
		if f.depth == 0 && f.text == "---" {
			if !f.advance() {
				return nil, false
			}
		}
		if f.text == "" || f.text == "---" {
			return nil, false // an empty document
		}
		doc, ok := f.block(0, 0)
		if !ok || !f.ended && f.text != "---" {
			return nil, false
		}
		docs = append(docs, doc)
	}
	return docs, true
}

// advance moves to the next line that is not empty or a comment.
func (f *fast) advance() bool {
	for f.rest != "" {
		line, rest, _ := strings.Cut(f.rest, "\n")
		f.rest = rest
		f.line++
		line = strings.TrimSuffix(line, "\r")
		f.text = strings.TrimLeft(line, " ")
		f.depth = len(line) - len(f.text)
		if f.text == "" || f.text[0] == '#' && isPlainText(f.text) {
			continue
		}
		f.text = strings.TrimRight(f.text, " ")
		return isPlainText(f.text) && !f.isMark()
	}
	f.text, f.depth, f.ended = "", 0, true
	return true
}

// isMark reports whether the line divides documents in another way than a plain "---".
func (f *fast) isMark() bool {
	t := f.text
	return f.depth == 0 && (t[0] == '%' || strings.HasPrefix(t, "...") || strings.HasPrefix(t, "---") && t != "---")
}

// isPlainText reports whether text holds no characters with a special meaning in YAML.
func isPlainText(s string) bool {
	ascii := true
	for i := range len(s) {
		if c := s[i]; c < ' ' || c == 0x7f {
			return false
		} else if c >= utf8.RuneSelf {
			ascii = false
		}
	}
	return ascii || utf8.ValidString(s) && strings.IndexFunc(s, isOddRune) < 0
}

// isOddRune reports whether r is a line end, a control character or a byte order mark.
func isOddRune(r rune) bool {
	return r >= 0x80 && r < 0xa0 || r == 0x2028 || r == 0x2029 || r == 0xfeff || r == 0xfffe || r == 0xffff || r >= 0xd800 && r < 0xe000
}

func (f *fast) make(kind jsonfile.Kind) *jsonfile.Value {
	if len(f.slab) == 0 {
		f.slab = make([]jsonfile.Value, min(1024, 8+len(f.src)/32))
	}
	n := &f.slab[0]
	f.slab = f.slab[1:]
	f.count++
	n.Start(kind, int(f.line), "")
	return n
}

// block reads a map or a list with an indentation of at least least.
func (f *fast) block(least, nesting int) (*jsonfile.Value, bool) {
	if f.depth < least || nesting > fastDepth || f.count > maxNodes {
		return nil, false
	}
	if isItem(f.text) {
		return f.list(nesting)
	}
	return f.mapping(nesting)
}

func isItem(text string) bool { return text == "-" || strings.HasPrefix(text, "- ") }

// more reports whether the current line belongs to a block of this indentation.
func (f *fast) more(depth int) bool { return !f.ended && f.depth == depth && f.text != "---" }

func (f *fast) mapping(nesting int) (*jsonfile.Value, bool) {
	n, depth, base := f.make(jsonfile.Object), f.depth, len(f.pairs)
	for f.more(depth) && !isItem(f.text) {
		key, value, ok := splitKey(f.text)
		if !ok {
			return nil, false
		}
		p := jsonfile.Member{Name: key, Line: int(f.line)}
		if p.Value, ok = f.value(value, depth, nesting); !ok {
			return nil, false
		}
		f.pairs = append(f.pairs, p)
	}
	pairs := append(make([]jsonfile.Member, 0, len(f.pairs)-base), f.pairs[base:]...)
	f.pairs = f.pairs[:base]
	n.Fill(pairs, nil)
	_, twice := duplicate(pairs)
	return n, !twice && len(pairs) > 0 && (f.ended || f.depth < depth || f.text == "---")
}

func (f *fast) list(nesting int) (*jsonfile.Value, bool) {
	n, depth, base := f.make(jsonfile.Array), f.depth, len(f.items)
	for f.more(depth) && isItem(f.text) {
		text := strings.TrimLeft(f.text[1:], " ")
		if text == "" || text[0] == '#' || isItem(text) || text[0] == '|' {
			return nil, false
		}
		item, ok := f.scalar(text)
		if !ok || !f.advance() {
			return nil, false
		}
		f.items = append(f.items, item)
	}
	n.Fill(nil, append(make([]*jsonfile.Value, 0, len(f.items)-base), f.items[base:]...))
	f.items = f.items[:base]
	return n, f.ended || f.depth <= depth
}

// value reads what follows a key of a map with this indentation.
func (f *fast) value(text string, depth, nesting int) (n *jsonfile.Value, ok bool) {
	switch {
	case text == "|" || text == "|-":
		return f.literal(depth, text == "|")
	case text != "" && text[0] != '#':
		if n, ok = f.scalar(text); !ok || !f.advance() {
			return nil, false
		}
		return n, true
	}
	key := f.line
	if !f.advance() {
		return nil, false
	}
	if deeper := f.depth > depth || f.depth == depth && isItem(f.text); deeper && !f.ended {
		return f.block(depth, nesting+1)
	}
	n = f.make(jsonfile.Null)
	n.Start(jsonfile.Null, int(key), "")
	return n, true
}

// literal reads the lines of a literal block that are indented by more than depth.
func (f *fast) literal(depth int, keepEnd bool) (*jsonfile.Value, bool) {
	n, start := f.make(jsonfile.String), int(f.line)
	var lines []string
	indent := 0
	for f.rest != "" {
		line, rest, ended := strings.Cut(f.rest, "\n")
		text := strings.TrimLeft(line, " ")
		if by := len(line) - len(text); text == "" || !isPlainText(line) || !ended {
			return nil, false // an empty line, or one that may be empty
		} else if by <= depth {
			break
		} else if indent == 0 {
			indent = by
		} else if by < indent {
			return nil, false
		}
		lines, f.rest = append(lines, line[indent:]), rest
		f.line++
	}
	if keepEnd {
		lines = append(lines, "")
	}
	n.Start(jsonfile.String, start, strings.Join(lines, "\n"))
	return n, indent > 0 && f.rest != "" && f.advance()
}

// splitKey splits a line into its key and the rest.
func splitKey(line string) (key, value string, ok bool) {
	if line[0] == '"' || line[0] == '\'' {
		key, rest, ok := quoted(line)
		if !ok || rest == "" || rest[0] != ':' || len(rest) > 1 && rest[1] != ' ' || len(key) > 1000 {
			return "", "", false
		}
		return key, strings.TrimLeft(rest[1:], " "), true
	}
	end := strings.Index(line, ": ")
	if end < 0 {
		if end = len(line) - 1; line[end] != ':' {
			return "", "", false
		}
	}
	key, value = line[:end], strings.TrimLeft(line[end+1:], " ")
	return key, value, isPlainScalar(key) && key != "<<" && len(key) <= 1000
}

// quoted reads the quoted text at the start of s if it has no escapes.
func quoted(s string) (text, rest string, ok bool) {
	q := s[0]
	end := strings.IndexByte(s[1:], q) + 1
	if end == 0 {
		return "", "", false
	}
	text, rest = s[1:end], s[end+1:]
	if q == '"' && strings.IndexByte(text, '\\') >= 0 || q == '\'' && strings.HasPrefix(rest, "'") {
		return "", "", false
	}
	return text, rest, true
}

// isPlainScalar reports whether text needs no quotes in a block.
func isPlainScalar(s string) bool {
	return s != "" && strings.IndexByte("-?:,[]{}#&*!|>'\"%@`=", s[0]) < 0 &&
		!strings.Contains(s, ": ") && !strings.Contains(s, " #") && s[len(s)-1] != ':' && s[len(s)-1] != ' '
}

// isNull reports whether s is a null.
func isNull(s string) bool { return s == "~" || s == "null" || s == "Null" || s == "NULL" }
