package terminal

import (
	"bytes"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
)

func TestCut(t *testing.T) {
	for _, c := range []struct {
		text    string
		columns int
		want    string
	}{
		{"short", 10, "short"},
		{"exactly", 7, "exactly"},
		{"too long", 5, "too …"},
		{"構築中です", 6, "構築…"},
		{"\x1b[2mdim text\x1b[0m", 4, "\x1b[2mdim…\x1b[0m"},
		{"\x1b[31mred\x1b[0m and on", 6, "\x1b[31mred\x1b[0m a…"},
		{"\xff\xfe broken", 4, "\ufffd\ufffd …"},
	} {
		got := Cut(c.text, c.columns)
		if diff := cmp.Diff(c.want, got); diff != "" && !strings.Contains(c.text, "\xff") {
			t.Errorf("Cut(%q, %d):\n%s", c.text, c.columns, diff)
		}
		if Width(got) > c.columns {
			t.Errorf("Cut(%q, %d) = %q is %d wide", c.text, c.columns, got, Width(got))
		}
	}
}

func FuzzCut(f *testing.F) {
	f.Add("\x1b[2mdim\x1b[0m 構築 e\u0301", 5)
	f.Add("\x1b[", 2)
	f.Fuzz(func(t *testing.T, text string, columns int) {
		columns = 1 + columns&0xff
		got := Cut(text, columns)
		if Width(got) > columns {
			t.Errorf("Cut(%q, %d) = %q is %d wide", text, columns, got, Width(got))
		}
		if utf8.ValidString(text) && !utf8.ValidString(got) {
			t.Errorf("Cut(%q, %d) = %q is no UTF-8", text, columns, got)
		}
	})
}

// TestScreen: permanent output is written completely and in order. The block is removed before it, and drawn again
// only at the start of a line.
func TestScreen(t *testing.T) {
	var out bytes.Buffer
	columns := 20
	s := &Screen{Terminal: &out, Columns: func() int { return columns }}
	w := s.Writer(&out)
	take := func() string {
		defer out.Reset()
		return strings.NewReplacer("\x1b[?2026h", "", "\x1b[?2026l", "", "\x1b[K", "").Replace(out.String())
	}
	steps := []struct {
		do   func()
		want string
	}{
		{func() { s.Show([]string{"one", "two"}) }, "one\r\ntwo\r\n"},
		{func() { w.Write([]byte("stays\n")) }, "\x1b[2A\r\x1b[Jstays\n"},
		{func() { s.Show([]string{"one"}) }, "one\r\n"},
		{func() { w.Write([]byte("half")) }, "\x1b[1A\r\x1b[Jhalf"},
		{func() { s.Show([]string{"one"}) }, ""},
		{func() { w.Write([]byte(" line\n")) }, " line\n"},
		{func() { s.Show([]string{strings.Repeat("x", 19)}) }, strings.Repeat("x", 19) + "\r\n"},
		{func() { s.Show([]string{strings.Repeat("x", 19)}) }, ""},
		{func() { columns = 30; s.Show([]string{strings.Repeat("x", 19)}) }, "\x1b[1A\r\x1b[J" + strings.Repeat("x", 19) + "\r\n"},
		{func() { columns = 10; s.Clear() }, "\x1b[2A\r\x1b[J"},
		{func() { s.Clear() }, ""},
	}
	for i, step := range steps {
		step.do()
		if diff := cmp.Diff(step.want, take()); diff != "" {
			t.Errorf("step %d (-want +got):\n%s", i, diff)
		}
	}
}
