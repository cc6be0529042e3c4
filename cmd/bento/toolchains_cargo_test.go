package main

import (
	"testing"

	"github.com/bentobuild/bento/adapters/adaptertest"
)

func cargoToolchains() []toolchain {
	return []toolchain{{
		id: "cargo", needs: []string{"cargo", "cargo-clippy", "cc"}, version: []string{"cargo", "--version"},
		// The lockfile names the registry of this machine, so the test makes it.
		prepare: func(k *kitchen) { k.tool(".", "cargo", "generate-lockfile") },
		tasks:   []string{"lib:build", "lib:check", "lib:lint", "lib:test", "app:build", "app:check", "app:test"},
		library: edit{"lib/src/lib.rs", `format!("book {}", buffer`, `format!("book {0}", buffer`},
		program: edit{"app/src/main.rs", "format(0.5)", "format(1.5)"},
		lock:    func(k *kitchen) { k.tool(".", "cargo", "update", "-p", "ryu", "--precise", "1.0.15") },
		locked:  []string{"app"},
		test: breakage{
			edit: edit{"lib/src/lib.rs", `"book 7"`, `"book 8"`},
			task: "lib:test", says: "labels_have_numbers", place: "lib/src/lib.rs:13",
		},
		compile: breakage{
			edit: edit{"lib/src/lib.rs", "buffer.format(number)", "buffer.format(numbers)"},
			task: "lib:build", says: "numbers", place: "lib/src/lib.rs:6",
		},
		pin:  edit{"rust-toolchain.toml", "", "[toolchain]\nchannel = \"1.33.7\"\n"},
		asks: "1.33.7",
	}}
}

// If an install of a run writes the lockfile, all tasks of that run are cache hits in the next run.
func TestLockfileThatAnInstallWrites(t *testing.T) {
	t.Parallel()
	adaptertest.Need(t, "cargo", "cargo-clippy", "cc")
	tc := cargoToolchains()[0]
	tc.prepare = nil
	k := newKitchen(t, &tc)
	k.good()
	k.nothingToDo()
}
