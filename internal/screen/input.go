package screen

import (
	"bytes"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/bentobuild/bento/plugin/ainb"
)

// Input is a key or an action of the mouse; the other field is nil.
type Input struct {
	Key   *ainb.Key
	Mouse *ainb.Mouse
}

// The bits of Mods.
const (
	shift   = 1
	control = 2
	alt     = 4
	super   = 8
)

// maxSequence is the longest sequence that a terminal sends for one input, in bytes.
const maxSequence = 64

// Reader converts the bytes of a terminal to inputs. Its zero value is ready. It ignores unknown sequences.
type Reader struct{ rest []byte }

// Read returns the inputs of a piece. It keeps an incomplete sequence for the next piece. An escape character
// at the end of a piece is the Escape key.
func (r *Reader) Read(p []byte) (list []Input) {
	text := append(r.rest, p...)
	r.rest = nil
	for len(text) > 0 {
		in, n := next(text)
		if n == 0 {
			if len(text) < maxSequence {
				r.rest = bytes.Clone(text)
				return list
			}
			n = 1
		}
		text = text[n:]
		if in != (Input{}) {
			list = append(list, in)
		}
	}
	return list
}

// next returns the first input of a text and its length, 0 if it is incomplete.
func next(text []byte) (Input, int) {
	if text[0] != 0x1b {
		return character(text, 0)
	}
	if len(text) == 1 {
		return key("esc", 0), 1
	}
	switch text[1] {
	case '[':
		return sequence(text)
	case 'O':
		if len(text) < 3 {
			return Input{}, 0
		}
		return final(text[2], 0), 3
	case 0x1b:
		return key("esc", 0), 1
	}
	in, n := character(text[1:], alt)
	if n == 0 {
		return in, 0
	}
	return in, n + 1
}

func key(kind string, mods uint8) Input {
	return Input{Key: &ainb.Key{Code: ainb.KeyCode{Type: kind}, Mods: mods, Kind: "press"}}
}

func char(c rune, mods uint8) Input {
	return Input{Key: &ainb.Key{Code: ainb.KeyCode{Type: "char", Ch: string(c)}, Mods: mods, Kind: "press"}}
}

// character returns the key of a character.
func character(text []byte, mods uint8) (Input, int) {
	switch b := text[0]; {
	case b == '\r' || b == '\n':
		return key("enter", mods), 1
	case b == '\t':
		return key("tab", mods), 1
	case b == 0x7f || b == '\b':
		return key("backspace", mods), 1
	case b == 0:
		return char(' ', mods|control), 1
	case b < 0x1b:
		return char(rune(b)+'a'-1, mods|control), 1
	case b < ' ':
		return char(rune(b)+'@', mods|control), 1
	}
	if !utf8.FullRune(text) {
		return Input{}, 0
	}
	c, n := utf8.DecodeRune(text)
	if c == utf8.RuneError && n == 1 {
		return Input{}, 1
	}
	return char(c, mods), n
}

// sequence returns the input of a control sequence: "\x1b[", parameters, and a final byte.
func sequence(text []byte) (Input, int) {
	end := 2
	for end < len(text) && text[end] >= 0x20 && text[end] < 0x40 {
		end++
	}
	if end == len(text) {
		return Input{}, 0
	}
	params, last, n := string(text[2:end]), text[end], end+1
	if mouse, ok := strings.CutPrefix(params, "<"); ok {
		return pointed(mouse, last == 'm'), n
	}
	numbers := numbersOf(params)
	mods := modsOf(numbers)
	if last == '~' {
		return tilde(numbers[0], mods), n
	}
	return final(last, mods), n
}

// numbersOf returns the numbers of parameters, at least one. An invalid number is 0.
func numbersOf(params string) (list []int) {
	for text := range strings.SplitSeq(params, ";") {
		n, _ := strconv.Atoi(text)
		list = append(list, n)
	}
	return list
}

// modsOf returns the modifiers of a sequence, which its second number has.
func modsOf(numbers []int) (mods uint8) {
	if len(numbers) < 2 || numbers[1] < 2 || numbers[1] > 16 {
		return 0
	}
	bits := numbers[1] - 1
	for theirs, ours := range map[int]uint8{1: shift, 2: alt, 4: control, 8: super} {
		if bits&theirs != 0 {
			mods |= ours
		}
	}
	return mods
}

// final returns the key of a sequence that its final byte names.
func final(b byte, mods uint8) Input {
	switch b {
	case 'A':
		return key("up", mods)
	case 'B':
		return key("down", mods)
	case 'C':
		return key("right", mods)
	case 'D':
		return key("left", mods)
	case 'H':
		return key("home", mods)
	case 'F':
		return key("end", mods)
	case 'Z':
		return key("back_tab", mods|shift)
	case 'P', 'Q', 'R', 'S':
		return function(int(b-'P')+1, mods)
	}
	return Input{}
}

// tilde returns the key of a sequence that its first number names.
func tilde(n int, mods uint8) Input {
	switch {
	case n == 1 || n == 7:
		return key("home", mods)
	case n == 3:
		return key("delete", mods)
	case n == 4 || n == 8:
		return key("end", mods)
	case n == 5:
		return key("page_up", mods)
	case n == 6:
		return key("page_down", mods)
	case n >= 11 && n <= 15:
		return function(n-10, mods)
	case n >= 17 && n <= 21:
		return function(n-11, mods)
	case n == 23 || n == 24:
		return function(n-12, mods)
	}
	return Input{}
}

func function(n int, mods uint8) Input {
	return Input{Key: &ainb.Key{Code: ainb.KeyCode{Type: "f", N: uint8(n)}, Mods: mods, Kind: "press"}}
}

// pointed returns the action of the mouse from the parameters of the SGR encoding.
func pointed(params string, released bool) Input {
	n := numbersOf(params)
	if len(n) != 3 || n[1] < 1 || n[2] < 1 || n[1] > 1<<16 || n[2] > 1<<16 || n[0] < 0 {
		return Input{}
	}
	m := &ainb.Mouse{Col: uint16(n[1] - 1), Row: uint16(n[2] - 1)}
	for theirs, ours := range map[int]uint8{4: shift, 8: alt, 16: control} {
		if n[0]&theirs != 0 {
			m.Mods |= ours
		}
	}
	button := n[0] & 3
	switch {
	case n[0]&64 != 0:
		m.Kind.Type = []string{"scroll_up", "scroll_down", "scroll_left", "scroll_right"}[button]
	case button == 3:
		m.Kind.Type = "moved"
	default:
		m.Kind = ainb.MouseKind{Type: "down", Button: &ainb.Button{Type: []string{"left", "middle", "right"}[button]}}
		if n[0]&32 != 0 {
			m.Kind.Type = "drag"
		} else if released {
			m.Kind.Type = "up"
		}
	}
	return Input{Mouse: m}
}
