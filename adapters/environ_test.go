package adapters

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// TestEnvironLookup checks that each name has the value that was set last.
func TestEnvironLookup(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		name := rapid.SampledFrom([]string{"A", "A_", "AA", "A.B", "B", "a"})
		var list []string
		want := make(map[string]string)
		for range rapid.IntRange(0, 8).Draw(rt, "count") {
			n, v := name.Draw(rt, "name"), rapid.SampledFrom([]string{"", "x", "=", "a=b"}).Draw(rt, "value")
			list, want[n] = append(list, n+"="+v), v
		}
		for _, e := range []Environ{NewEnviron(list), NewEnviron(list).With(map[string]string{"B": "x"}), NewEnviron(list).Select("A*", "a")} {
			for n := range want {
				kept := e.Select(n)
				v, ok := e.Lookup(n)
				if ok != (len(kept) == 1) || ok && kept[0] != n+"="+v || strings.HasPrefix(n, "A") && v != want[n] {
					rt.Fatalf("%s in %q: %q, %t; want %q", n, e, v, ok, want[n])
				}
			}
		}
		if v, ok := NewEnviron(list).Lookup("C"); ok || v != "" {
			rt.Fatalf("C is %q", v)
		}
	})
}
