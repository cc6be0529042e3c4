package jvm

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestProperties(t *testing.T) {
	got := ParseProperties([]byte("\ufeff# c\r\n! c\r\na=1\r\nb : 2 \n  c\t3\nurl=https\\://x/a\\=b\nlong = one, \\\n   two\nempty\nodd\\ name=x\na=4\ndir=C\\\\x\\\\\n"))
	want := map[string]Property{
		"a": {"4", 11}, "b": {"2", 4}, "c": {"3", 5}, "url": {"https://x/a=b", 6}, "long": {"one, two", 7},
		"empty": {"", 9}, "odd name": {"x", 10}, "dir": {`C\x\`, 12},
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

func FuzzProperties(f *testing.F) {
	f.Add([]byte("a=b\\\n c\n\\\\=\\"))
	f.Fuzz(func(t *testing.T, data []byte) {
		for name, e := range ParseProperties(data) {
			if e.Line < 1 {
				t.Errorf("%q: %+v", name, e)
			}
		}
	})
}

// TestLongLine: a line may go on as often as it likes.
func TestLongLine(t *testing.T) {
	const lines = 1 << 20
	begin := time.Now()
	m := ParseProperties([]byte("a=" + strings.Repeat("b\\\n", lines) + "c"))
	if got := m["a"]; len(got.Value) != lines+1 || got.Line != 1 {
		t.Errorf("%d bytes on line %d", len(got.Value), got.Line)
	}
	if took := time.Since(begin); took > 2*time.Minute {
		t.Errorf("it takes %v", took)
	}
}
