package cargo

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/bmatcuk/doublestar/v4"
	"github.com/google/go-cmp/cmp"

	"github.com/bentobuild/bento/adapters/snapshot"
)

// TestSourceImports: the files of the modules that a source declares.
func TestSourceImports(t *testing.T) {
	const source = "mod gen;\npub(crate) mod  r#type ;\n// mod not;\nmod inline { }\nlet model = 1; modx;\n#[cfg(test)]mod tests;"
	a := New(snapshot.Options{})
	for file, want := range map[string][]string{
		"/w/src/lib.rs": {"1 /w/src/gen{.rs,/mod.rs}", "2 /w/src/type{.rs,/mod.rs}", "6 /w/src/tests{.rs,/mod.rs}"},
		"/w/src/a.rs": {
			"1 /w/src/gen{.rs,/mod.rs}", "1 /w/src/a/gen{.rs,/mod.rs}", "2 /w/src/type{.rs,/mod.rs}", "2 /w/src/a/type{.rs,/mod.rs}",
			"6 /w/src/tests{.rs,/mod.rs}", "6 /w/src/a/tests{.rs,/mod.rs}",
		},
	} {
		var got []string
		for _, e := range a.SourceImports("/w", nil, file, []byte(source)) {
			got = append(got, string(rune('0'+e.Line))+" "+e.Path+"/"+e.Glob)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: %s", file, diff)
		}
	}
}

// FuzzSourceImports reads any bytes as a source. Every result is a valid glob below an absolute path.
func FuzzSourceImports(f *testing.F) {
	f.Add("mod a;mod b{}\nmod\n\n r#c ;")
	a := New(snapshot.Options{})
	f.Fuzz(func(t *testing.T, text string) {
		for _, e := range a.SourceImports("/w", nil, "/w/src/a.rs", []byte(text)) {
			if !strings.HasPrefix(e.Path, "/w/src") || filepath.Clean(e.Path) != e.Path || e.Line < 1 || !doublestar.ValidatePattern(e.Glob) {
				t.Fatalf("%+v", e)
			}
		}
	})
}
