package terminal

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"

	"github.com/mattn/go-runewidth"
)

// Screen shares a terminal between permanent output and a block of lines below it that is redrawn. It is safe for
// concurrent use.
type Screen struct {
	// Terminal is the terminal of the block.
	Terminal io.Writer
	// Columns returns the current width of the terminal.
	Columns func() int

	mu     sync.Mutex
	block  []string // the lines to show, each shorter than the terminal is wide
	drawn  []string // the lines on the terminal
	wide   int      // the width of the terminal when they were drawn
	inLine bool     // the permanent output ends within a line, so no block can follow
	paused bool     // another process uses the terminal
}

// Writer returns a writer for permanent text above the block. w writes to the same terminal, or elsewhere.
func (s *Screen) Writer(w io.Writer) io.Writer { return &above{s, w} }

type above struct {
	screen *Screen
	io.Writer
}

func (a *above) Write(p []byte) (int, error) {
	s := a.screen
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.drawn) > 0 {
		io.WriteString(s.Terminal, s.erasure()) //nolint:errcheck // p is what counts
		s.drawn = nil
	}
	n, err := a.Writer.Write(p)
	if len(p) > 0 {
		s.inLine = p[len(p)-1] != '\n'
	}
	// The next Show draws the block again: many writes in a row must not make it flicker.
	return n, err
}

// Show draws the block unless it is already shown unchanged. It cuts long lines.
func (s *Screen) Show(block []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	columns := s.Columns()
	s.block = s.block[:0]
	for _, line := range block {
		s.block = append(s.block, Cut(line, columns-1))
	}
	if s.inLine || s.paused || columns == s.wide && slices.Equal(s.block, s.drawn) {
		return
	}
	s.wide = columns
	var b bytes.Buffer
	b.WriteString("\x1b[?2026h") // terminals that support it show the frame at once
	b.WriteString(s.erasure())
	for _, line := range s.block {
		b.WriteString(line)
		b.WriteString("\x1b[K\r\n")
	}
	b.WriteString("\x1b[?2026l")
	s.drawn = append(s.drawn[:0], s.block...)
	s.Terminal.Write(b.Bytes()) //nolint:errcheck // there is no other stream for the error
}

// Clear removes the block.
func (s *Screen) Clear() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.drawn) > 0 {
		io.WriteString(s.Terminal, s.erasure()) //nolint:errcheck // there is no other stream for the error
		s.drawn = nil
	}
}

// Pause removes the block and draws none until Resume: another process is about to write.
func (s *Screen) Pause() {
	s.Clear()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.paused = true
}

// Resume ends a Pause. It treats the present content of the terminal as permanent output.
func (s *Screen) Resume() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.paused, s.drawn = false, nil
}

// erasure returns the sequence that moves the cursor to the start of the block and removes the block. A terminal
// that has become narrower has wrapped the lines of the block.
func (s *Screen) erasure() string {
	if len(s.drawn) == 0 {
		return ""
	}
	columns, rows := max(1, s.Columns()), 0
	for _, line := range s.drawn {
		rows += max(1, (Width(line)+columns-1)/columns)
	}
	return fmt.Sprintf("\x1b[%dA\r\x1b[J", rows)
}

// Width returns the number of columns of a text, without colours.
func Width(text string) int { return runewidth.StringWidth(plain(text)) }

// Cut shortens text to a number of columns. Colours take no columns, and end with the text.
func Cut(text string, columns int) string {
	if Width(text) <= columns {
		return text
	}
	var b strings.Builder
	used, painted := 0, false
	for len(text) > 0 {
		if n := escape(text); n > 0 {
			b.WriteString(text[:n])
			painted = text[:n] != "\x1b[0m"
			text = text[n:]
			continue
		}
		r := []rune(text[:min(len(text), 4)])[0]
		w := runewidth.RuneWidth(r)
		if used+w > columns-1 {
			break
		}
		used += w
		b.WriteRune(r)
		text = text[len(string(r)):]
	}
	b.WriteString("…")
	if painted {
		b.WriteString("\x1b[0m")
	}
	return b.String()
}

// escape returns the length of the colour at the start of text, 0 when there is none.
func escape(text string) int {
	if !strings.HasPrefix(text, "\x1b[") {
		return 0
	}
	return strings.IndexByte(text, 'm') + 1
}

// plain returns text without colours.
func plain(text string) string {
	if !strings.Contains(text, "\x1b[") {
		return text
	}
	var b strings.Builder
	for len(text) > 0 {
		if n := escape(text); n > 0 {
			text = text[n:]
			continue
		}
		at := strings.IndexByte(text[1:], '\x1b') + 1
		if at == 0 {
			at = len(text)
		}
		b.WriteString(text[:at])
		text = text[at:]
	}
	return b.String()
}
