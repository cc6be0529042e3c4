package main

import "strings"

func goToolchains() []toolchain {
	return []toolchain{{
		id: "go", needs: []string{"go"}, version: []string{"go", "version"},
		// The test can delete its own module cache.
		env: func(k *kitchen) []string {
			return []string{"GOMODCACHE=" + k.home + "/mod", "GOFLAGS=" + strings.TrimSpace(k.env.Get("GOFLAGS")+" -modcacherw")}
		},
		tasks:   []string{"lib:build", "lib:check", "lib:test", "app:build", "app:check", "app:test"},
		library: edit{"lib/lib.go", "cmp.Equal(a, b) }", "cmp.Equal(b, a) }"},
		program: edit{"app/main.go", "len(args) / 2", "len(args) >> 1"},
		// An additional line for a module that the application needs: the line could select another
		// version.
		lock: func(k *kitchen) {
			k.write("app/go.sum", k.read("app/go.sum")+"github.com/google/go-cmp v0.6.0/go.mod h1:17dUlkBOakJ0+DkrSSNjCkIjxS6bF9zb3elmeNGIjoY=\n")
		},
		locked: []string{"app"},
		test: breakage{
			edit: edit{"lib/lib_test.go", `[]string{"a"}, nil)`, `[]string{"a"}, []string{"a"})`},
			task: "lib:test", says: "--- FAIL: TestSame", place: "lib/lib_test.go:7",
		},
		compile: breakage{
			edit: edit{"lib/lib.go", "return cmp", "return cnp"},
			task: "lib:build", says: "undefined: cnp", place: "lib/lib.go:7",
		},
		installed: []string{"$HOME/mod/cache/download"},
		begun:     "$HOME/mod/cache/download/*",
		pin:       edit{"app/go.mod", "go 1.22", "go 1.99"},
		asks:      "1.99",
	}}
}
