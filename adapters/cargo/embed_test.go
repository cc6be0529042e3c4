package cargo

import (
	"fmt"
	"path/filepath"
	"strings"
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
	want := []string{"1 /w/web/dist/a.js", "3 /abs/b", "5 /w/web", "6 /w/c/d.txt", "10 /w/front", "13 /w/c/src/f", "14 /w/c"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// Whichever way a source names a file, the file counts.
func TestEmbedsInAnyForm(t *testing.T) {
	for name, c := range map[string]struct{ file, source, want string }{
		"comment before":   {"src/a.rs", "include_str!(\n// c \"x\"\n\"../inner/a.txt\",\n)", "/w/c/inner/a.txt"},
		"block comment":    {"src/a.rs", `include_str!(/* a ) /* " */ */"../inner/a.txt")`, "/w/c/inner/a.txt"},
		"unicode escape":   {"src/a.rs", `include_str!("../inner/\u{61}.txt")`, "/w/c/inner/a.txt"},
		"byte escape":      {"src/a.rs", `include_str!("../inner/\x61.txt")`, "/w/c/inner/a.txt"},
		"line continued":   {"src/a.rs", "include_str!(\"../inner/\\\n   a.txt\")", "/w/c/inner/a.txt"},
		"concat":           {"src/a.rs", `include_str!(concat!("../in", "ner/a.txt"))`, "/w/c/inner/a.txt"},
		"concat of three":  {"src/a.rs", `include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/in", r"ner/a", ".txt"))`, "/w/c/inner/a.txt"},
		"raw":              {"src/a.rs", `include_str!(r##"../inner/a.txt"##)`, "/w/c/inner/a.txt"},
		"brackets":         {"src/a.rs", `include_str!["../inner/a.txt"]`, "/w/c/inner/a.txt"},
		"by path":          {"src/a.rs", `::std::include_str ! ("../inner/a.txt")`, "/w/c/inner/a.txt"},
		"in documentation": {"src/a.rs", `#![doc = include_str!("../inner/a.txt")]`, "/w/c/inner/a.txt"},
		"after a lifetime": {"src/a.rs", `fn f<'a>(x: &'a str) {} const Q: char = '"'; include_str!("../inner/a.txt")`, "/w/c/inner/a.txt"},
		"after strings":    {"src/a.rs", `b"\"//"; r#"a"//"#; '\''; r#type; include_str!("../inner/a.txt")`, "/w/c/inner/a.txt"},
		"module":           {"src/a.rs", `#[path = "../inner/a.rs"] mod a;`, "/w/c/inner/a.rs"},
		"module of a cfg":  {"src/a.rs", `#[cfg_attr(unix, path = "../inner/a.rs")] mod a;`, "/w/c/inner/a.rs"},
		"include_dir":      {"src/a.rs", `include_dir!("inner")`, "/w/c/src/inner /w/c/inner"},
		"own macro":        {"src/a.rs", `macro_rules! i { ($p:expr) => { include_str!($p) } } i!("../inner/a.txt")`, "/w/inner/a.txt /w/c/inner/a.txt"},
		"open end":         {"src/a.rs", `macro_rules! i { ($p:literal) => { include_str!(concat!("../inner/", $p)) } }`, "/w/inner /w/c/inner"},
		"of the package":   {"src/a.rs", `concat!(env!("CARGO_MANIFEST_DIR"), "/../b/", stringify!(x))`, "/w/b"},
		"generated":        {"src/a.rs", `include!(concat!(env!("OUT_DIR"), "/../x.rs"))`, ""},
		"build script":     {"build.rs", `compile_protos("inner/a.proto"); println!("cargo:rerun-if-changed=../b/x.proto")`, "/w/c/inner/a.proto /w/b/x.proto"},
		"after #!":         {"src/a.rs", "#!/usr/bin/env x \"\ninclude_str!(\"../inner/a.txt\")", "/w/c/inner/a.txt"},
		"comment":          {"src/a.rs", "// include_str!(\"../inner/a.txt\")\n/* include_str!(\"../b\") */", ""},
		"no path":          {"src/a.rs", `include; "../ is above"; "see ../x: y"; "src/x"`, ""},
	} {
		var got []string
		for _, e := range new(Adapter).Embeds("/w/c", "/w/c/"+c.file, []byte(c.source)) {
			got = append(got, e.Path)
		}
		if diff := cmp.Diff(c.want, strings.Join(got, " ")); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

// A source cannot make the answer slow.
func BenchmarkEmbedsDeep(b *testing.B) {
	source := []byte("include " + strings.Repeat(`(concat!("../a" '\\u `, 100_000))
	for b.Loop() {
		new(Adapter).Embeds("/w", "/w/src/a.rs", source)
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
