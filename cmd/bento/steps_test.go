package main

import (
	"slices"
	"testing"
)

func TestCommandsIn(t *testing.T) {
	t.Parallel()
	root := newRoot(&session{}, "")
	for hint, want := range map[string][]string{
		"bento tasks lists the tasks":            {"bento tasks"},
		"bento dish list prints the names":       {"bento dish list"},
		"bento dish list --left-out says why":    {"bento dish list --left-out"},
		"run for example bento watch build":      {"bento watch build"},
		"see bento run --help":                   {"bento run --help"},
		"see bento --help":                       {"bento --help"},
		"bento dishes and bento tasks list them": {"bento dishes", "bento tasks"},
		"bento run api:dev or bento run web:dev runs the task; bento watch repeats it after changes":   {"bento run api:dev", "bento run web:dev"},
		"bento plan --affected lists the tasks that changes concern, bento ci --affected runs them":    {"bento plan --affected", "bento ci --affected"},
		"see bento ext info shop, then run bento ext approve shop":                                     {"bento ext info shop", "bento ext approve shop"},
		"a user allows it: bento mcp --allow run":                                                      {"bento mcp --allow run"},
		"get it (bento self update --version 0.2.0), or change it":                                     {"bento self update --version 0.2.0"},
		"bento run DISH:TASK runs a server, bento watch DISH:TASK restarts it; bento tasks lists them": {"bento tasks"},
		"name the base in each run: bento ci --since REF":                                              nil,
		"name a released version: bento init --ci github --bento-version 0.2.0":                        {"bento init --ci github --bento-version 0.2.0"},
		"bento explain takes one code":                                                                 {"bento explain"},
		"bento schema lists them":                                                                      {"bento schema"},
		"bento cache prune requires a bound":                                                           {"bento cache prune"},
		"bento cache keygen NAME makes a pair of keys":                                                 nil,
		"bento run \"a b:c\" again, or bento run 'a;b'":                                                nil,
		"bento run $(rm)":                      nil,
		"bento":                                nil,
		"bento doctor":                         {"bento doctor"},
		"use -C for the directory that has it": nil,
		"install it, or use another bento":     nil,
		"if you trust its present content: bento plugin lock zig":                           {"bento plugin lock zig"},
		"bento plugin list and bento tool list name what is on PATH":                        {"bento plugin list", "bento tool list"},
		"run it once with bento run api:shell, or leave it out with --exclude":              {"bento run api:shell"},
		"--keep-going runs the tasks of the other dish; --exclude DISH leaves a dish out":   nil,
		"add --force to replace it, or copy from bento init --agents --dry-run":             {"bento init --agents --dry-run"},
		"bento plugin trace shows what was said, bento plugin call asks the plugin by hand": nil,
		"bento plan says what would run; bento run build test runs it":                      {"bento plan"},
		"bento dish add --language go DIR makes a first dish":                               nil,
	} {
		if got := commandsIn(root, hint); !slices.Equal(got, want) {
			t.Errorf("%q names %q, want %q", hint, got, want)
		}
	}
}
