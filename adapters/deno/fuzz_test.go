package deno

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/bentobuild/bento/adapters/adaptertest"
)

func FuzzPin(f *testing.F) {
	for _, seed := range []string{"2.1.4\n", "# c\n\nv2\n", "\xef\xbb\xbf^2.1", "latest", ">=1 <3 || 4.x", "system"} {
		f.Add([]byte(seed))
	}
	a := newDeno()
	f.Fuzz(func(t *testing.T, data []byte) {
		dir := t.TempDir()
		adaptertest.Write(t, filepath.Join(dir, "deno.json"), "{}")
		adaptertest.Write(t, filepath.Join(dir, ".dvmrc"), string(data))
		pin, err := a.RequiredToolchain(t.Context(), dir)
		if pin == nil || err != nil {
			return
		}
		if pin.Line < 1 || pin.Line > 1+strings.Count(string(data), "\n") || strings.ContainsAny(pin.Version, "\n#") {
			t.Fatalf("%+v", pin)
		}
		if v := a.CheckPin(*pin, "deno=2.1.4 v8=1"); v.Found != "2.1.4" || v.OK == (v.Hint != "") {
			t.Fatalf("%+v", v)
		}
	})
}
