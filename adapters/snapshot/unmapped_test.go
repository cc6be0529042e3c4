package snapshot

import (
	"strings"
	"testing"

	"github.com/bentobuild/bento/adapters"
)

func TestUnmapped(t *testing.T) {
	for names, want := range map[string]string{
		"check:format test:e2e":         "check check:format, test test:e2e",
		"lint:css lint:js":              "lint lint:css",
		"lint:css lint:turbo":           "lint lint:turbo", // of turbo.json
		"lint:fix format":               "",
		"test:watch test:update dev":    "",
		"build:watch build:prod":        "build build:prod",
		"pretest prebuild postinstall":  "",
		"ci:test tests":                 "test ci:test",
		"codegen deploy start":          "",
		"generate:types":                "check generate:types",
		"build:types":                   "build build:types",
		"type-coverage typecheck:watch": "",
	} {
		var scripts []Script
		for i, name := range strings.Fields(names) {
			scripts = append(scripts, Script{Name: name, File: "/w/package.json", Line: i + 1})
		}
		var got []string
		for _, d := range Scripts(nil).Unmapped(scripts, nil, []string{"lint:turbo"}) {
			task, _, _ := strings.Cut(strings.TrimPrefix(d.Message, "no task "), " ")
			got = append(got, task+" "+scripts[d.Line-1].Name)
			if d.Alike == "" || !strings.Contains(d.Hint, "scripts."+task) {
				t.Errorf("%s: %+v", names, d)
			}
		}
		if all := strings.Join(got, ", "); all != want {
			t.Errorf("%s: %q, want %q", names, all, want)
		}
	}
	have := []adapters.Task{{Name: "lint"}}
	if got := (Scripts{"lint": {}}).Unmapped([]Script{{Name: "lint:css", Line: 1}}, nil, nil); len(got) > 0 {
		t.Errorf("the workspace wants no lint: %+v", got)
	}
	if got := Scripts(nil).Unmapped([]Script{{Name: "lint:css", Line: 1}}, have, nil); len(got) > 0 {
		t.Errorf("there is a lint: %+v", got)
	}
}

func TestScripts(t *testing.T) {
	s := Scripts{"check": {"verify"}, "build": {"bundle"}}
	if got := strings.Join(s.Aliases("check"), " "); !strings.HasPrefix(got, "verify typecheck ") || !strings.Contains(got, " check:type ") {
		t.Error(got)
	}
	if got := s.Aliases("build"); len(got) != 1 || got[0] != "bundle" {
		t.Error(got)
	}
	for _, c := range []struct {
		task, name, body string
		want             bool
	}{
		{"lint", "eslint", "eslint .", true}, {"lint", "eslint", "eslint . --fix", false}, {"check", "verify", "biome check --write", true},
		{"check", "tsc", "biome check --write", false}, {"test", "unit", "x --fix", true}, {"lint", "cs", "php-cs-fixer fix", false},
		{"lint", "cs", "php-cs-fixer fix --dry-run", true}, {"lint", "cs", "phpcbf src", false}, {"lint", "cs", "pint --test", true}, {"lint", "cs", "pint", false},
	} {
		if got := s.Stands(c.task, c.name, c.body); got != c.want {
			t.Errorf("%+v: %v", c, got)
		}
	}
}
