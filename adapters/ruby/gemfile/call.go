package gemfile

import (
	"slices"
	"strings"
)

// call is one statement that calls a method with literal arguments.
type call struct {
	receiver string // "spec" of spec.name, or ""
	name     string
	line     int
	args     []value
	options  map[string]value
	assigned bool // receiver.name = value
	block    bool // a block follows
	depth    int  // of the blocks around it
	within   *call
}

// maxDepth is how deep blocks may nest: deeper ones end the reading.
const maxDepth = 200

// outer yields the calls around the block of a call, the innermost first.
func (c *call) outer(yield func(*call) bool) {
	for b := c.within; b != nil && yield(b); b = b.within {
	}
}

// value is an argument as far as it is known.
type value struct {
	kind  kind // text, symbol, list, word, computed; 0 for none
	text  string
	items []string // of a list
	line  int
}

// str returns a literal string, or false.
func (v value) str() (string, bool) { return v.text, v.kind == text }

// strs returns one or more literal strings or symbols.
func (v value) strs() []string {
	switch v.kind {
	case text, symbol:
		return []string{v.text}
	case list:
		return v.items
	}
	return nil
}

// option returns an option that is a literal string. dynamic is true when the option is
// computed.
func (c *call) option(name string) (s string, dynamic bool) {
	v, there := c.options[name]
	s, ok := v.str()
	return s, there && !ok && v.text != "nil" && v.text != "false"
}

// calls returns the calls of a program with the blocks around them. It ignores conditions.
func calls(tokens []token) []*call {
	p := &parser{tokens: tokens}
	for p.at < len(p.tokens) {
		p.statement()
	}
	return p.calls
}

// parser reads statements one after the other.
type parser struct {
	tokens []token
	at     int
	calls  []*call
	blocks []*call // open ones; nil for those of the language
}

func (p *parser) peek(n int) token {
	if p.at+n < len(p.tokens) {
		return p.tokens[p.at+n]
	}
	return token{kind: line}
}

func (t token) is(k kind, text string) bool { return t.kind == k && t.text == text }

// opening are the keywords at the start of a statement that have an "end".
const opening = " if unless case while until for begin def class module "

func (p *parser) statement() {
	t := p.peek(0)
	switch {
	case t.is(punct, "}"):
		p.close()
		p.at++
	case t.kind != word:
		p.skip()
	case t.text == "end":
		p.close()
		p.at++
	case strings.Contains(opening, " "+t.text+" "):
		p.push(nil)
		p.at++
		p.skipTo(func(t token) bool { return t.kind == line || t.is(word, "then") || t.is(word, "do") })
		if p.peek(0).is(word, "do") {
			p.at++ // of while, not a block of its own
		}
	case t.text == "else" || t.text == "then" || t.text == "ensure":
		p.at++
	case t.text == "elsif" || t.text == "when" || t.text == "rescue" || t.text == "in":
		p.skipTo(func(t token) bool { return t.kind == line || t.is(word, "then") })
	default:
		p.call()
	}
}

// push opens a block.
func (p *parser) push(c *call) {
	p.blocks = append(p.blocks, c)
	if len(p.blocks) > maxDepth {
		p.tokens = p.tokens[:p.at+1]
	}
}

func (p *parser) close() {
	if n := len(p.blocks); n > 0 {
		p.blocks = p.blocks[:n-1]
	}
}

// skip skips a statement that is not a call.
func (p *parser) skip() {
	p.at++
	if p.tokens[p.at-1].kind != line {
		p.rest(nil)
	}
}

func (p *parser) skipTo(stop func(token) bool) {
	for p.at < len(p.tokens) && !stop(p.tokens[p.at]) {
		p.at++
	}
}

// call reads a statement that begins with a name.
func (p *parser) call() {
	c := &call{name: p.peek(0).text, line: p.peek(0).line, options: make(map[string]value), depth: len(p.blocks)}
	p.at++
	var receiver []string
	for p.peek(0).is(punct, ".") && p.peek(1).kind == word || p.peek(0).is(punct, ":") && p.peek(1).is(punct, ":") && p.peek(2).kind == word {
		if p.peek(0).is(punct, ":") {
			p.at++
		}
		receiver = append(receiver, c.name)
		c.name = p.peek(1).text
		p.at += 2
	}
	c.receiver = strings.Join(receiver, ".")
	for _, b := range slices.Backward(p.blocks) {
		if c.within = b; b != nil {
			break
		}
	}
	p.calls = append(p.calls, c)
	switch next := p.peek(0); {
	case next.is(punct, "=") && p.peek(1).kind != punct || next.is(punct, "=") && p.peek(1).is(punct, "["):
		c.assigned = true
		p.at++
		p.arguments(c, "")
	case next.is(punct, "(") && !next.spaced:
		p.at++
		p.arguments(c, ")")
	case next.kind == word && isModifier(next.text):
	default:
		p.arguments(c, "")
	}
	p.rest(c)
}

// isModifier reports whether a keyword continues a statement after its arguments.
func isModifier(word string) bool {
	return word == "if" || word == "unless" || word == "while" || word == "until" || word == "rescue" || word == "do" || word == "and" || word == "or"
}

