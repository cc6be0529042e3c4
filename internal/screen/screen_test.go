package screen

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/bentobuild/bento/plugin/ainb"
)

// described returns inputs as text, one word each.
func described(list []Input) string {
	var words []string
	for _, in := range list {
		switch {
		case in.Key != nil:
			words = append(words, fmt.Sprintf("%s%s%.0d+%d", in.Key.Code.Type, in.Key.Code.Ch, in.Key.Code.N, in.Key.Mods))
		default:
			button := ""
			if in.Mouse.Kind.Button != nil {
				button = in.Mouse.Kind.Button.Type
			}
			words = append(words, fmt.Sprintf("%s%s(%d,%d)+%d", in.Mouse.Kind.Type, button, in.Mouse.Col, in.Mouse.Row, in.Mouse.Mods))
		}
	}
	return strings.Join(words, " ")
}

func TestRead(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ text, want string }{
		{"aé世", "chara+0 charé+0 char世+0"},
		{"\r\t\x7f\x1b", "enter+0 tab+0 backspace+0 esc+0"},
		{"\x1b[A\x1b[B\x1bOC\x1b[D", "up+0 down+0 right+0 left+0"},
		{"\x1b[H\x1b[4~\x1b[3~\x1b[5~\x1b[6~\x1b[Z", "home+0 end+0 delete+0 page_up+0 page_down+0 back_tab+1"},
		{"\x1bOP\x1b[15~\x1b[24~\x1b[1;2S", "f1+0 f5+0 f12+0 f4+1"},
		{"\x1b[1;5A\x1b[3;3~\x01\x00", "up+2 delete+4 chara+2 char +2"},
		{"\x1bx\x1b\r", "charx+4 enter+4"},
		{"\x1b[<0;3;2M\x1b[<0;3;2m\x1b[<34;1;1M\x1b[<64;5;5M\x1b[<35;9;9M\x1b[<20;1;1M", "downleft(2,1)+0 upleft(2,1)+0 dragright(0,0)+0 scroll_up(4,4)+0 moved(8,8)+0 downleft(0,0)+3"},
		{"\x1b[<0;0;2M\x1b[<1M\x1b[<0;70000;1M\x1b[?1;2c\x1b[200~\xff", ""},
	} {
		whole := described(new(Reader).Read([]byte(c.text)))
		if whole != c.want {
			t.Errorf("%q: got %s, want %s", c.text, whole, c.want)
		}
		var parts []Input
		r := new(Reader)
		for i := range len(c.text) {
			if c.text[i] == '\x1b' && i+1 < len(c.text) {
				break // an escape character alone is a key
			}
			parts = append(parts, r.Read([]byte{c.text[i]})...)
		}
		if !strings.Contains(c.text, "\x1b") && described(parts) != c.want {
			t.Errorf("%q byte by byte: got %s, want %s", c.text, described(parts), c.want)
		}
	}
	r := new(Reader)
	if got := described(r.Read([]byte("\x1b[1;"))) + described(r.Read([]byte("5A"))); got != "up+2" {
		t.Errorf("a sequence in two pieces: %s", got)
	}
}

// terminal returns the content of a terminal after drawn, one line for each row. It fails for sequences that
// Draw does not write.
func terminal(t *testing.T, rows [][]string, drawn []byte) string {
	t.Helper()
	x, y := 0, 0
	for text := string(drawn); text != ""; {
		if rest, ok := strings.CutPrefix(text, "\x1b["); ok {
			end := strings.IndexFunc(rest, func(c rune) bool { return c >= '@' && c <= '~' })
			switch {
			case rest[end] == 'H':
				fmt.Sscanf(rest, "%d;%dH", &y, &x)
				x, y = x-1, y-1
			case rest[end] == 'm' || rest[end] == 'J' || strings.HasPrefix(rest, "?2026"):
			default:
				t.Fatalf("drawn: %q", drawn)
			}
			text = rest[end+1:]
			continue
		}
		c, n := utf8.DecodeRuneInString(text)
		if c < ' ' || y >= len(rows) || x >= len(rows[y]) {
			t.Fatalf("%q at %d,%d in %q", c, x, y, drawn)
		}
		rows[y][x] = text[:n]
		x, text = x+1, text[n:]
	}
	var b strings.Builder
	for _, row := range rows {
		b.WriteString(strings.Join(row, "") + "\n")
	}
	return b.String()
}

