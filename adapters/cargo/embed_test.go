package cargo

import (
	"fmt"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestEmbeds(t *testing.T) {
	source := `static A: &str = include_str!("../../web/dist/a.js");
static B: &[u8] = include_bytes!(
    "/abs/b"
);
static C: Dir = include_dir!("$CARGO_MANIFEST_DIR/../web");
static D: &str = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/d.txt"));
include!(concat!(env!("OUT_DIR"), "/generated.rs"));
// include_str!("comment")
#[derive(Embed)]
#[folder = "../front/"]
struct E;
#[folder = "$HOME/x"]
static F: &str = include_str! { r"f" };
static G: Dir = include_dir!("$CARGO_MANIFEST_DIR");
`
	var got []string
	for _, e := range new(Adapter).Embeds("/w/c", "/w/c/src/a.rs", []byte(source)) {
		got = append(got, fmt.Sprint(e.Line, " ", e.Path))
	}
	want := []string{"1 /w/web/dist/a.js", "2 /abs/b", "5 /w/web", "6 /w/c/d.txt", "10 /w/front", "13 /w/c/src/f", "14 /w/c"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func FuzzEmbeds(f *testing.F) {
	f.Add(`include_dir!["$CARGO_MANIFEST_DIR/a"] #[folder="b"]`)
	f.Add("include!(\n\"\x00\")//")
	f.Fuzz(func(t *testing.T, source string) {
		for _, e := range new(Adapter).Embeds("/w", "/w/src/a.rs", []byte(source)) {
			if !filepath.IsAbs(e.Path) || filepath.Clean(e.Path) != e.Path || e.Line < 1 {
				t.Fatalf("%+v", e)
			}
		}
	})
}
