package adapter

import (
	"strings"
	"testing"

	"github.com/bentobuild/bento/adapters"
)

// TestCheckPin compares constraints with versions.
func TestCheckPin(t *testing.T) {
	p := &Process{id: "cmake", manifest: &adapters.Manifest{Capabilities: adapters.Capabilities{ResolvedToolchain: true}}}
	for _, c := range []struct{ found, want, is string }{
		{"3.25.1", "3.25.1", "ok"},
		{"3.25.1", "3.25", "ok"},
		{"3.26.0", "3.25", "mismatch"},
		{"3.25.1", "9.1", "mismatch"},
		{"3.25.1", "^3.20", "ok"},
		{"3.25.1", ">=3.20, <4", "ok"},
		{"4.0", ">=3.20, <4", "mismatch"},
		{"4.0", ">=3.20 <4 || 4.x", "ok"},
		{"1.3", "1.2 - 1.4", "ok"},
		{"nightly", "3", "not_compared"},
		{"3.25.1", "latest", "not_compared"},
		{"3.25.1", strings.Repeat(">1 ", 200), "not_compared"},
		{"", "3", "not_compared"},
	} {
		v := p.CheckPin(adapters.Toolchain{Tool: "cmake", Version: c.want}, versionLine+c.found+"\nfp")
		is := "mismatch"
		if v.NotCompared {
			is = "not_compared"
		} else if v.OK {
			is = "ok"
		}
		if is != c.is || is != "ok" && v.Hint == "" || v.NotCompared && !v.OK || v.Found != c.found {
			t.Errorf("%q against %.20q: %+v, want %s", c.found, c.want, v, c.is)
		}
	}
	weak := &Process{id: "cmake", manifest: &adapters.Manifest{}}
	if v := weak.CheckPin(adapters.Toolchain{Version: "9.1"}, "cmake 3.25.1"); !v.NotCompared || !v.OK {
		t.Errorf("without the capability: %+v", v)
	}
}