func grid(v ainb.Viewport) [][]string {
	rows := make([][]string, v.Height)
	for y := range rows {
		rows[y] = strings.Split(strings.Repeat(" ", int(v.Width)), "")
	}
	return rows
}

func at(x, y uint16, symbol string) ainb.Placed {
	return ainb.Placed{At: ainb.Coord{X: x, Y: y}, Cell: ainb.Cell{Symbol: symbol}}
}

func TestDraw(t *testing.T) {
	t.Parallel()
	size := ainb.Viewport{Width: 4, Height: 2}
	rows := grid(size)
	s := new(Screen)
	first := &ainb.Buffer{Width: 4, Height: 2, Cells: []ainb.Placed{
		at(0, 0, "a"), at(1, 0, "\x1b[2J"), at(2, 0, "\x07"), at(3, 0, "世"), at(0, 1, strings.Repeat("x", 100)), at(1, 1, ""), at(2, 1, "bc"), at(9, 9, "z"),
	}}
	first.Cells[0].Cell.FG, first.Cells[0].Cell.Modifier = &ainb.Color{R: 1, G: 2, B: 3}, 65
	drawn := s.Draw(first, size)
	if got, want := terminal(t, rows, drawn), "a���\n� bc\n"; got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
	if !strings.Contains(string(drawn), "\x1b[0;1;7;38;2;1;2;3ma") {
		t.Errorf("the look of a is missing: %q", drawn)
	}
	first.Cells[0].Cell.Symbol = "A"
	again := s.Draw(first, size)
	if got := terminal(t, rows, again); !strings.HasPrefix(got, "A���") || strings.Contains(string(again), "b") {
		t.Errorf("drawn again: %q, shown %s", again, got)
	}
	plain := &Screen{Plain: true}
	if text := string(plain.Draw(first, size)); strings.Contains(text, "38;2") {
		t.Errorf("plain: %q", text)
	}
}

// TestHostileSymbols: a symbol that would steer a terminal is shown as text only.
func TestHostileSymbols(t *testing.T) {
	t.Parallel()
	size := ainb.Viewport{Width: 4, Height: 1}
	for _, text := range []string{"a\x07", "a\x1b", "a\r", "a\u009b", "a\u202e", "\x1b[2J", "a\xff"} {
		shown := terminal(t, grid(size), new(Screen).Draw(&ainb.Buffer{Width: 4, Height: 1, Cells: []ainb.Placed{at(0, 0, text)}}, size))
		if strings.ContainsAny(shown, "\x07\x1b\r\u009b\u202e") {
			t.Errorf("%q is shown as %q", text, shown)
		}
	}
}

// FuzzRead: any bytes give inputs that the contract allows, and fewer than maxSequence bytes wait for the next
// piece.
func FuzzRead(f *testing.F) {
	f.Add([]byte("a\x1b[1;5A\x1b[<0;3;2M\x1bOP\xff"))
	f.Fuzz(func(t *testing.T, data []byte) {
		r := new(Reader)
		for _, in := range r.Read(data) {
			if (in.Key == nil) == (in.Mouse == nil) || in.Key != nil && in.Key.Code.Type == "" || in.Mouse != nil && in.Mouse.Kind.Type == "" {
				t.Errorf("%q: %+v", data, in)
			}
		}
		if len(r.rest) >= maxSequence {
			t.Errorf("%q: %d bytes wait", data, len(r.rest))
		}
	})
}

// FuzzDraw: the output for any buffer of an extension is text and sequences of this package.
func FuzzDraw(f *testing.F) {
	f.Add("a", "世", uint16(3), uint16(1))
	f.Add("\x1b[31m", "e\u0301", uint16(0), uint16(0))
	f.Fuzz(func(t *testing.T, one, two string, x, y uint16) {
		size := ainb.Viewport{Width: 5, Height: 3}
		b := &ainb.Buffer{Width: 5, Height: 3, Cells: []ainb.Placed{at(x, y, one), at(x+1, y, two), at(x, y, two)}}
		text := string(new(Screen).Draw(b, size))
		for _, c := range text {
			if c < ' ' && c != '\x1b' || c >= 0x7f && c < 0xa0 {
				t.Fatalf("%q", text)
			}
		}
		for _, part := range strings.Split(text, "\x1b")[1:] {
			if !strings.HasPrefix(part, "[") {
				t.Fatalf("%q", text)
			}
		}
	})
}
