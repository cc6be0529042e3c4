package host

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
)

func TestTail(t *testing.T) {
	kept := newTail(16, nil)
	for i := range 1000 {
		fmt.Fprintf(kept, "line %d\n", i)
	}
	if got := kept.String(); got != "line 999\n" {
		t.Errorf("got %q", got)
	}
	kept.Reset()
	kept.Write(bytes.Repeat([]byte("\xff"), 100))
	if got := kept.String(); len(got) > 3*16 || strings.Trim(got, "\uFFFD") != "" {
		t.Errorf("got %q", got)
	}
}
