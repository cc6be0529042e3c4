package report

import (
	"strings"
	"testing"
)

// The host comes from a record, which another user of the cache may have made.
func TestHostOfARecordIsPrintable(t *testing.T) {
	var out strings.Builder
	WriteWhy(&out, Style{}, Why{Task: "d:build", Made: &made{Host: "x\x1b[31m\n::error::y"}}, false)
	if strings.ContainsAny(out.String(), "\x1b") || strings.Contains(out.String(), "\n::") {
		t.Errorf("got %q", out.String())
	}
}
