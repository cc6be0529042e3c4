package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/bentobuild/bento/internal/clone"
)

// foreign is a file of another tool that declares tasks, with its entries as keys of bento's
// files. Only bento init reads it.
type foreign struct {
	File string    `json:"file"`
	Maps []mapping `json:"maps"`
}

type mapping struct {
	From string `json:"from"`
	To   string `json:"to"`
}

// maxForeign bounds the size of such a file, in bytes.
const maxForeign = 1 << 20

// foreignTools reads the files of other tools at the root.
func foreignTools(root string) []foreign {
	list := []foreign{}
	below := clone.At(root)
	for _, f := range []struct {
		name string
		read func([]byte) []mapping
	}{
		{"turbo.json", turboTasks}, {"nx.json", nxTargets}, {".moon/tasks.yml", moonTasks}, {"Makefile", makeTargets},
	} {
		data, err := below.Read(f.name, maxForeign)
		if err != nil {
			continue
		}
		if maps := f.read(data); len(maps) > 0 {
			list = append(list, foreign{f.name, maps})
		}
	}
	return list
}

// taskOf has the keys of a task that bento has too.
type taskOf struct {
	DependsOn   []any    `json:"dependsOn" yaml:"-"`
	Deps        []string `json:"-" yaml:"deps"`
	Outputs     []string `json:"outputs" yaml:"outputs"`
	Inputs      []any    `json:"inputs" yaml:"-"`
	Env         []string `json:"env" yaml:"-"`
	Cache       *bool    `json:"cache" yaml:"-"`
	Persistent  bool     `json:"persistent" yaml:"-"`
	Interactive bool     `json:"interactive" yaml:"-"`
	Command     string   `json:"-" yaml:"command"`
}

// keys returns the task as keys of dish.toml.
func (t taskOf) keys() string {
	var keys []string
	list := func(key string, values []string) {
		if len(values) > 0 {
			text, _ := json.Marshal(values) // a list of strings is the same in TOML
			keys = append(keys, key+" = "+string(text))
		}
	}
	if t.Command != "" {
		keys = append(keys, fmt.Sprintf("run = %q", t.Command))
	}
	list("depends_on", slices.Concat(texts(t.DependsOn), moonDeps(t.Deps)))
	list("outputs", globs(t.Outputs))
	list("inputs", globs(slices.DeleteFunc(texts(t.Inputs), isName)))
	list("env", t.Env)
	if t.Cache != nil && !*t.Cache {
		keys = append(keys, "cache = false")
	}
	if t.Persistent {
		keys = append(keys, "persistent = true")
	}
	if t.Interactive && !t.Persistent {
		keys = append(keys, "interactive = true")
	}
	if len(keys) == 0 {
		return "the recipe as it is"
	}
	return strings.Join(keys, ", ")
}

// moonDeps returns moon's names of dependencies in bento's form.
func moonDeps(deps []string) (list []string) {
	for _, d := range deps {
		list = append(list, strings.TrimPrefix(strings.Replace(d, "^:", "^", 1), "~:"))
	}
	return list
}

// globs returns the patterns of other tools in bento's form. It leaves out patterns with
// variables that bento does not have.
func globs(patterns []string) (list []string) {
	here := strings.NewReplacer("{projectRoot}/", "", "$projectRoot/", "", "{workspaceRoot}/", "//", "$workspaceRoot/", "//", "$TURBO_ROOT$/", "//")
	for _, p := range patterns {
		if p = here.Replace(p); !strings.ContainsAny(p, "${") {
			list = append(list, p)
		}
	}
	return list
}

// isName reports whether an input is the name of a list of them.
func isName(input string) bool { return !strings.ContainsAny(input, "/.*") }

// texts keeps the strings of a list.
func texts(values []any) (list []string) {
	for _, v := range values {
		if text, ok := v.(string); ok {
			list = append(list, text)
		}
	}
	return list
}

func mapped(tasks map[string]taskOf) (list []mapping) {
	for _, name := range slices.Sorted(maps.Keys(tasks)) {
		list = append(list, mapping{name, "[tasks." + name + "] " + tasks[name].keys()})
	}
	return list
}

func turboTasks(data []byte) []mapping {
	var doc struct{ Tasks, Pipeline map[string]taskOf }
	if json.Unmarshal(plainJSON(data), &doc) != nil {
		return nil
	}
	return append(mapped(doc.Tasks), mapped(doc.Pipeline)...)
}

func nxTargets(data []byte) []mapping {
	var doc struct{ TargetDefaults map[string]taskOf }
	if json.Unmarshal(plainJSON(data), &doc) != nil {
		return nil
	}
	return mapped(doc.TargetDefaults)
}

func moonTasks(data []byte) []mapping {
	var doc struct{ Tasks map[string]taskOf }
	if yaml.Unmarshal(data, &doc) != nil {
		return nil
	}
	return mapped(doc.Tasks)
}

// makeTargets returns the targets of a Makefile that are phony or have the name of a
// lifecycle task.
func makeTargets(data []byte) (list []mapping) {
	phony := make(map[string]bool)
	for _, line := range regexp.MustCompile(`(?m)^\.PHONY:(.*)$`).FindAllSubmatch(data, -1) {
		for _, name := range strings.Fields(string(line[1])) {
			phony[name] = true
		}
	}
	seen := make(map[string]bool)
	for _, m := range regexp.MustCompile(`(?m)^([A-Za-z0-9][A-Za-z0-9_.-]*):(?:[^=]|$)`).FindAllSubmatch(data, -1) {
		name := string(m[1])
		if lifecycle := slices.Contains([]string{"all", "build", "check", "lint", "test"}, name); seen[name] || !phony[name] && !lifecycle {
			continue
		}
		seen[name] = true
		task := name
		if name == "all" {
			task = "build"
		}
		list = append(list, mapping{name, fmt.Sprintf("[tasks.%s] run = \"make %s\"", task, name)})
	}
	return list
}

// plainJSON leaves out the comments and the commas that JSON does not have.
func plainJSON(data []byte) []byte {
	// Both match texts as well, which keep what looks like one.
	comments := regexp.MustCompile(`"(?:\\.|[^"\\])*"|//[^\n]*|/\*(?s:.*?)\*/`)
	trailing := regexp.MustCompile(`"(?:\\.|[^"\\])*"|,\s*([}\]])`)
	data = comments.ReplaceAllFunc(data, func(m []byte) []byte {
		if m[0] == '"' {
			return m
		}
		return nil
	})
	return trailing.ReplaceAllFunc(data, func(m []byte) []byte {
		if m[0] == '"' {
			return m
		}
		return m[len(m)-1:]
	})
}
