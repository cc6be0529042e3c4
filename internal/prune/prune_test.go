package prune

import "testing"

// TestTargets: the roots of the targets of a manifest of Cargo, by convention and by path.
func TestTargets(t *testing.T) {
	is := targets("a/Cargo.toml", []byte(`
[package]
name = "a"
build = "make.rs"
[lib]
path = "lib/./root.rs"
[[bin]]
name = "b"
path = "b.rs"
[[bench]]
name = "fast"
`))
	for name, want := range map[string]bool{
		"src/lib.rs": true, "src/main.rs": true, "build.rs": true, "make.rs": true, "lib/root.rs": true, "b.rs": true,
		"src/bin/x.rs": true, "src/bin/y/main.rs": true, "benches/fast.rs": true, "tests/t/main.rs": true, "examples/e.rs": true,
		"src/other.rs": false, "src/bin/y/part.rs": false, "lib/part.rs": false, "benches/data.txt": false, "Cargo.toml": false,
	} {
		if is(name) != want {
			t.Errorf("%s: %v, want %v", name, !want, want)
		}
	}
	if targets("b/Cargo.toml", []byte("[package"))("src/part.rs") {
		t.Error("a broken manifest names every file")
	}
}
