// Package screen shows the cells that an extension draws in a terminal, and reads keys and the mouse.
// Cells are untrusted: a symbol is shown as text of one or two columns, or replaced.
package screen

import (
	"bytes"
	"fmt"
	"unicode/utf8"

	"github.com/mattn/go-runewidth"

	"github.com/bentobuild/bento/internal/report"
	"github.com/bentobuild/bento/plugin/ainb"
)

// Enter switches a terminal to its alternate screen, without a cursor and with reports of the mouse. Leave
// undoes this; it is harmless without Enter.
const (
	Enter = "\x1b[?1049h\x1b[?25l\x1b[?1002h\x1b[?1006h\x1b[2J"
	Leave = "\x1b[0m\x1b[?1006l\x1b[?1002l\x1b[?25h\x1b[?1049l"
)

// maxSymbol is the largest size of a symbol in bytes.
const maxSymbol = 32

// cell is a shown cell of the terminal. The second cell of a wide symbol has an empty symbol.
type cell struct {
	symbol   string
	fg, bg   ainb.Color
	hasFG    bool
	hasBG    bool
	modifier uint16
}

func blank() cell { return cell{symbol: " "} }

// Screen is the shown content of a terminal. Its zero value is a terminal with unknown content.
type Screen struct {
	Plain bool // without colours

	size  ainb.Viewport
	cells []cell
}

// Draw returns the bytes by which a terminal of the given size shows a buffer: the changes since the last call.
func (s *Screen) Draw(b *ainb.Buffer, size ainb.Viewport) []byte {
	next := layOut(b, size)
	var out bytes.Buffer
	out.WriteString("\x1b[?2026h")
	if s.size != size || s.cells == nil {
		s.size, s.cells = size, nil
		out.WriteString("\x1b[0m\x1b[2J")
	}
	var pen cell
	out.WriteString("\x1b[0m")
	width := int(size.Width)
	for i := range next {
		if next[i].symbol == "" || s.cells != nil && s.cells[i] == next[i] {
			continue
		}
		fmt.Fprintf(&out, "\x1b[%d;%dH", i/width+1, i%width+1)
		s.paint(&out, &pen, next[i])
		out.WriteString(next[i].symbol)
	}
	out.WriteString("\x1b[0m\x1b[?2026l")
	s.cells = next
	return out.Bytes()
}

// layOut returns the cells of a terminal of the given size, row by row.
func layOut(b *ainb.Buffer, size ainb.Viewport) []cell {
	width := int(size.Width)
	cells := make([]cell, width*int(size.Height))
	for i := range cells {
		cells[i] = blank()
	}
	for _, p := range b.Visible(size) {
		i := int(p.At.Y)*width + int(p.At.X)
		c := cell{modifier: p.Cell.Modifier}
		if p.Cell.FG != nil {
			c.fg, c.hasFG = *p.Cell.FG, true
		}
		if p.Cell.BG != nil {
			c.bg, c.hasBG = *p.Cell.BG, true
		}
		wide := false
		c.symbol, wide = symbol(p.Cell.Symbol, width-int(p.At.X))
		cells[i] = c
		if wide {
			cells[i+1] = cell{}
		}
	}
	for i, c := range cells { // the second half of a replaced symbol
		if c.symbol == "" && (i%width == 0 || runewidth.StringWidth(cells[i-1].symbol) != 2) {
			cells[i] = blank()
		}
	}
	return cells
}

// symbol returns the shown text for a cell: one column, or two if there is room.
func symbol(text string, room int) (shown string, wide bool) {
	if text == "" {
		return " ", false
	}
	if len(text) > maxSymbol {
		return string(utf8.RuneError), false
	}
	text = report.PrintableLine(text)
	switch width := runewidth.StringWidth(text); {
	case width == 1:
		return text, false
	case width == 2 && room > 1:
		return text, true
	}
	return string(utf8.RuneError), false
}

// paint sets the colours and modifiers for the next symbols.
func (s *Screen) paint(out *bytes.Buffer, pen *cell, c cell) {
	want := c
	want.symbol = ""
	if s.Plain {
		want.hasFG, want.hasBG, want.fg, want.bg = false, false, ainb.Color{}, ainb.Color{}
	}
	if *pen == want {
		return
	}
	*pen = want
	out.WriteString("\x1b[0")
	for bit, code := range []int{1, 2, 3, 4, 5, 6, 7, 8, 9} { // bold, dim, italic, underlined, blinking twice, reversed, hidden, crossed out
		if want.modifier&(1<<bit) != 0 {
			fmt.Fprintf(out, ";%d", code)
		}
	}
	if want.hasFG {
		fmt.Fprintf(out, ";38;2;%d;%d;%d", want.fg.R, want.fg.G, want.fg.B)
	}
	if want.hasBG {
		fmt.Fprintf(out, ";48;2;%d;%d;%d", want.bg.R, want.bg.G, want.bg.B)
	}
	out.WriteByte('m')
}
