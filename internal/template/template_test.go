package template

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bentobuild/bento/internal/clone"
)

// read writes the files of a template t, and reads it.
func read(t *testing.T, files map[string]string) (*Template, string) {
	t.Helper()
	root := t.TempDir()
	var sources []Source
	for name, text := range files {
		name = "t/" + name
		full := filepath.Join(root, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(full, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		sources = append(sources, Source{name, 0o644})
	}
	tmpl, problems := Read(clone.At(root), "t", sources)
	var list []string
	for _, p := range problems {
		list = append(list, p.String())
	}
	return tmpl, strings.Join(list, "\n")
}

func TestFill(t *testing.T) {
	tmpl, problems := read(t, map[string]string{
		File:               "[variables.a]\ndefault = '{{name}}'\n",
		"{{snake}}/x.tmpl": "{{a}} {{ pascal }}{{path}}\n{{  name}}{{ name }",
		"b":                "{{name}}",
	})
	if problems != "" {
		t.Fatal(problems)
	}
	values := Derived("my.new-dish_2", "apps/my.new-dish_2")
	values["a"] = *tmpl.Variables[0].Default
	got, bad := tmpl.Fill(values)
	want := []Output{
		{"b", []byte("{{name}}"), 0o644},
		{"my_new_dish_2/x", []byte("{{name}} MyNewDish2apps/my.new-dish_2\nmy.new-dish_2{{ name }"), 0o644}, // a value is not replaced again
	}
	if diff := cmp.Diff(want, got); diff != "" || len(bad) > 0 {
		t.Errorf("%v\n%s", bad, diff)
	}
}

// TestRead: Read refuses what is no template, or would put secrets or too much into each new directory.
func TestRead(t *testing.T) {
	many := map[string]string{File: ""}
	for i := range maxFiles + 1 {
		many[fmt.Sprint(i)] = ""
	}
	tests := []struct {
		files map[string]string
		want  string
	}{
		{map[string]string{}, "the file cannot be read"},
		{map[string]string{File: "x = 1"}, "unknown key x"},
		{map[string]string{File: "[variables.A]"}, `"A" cannot be a variable`},
		{map[string]string{File: "[variables.path]"}, "every template has the variable"},
		{map[string]string{File: "[variables.a]\npattern = '('"}, "no regular expression"},
		{map[string]string{File: "[variables.a]\npattern = 'b'\ndefault = 'bb'"}, `the default of "a" is "bb"`},
		{map[string]string{File: "[variables.a]\ndefault = \"b\\n\""}, "is no line of text"},
		{map[string]string{File: "", "{{b}}": ""}, `no variable "b"`},
		{map[string]string{File: "", "id.tmpl": "-----BEGIN RSA PRIVATE KEY-----"}, "a private key"},
		{map[string]string{File: "", ".npmrc": "//r/:_authToken=abc"}, "a token of a registry"},
		{map[string]string{File: "", "k/x.P12": ""}, "a file with keys"},
		{map[string]string{File: "", "big": strings.Repeat("x", maxFile+1)}, "cannot be read"},
		{many, "more than 1000 files"},
	}
	for _, test := range tests {
		tmpl, problems := read(t, test.files)
		if tmpl != nil || !strings.Contains(problems, test.want) {
			t.Errorf("want %q, got %q", test.want, problems)
		}
	}
	if tmpl, problems := read(t, map[string]string{File: "", ".npmrc": "//r/:_authToken=${TOKEN}", ".env.sample": ""}); tmpl == nil {
		t.Error(problems)
	}
	root := t.TempDir()
	if _, problems := Read(clone.At(root), "t", []Source{{"t/x", fs.ModeSymlink}}); !strings.Contains(fmt.Sprint(problems), "has a link") {
		t.Errorf("a link: %v", problems)
	}
}

// FuzzReplace: what is replaced does not depend on the text around it, and a text without references stays.
func FuzzReplace(f *testing.F) {
	f.Add("a {{name}} b", "{{name}}")
	f.Add("${{ name }}{{{name}}{{", "}}")
	f.Add("{{ {{name}} }}", "\n")
	f.Fuzz(func(t *testing.T, text, by string) {
		seen := 0
		got := replace(text, func(name string, line int) (string, bool) {
			seen++
			if name == "" || line < 1 || line > 1+strings.Count(text, "\n") {
				t.Errorf("%q in line %d", name, line)
			}
			return by, true
		})
		if seen == 0 && got != text {
			t.Errorf("%q became %q", text, got)
		}
		if same := replace(text, func(string, int) (string, bool) { return "", false }); same != text {
			t.Errorf("without values %q became %q", text, same)
		}
	})
}