// rest moves to the end of a statement, and opens the block of c if it has one. It closes
// the blocks that it passes over where they end.
func (p *parser) rest(c *call) {
	depth := 0
	for ; p.at < len(p.tokens); p.at++ {
		switch t := p.tokens[p.at]; {
		case t.is(word, "do") || t.is(punct, "{") && depth == 0 && c != nil:
			p.open(c)
			return
		case t.is(punct, "}") && depth == 0:
			return
		case t.kind == punct && strings.Contains("([{", t.text):
			depth++
		case t.kind == punct && strings.Contains(")]}", t.text):
			depth = max(depth-1, 0)
		case depth == 0 && p.opens(t):
			p.push(nil)
		case t.kind == line && depth == 0 && !p.continues():
			p.at++
			return
		case t.is(word, "end") && depth == 0:
			return
		}
	}
}

// opens reports whether a keyword in the middle of a statement has its own "end": after an
// operator "if" begins an expression.
func (p *parser) opens(t token) bool {
	if t.kind != word || p.at == 0 {
		return false
	}
	switch t.text {
	case "def", "case", "begin", "class", "module":
		return !p.tokens[p.at-1].is(punct, ".")
	case "if", "unless", "while", "until":
		last := p.tokens[p.at-1]
		return last.kind == punct && !strings.Contains(")]}", last.text)
	}
	return false
}

// continues reports whether a statement continues after the end of a line.
func (p *parser) continues() bool {
	if p.at == 0 {
		return false
	}
	last, next := p.tokens[p.at-1], p.peek(1)
	return last.kind == punct && strings.Contains(",.=|&+\\", last.text) || next.is(punct, ".") && p.peek(2).kind == word
}

// open reads "do" with the names after it.
func (p *parser) open(c *call) {
	if c != nil {
		c.block = true
	}
	p.push(c)
	p.at++
	if p.peek(0).is(punct, "|") {
		p.at++
		p.skipTo(func(t token) bool { return t.is(punct, "|") || t.kind == line })
		p.at++
	}
}

// arguments reads values and options up to a closing delimiter, or to the end of the
// statement.
func (p *parser) arguments(c *call, closing string) {
	for p.at < len(p.tokens) {
		for p.at < len(p.tokens) && p.peek(0).kind == line && (closing != "" || p.continues()) {
			p.at++
		}
		switch t := p.peek(0); {
		case t.kind == line || t.kind == punct && strings.Contains(")]}", t.text) || t.kind == word && isModifier(t.text):
			if closing != "" && t.is(punct, closing) {
				p.at++
			}
			return
		case t.is(punct, ","):
			p.at++
		case t.kind == label:
			p.at++
			c.options[t.text] = p.value()
		case (t.kind == symbol || t.kind == text) && p.peek(1).is(punct, "=") && p.peek(2).is(punct, ">"):
			p.at += 3
			c.options[t.text] = p.value()
		default:
			c.args = append(c.args, p.value())
		}
	}
}

// value reads one value up to the next comma or the end.
func (p *parser) value() value {
	for p.peek(0).kind == line && p.at < len(p.tokens) {
		p.at++
	}
	t := p.peek(0)
	v := value{kind: t.kind, text: t.text, line: t.line}
	switch {
	case t.is(punct, "["):
		return p.array()
	case t.kind == list:
		v.items = strings.Fields(t.text)
	case t.kind == punct || t.kind == label:
		v.kind = computed
	}
	start := p.at
	p.skipValue()
	if p.at > start+1 && !p.harmless(start+1) {
		v.kind = computed // more than one token: an expression
	}
	if p.at == start {
		p.at++ // skip it, whatever it is
	}
	return v
}

// harmless reports whether the tokens after a string leave it unchanged.
func (p *parser) harmless(from int) bool {
	rest := p.tokens[from:p.at]
	return len(rest) == 2 && rest[0].is(punct, ".") && (rest[1].text == "freeze" || rest[1].text == "to_s")
}

// skipValue moves to the comma, bracket, modifier or end of line that ends a value.
func (p *parser) skipValue() {
	depth := 0
	for ; p.at < len(p.tokens); p.at++ {
		switch t := p.tokens[p.at]; {
		case t.kind == punct && strings.Contains("([{", t.text):
			depth++
		case t.kind == punct && strings.Contains(")]}", t.text):
			if depth == 0 {
				return
			}
			depth--
		case depth > 0:
		case t.is(punct, ",") || t.kind == word && isModifier(t.text) || t.kind == line && !p.continues():
			return
		}
	}
}

// array reads "[...]" of literal strings; any other array is computed.
func (p *parser) array() value {
	v := value{kind: list, line: p.peek(0).line}
	p.at++
	for p.at < len(p.tokens) {
		t := p.peek(0)
		switch {
		case t.is(punct, "]"):
			p.at++
			start := p.at
			if p.skipValue(); p.at > start && !p.harmless(start) {
				v.kind = computed
			}
			return v
		case t.kind == text || t.kind == symbol:
			v.items = append(v.items, t.text)
			p.at++
		case t.is(punct, ",") || t.kind == line:
			p.at++
		default:
			v.kind = computed
			p.at++
		}
	}
	return v
}
