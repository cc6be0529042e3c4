package action

import (
	"slices"
	"strings"
)

// place returns the position in a shell command at which arguments are added.
func place(command string) (at int, ok bool) {
	s := &script{text: command, at: -1, last: -1}
	for s.pos < len(s.text) {
		if !s.step() {
			return 0, false
		}
	}
	switch {
	case s.words > 0: // the text ends in a command
	case s.last >= 0: // the text ends in ";" or an end of a line
		return s.last, true
	default:
		return 0, false
	}
	return s.target(), true
}

// script is a shell command that is read word by word.
type script struct {
	text string
	pos  int

	words int  // of the command that is being read
	piped bool // it is not the first of its pipeline
	end   int  // of the last word of the first command of the pipeline
	at    int  // of "--" in that command, -1 for none
	last  int  // the position for arguments in the pipeline before
}

// target returns the position for arguments in the pipeline that is being read.
func (s *script) target() int {
	if s.at >= 0 {
		return s.at
	}
	return s.end
}

// step skips one word or operator. It returns false for syntax that it does not understand.
func (s *script) step() bool {
	switch c := s.text[s.pos]; {
	case c == ' ' || c == '\t':
		s.pos++
		return true
	case c == '\n' || c == ';':
		s.pos++
		s.next()
		return true
	case strings.HasPrefix(s.text[s.pos:], "&&"):
		s.pos += 2
		ok := s.words > 0
		s.next()
		s.last = -1 // a command must follow
		return ok
	case c == '|':
		return s.pipe()
	case c == '<' || c == '>' || strings.HasPrefix(s.text[s.pos:], "&>"):
		return s.redirect()
	case strings.IndexByte("&()#", c) >= 0:
		return false
	}
	return s.word()
}

// next begins a pipeline.
func (s *script) next() {
	if s.words > 0 {
		s.last = s.target()
	}
	s.words, s.piped, s.at = 0, false, -1
}

// pipe skips "|" or "||": the command after it gets no arguments.
func (s *script) pipe() bool {
	if s.words == 0 {
		return false
	}
	s.pos++
	if s.pos < len(s.text) && (s.text[s.pos] == '|' || s.text[s.pos] == '&') {
		s.pos++
	}
	s.piped, s.words = true, 0
	return true
}

// redirect skips a redirection: the operator and its file, which is the next word.
func (s *script) redirect() bool {
	if strings.HasPrefix(s.text[s.pos:], "<<") || strings.HasPrefix(s.text[s.pos:], "<(") || strings.HasPrefix(s.text[s.pos:], ">(") {
		return false
	}
	s.pos += len(s.text[s.pos:]) - len(strings.TrimLeft(s.text[s.pos:], "&<>|"))
	for s.pos < len(s.text) && (s.text[s.pos] == ' ' || s.text[s.pos] == '\t') {
		s.pos++
	}
	if s.pos == len(s.text) || strings.IndexByte("|&;()<>\n", s.text[s.pos]) >= 0 || !s.skipWord() {
		return false
	}
	if !s.piped {
		s.end = s.pos
	}
	return true
}

// reserved words begin a compound command.
var reserved = []string{
	"if", "then", "elif", "else", "fi", "for", "while", "until", "do", "done", "case", "esac", "function", "{", "}", "[[",
}

// word skips one word.
func (s *script) word() bool {
	start := s.pos
	if !s.skipWord() {
		return false
	}
	text := s.text[start:s.pos]
	if s.words == 0 && slices.Contains(reserved, text) {
		return false
	}
	s.words++
	if s.piped {
		return true
	}
	if s.end = s.pos; text == "--" && s.at < 0 && s.words > 1 {
		s.at = start
	}
	return true
}

// skipWord skips a word and the quotes in it.
func (s *script) skipWord() bool {
	for s.pos < len(s.text) && strings.IndexByte(" \t\n;|&<>()", s.text[s.pos]) < 0 {
		if !s.skipPart() {
			return false
		}
	}
	return true
}

// skipPart skips a letter, or a part in quotes or braces.
func (s *script) skipPart() bool {
	switch c := s.text[s.pos]; c {
	case '\\':
		s.pos += 2
		return s.pos <= len(s.text)
	case '\'', '`':
		return s.skipTo(c)
	case '"':
		return s.skipDouble()
	case '$':
		return s.skipDollar()
	}
	s.pos++
	return true
}

// skipTo skips the text up to and including the next c.
func (s *script) skipTo(c byte) bool {
	n := strings.IndexByte(s.text[s.pos+1:], c)
	s.pos += n + 2
	return n >= 0
}

func (s *script) skipDouble() bool {
	for s.pos++; s.pos < len(s.text) && s.text[s.pos] != '"'; {
		if c := s.text[s.pos]; c == '\'' {
			s.pos++
		} else if !s.skipPart() {
			return false
		}
	}
	s.pos++
	return s.pos <= len(s.text)
}

// skipDollar skips "$" and the parentheses or braces after it.
func (s *script) skipDollar() bool {
	s.pos++
	if s.pos == len(s.text) {
		return true
	}
	closing := byte(0)
	switch s.text[s.pos] {
	case '(':
		closing = ')'
	case '{':
		closing = '}'
	default:
		return true
	}
	opening, depth := s.text[s.pos], 0
	for s.pos < len(s.text) {
		switch c := s.text[s.pos]; {
		case c == opening:
			depth++
			s.pos++
		case c == closing:
			s.pos++
			if depth--; depth == 0 {
				return true
			}
		case !s.skipPart():
			return false
		}
	}
	return false
}
