package main

import "strings"

func rubyToolchains() []toolchain {
	return []toolchain{{
		id: "ruby", needs: []string{"ruby", "bundle"}, version: []string{"bundle", "--version"},
		// The installed gems suffice, so the index is not needed.
		prepare: func(k *kitchen) { k.tool(".", "bundle", "lock", "--local") },
		tasks:   []string{"lib:build", "lib:lint", "lib:test", "app:build", "app:lint", "app:test"},
		library: edit{"lib/lib/example_lib.rb", `"<#{value}>"`, `"<#{value.to_s}>"`},
		program: edit{"app/test/example_app_test.rb", `assert_described "one"`, `assert_described "two"`},
		lock: func(k *kitchen) {
			// Ruby bundles a minitest that is older than the one of the system.
			versions := strings.Fields(k.tool(".", "ruby", "-e", `puts Gem::Specification.find_all_by_name("minitest").map(&:version).sort`))
			k.make(edit{"Gemfile.lock", "minitest (" + versions[len(versions)-1] + ")", "minitest (" + versions[0] + ")"})
		},
		locked: []string{"app"},
		test: breakage{
			edit: edit{"lib/spec/example_lib_spec.rb", `eq("<a>")`, `eq("<b>")`},
			task: "lib:test", says: "puts values in brackets", place: "lib/spec/example_lib_spec.rb:7",
		},
		compile: breakage{
			edit: edit{"lib/lib/example_lib.rb", "def self.describe(value)", "def self.describe(value"},
			task: "lib:lint", says: "Lint/Syntax", place: "lib/lib/example_lib.rb:8",
		},
		pin:  edit{"Gemfile", "gem \"example_app\"", "ruby \"3.97.0\"\ngem \"example_app\""},
		asks: "3.97.0",
	}}
}
