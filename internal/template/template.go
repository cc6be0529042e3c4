// Package template reads directories that serve as templates of new dishes, and makes the files of a new directory from
// them.
package template

import (
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/bentobuild/bento/diagnostics"
	"github.com/bentobuild/bento/internal/clone"
	"github.com/bentobuild/bento/internal/tomlfile"
)

// File is the file that makes a directory a template. Suffix ends the names of files in which variables are replaced.
const (
	File   = "template.toml"
	Suffix = ".tmpl"
)

// RuleInvalid is the rule of the problems of a template.
const RuleInvalid = "template_invalid"

// The bounds of a template.
const (
	maxFiles = 1000
	maxFile  = 4 << 20  // bytes
	maxAll   = 64 << 20 // bytes
	maxValue = 4 << 10  // bytes
)

// table is the content of template.toml.
type table struct {
	Description tomlfile.At[string]     `toml:"description" doc:"what the template makes, for bento new without arguments"`
	Variables   tomlfile.Map[variables] `toml:"variables" doc:"the variables, by name: lower-case letters, digits and underscores"`
}

type variables struct {
	Description tomlfile.At[string]  `toml:"description" doc:"the question at a terminal"`
	Default     *tomlfile.At[string] `toml:"default" doc:"the value without --set; without a default the variable is required"`
	Pattern     tomlfile.At[string]  `toml:"pattern" doc:"a regular expression (RE2) that the whole value has to match"`
}

// Schema returns the schema of template.toml.
func Schema() tomlfile.Schema { return tomlfile.SchemaOf(table{}) }

// Template is a checked template.
type Template struct {
	Dir         string // relative to the root
	Description string
	Variables   []Variable
	files       []file
}

// Variable is a variable of a template.
type Variable struct {
	Name, Description string
	Default           *string // nil if the variable is required
	pattern           *regexp.Regexp
}

// Source is a file of the workspace. Its path is relative to the root.
type Source struct {
	Path string
	Mode fs.FileMode // with the type
}

type file struct {
	path string // relative to the template
	data []byte
	mode fs.FileMode
}

// derived are the variables that every template has; see Values.
var derived = []string{"name", "snake", "pascal", "path"}

// Read reads the template in dir, relative to the root of c. sources are the files there that git does not ignore. The
// problems are those of the files of the template; with any, the template is nil.
func Read(c *clone.Clone, dir string, sources []Source) (*Template, []diagnostics.Diagnostic) {
	t := &Template{Dir: dir}
	problems := t.readTable(c)
	size := 0
	for i, s := range sources {
		at := diagnostics.Pos{File: s.Path}
		name := strings.TrimPrefix(s.Path, dir+"/")
		if name == File {
			continue
		}
		if i > maxFiles {
			problems = append(problems, at.Error(RuleInvalid, "the template %s has more than %d files", dir, maxFiles))
			break
		}
		switch {
		case s.Mode&fs.ModeSymlink != 0:
			problems = append(problems, at.Error(RuleInvalid, "the template has a link, which bento new does not follow").WithHint("replace the link by the file itself"))
			continue
		case !s.Mode.IsRegular():
			problems = append(problems, at.Error(RuleInvalid, "the template has a file that is no regular file"))
			continue
		}
		data, err := c.Read(s.Path, maxFile)
		if err != nil {
			problems = append(problems, at.Error(RuleInvalid, "the file of the template cannot be read: %v", err))
			continue
		}
		if why := secret(name, data); why != "" {
			problems = append(problems, at.Error(RuleInvalid, "the template has %s, which every new directory would have", why).WithHint("take it out of the template; a name such as .env.example is accepted"))
		}
		if size += len(data); size > maxAll {
			problems = append(problems, at.Error(RuleInvalid, "the template %s has more than %d MiB", dir, maxAll>>20))
			break
		}
		t.files = append(t.files, file{name, data, s.Mode.Perm()})
	}
	if problems = append(problems, t.checkVariables()...); len(problems) > 0 {
		return nil, problems
	}
	return t, nil
}

func (t *Template) readTable(c *clone.Clone) []diagnostics.Diagnostic {
	name := path.Join(t.Dir, File)
	data, err := c.Read(name, tomlfile.MaxConfig)
	if err != nil {
		return []diagnostics.Diagnostic{diagnostics.Pos{File: name}.Error(RuleInvalid, "the file cannot be read: %v", err)}
	}
	f, problems := tomlfile.Parse(name, data)
	if f == nil {
		return problems
	}
	var content table
	problems = f.Decode(&content)
	t.Description = content.Description.Value
	for _, e := range content.Variables {
		v, more := variable(e.Name, e.Pos, &e.Value)
		problems = append(problems, more...)
		t.Variables = append(t.Variables, v)
	}
	return problems
}

func variable(name string, at diagnostics.Pos, content *variables) (v Variable, problems []diagnostics.Diagnostic) {
	v = Variable{Name: name, Description: content.Description.Value}
	switch {
	case slices.Contains(derived, name):
		problems = append(problems, at.Error(RuleInvalid, "every template has the variable %q", name).WithHint("choose another name"))
	case reference("{{"+name+"}}") != name:
		problems = append(problems, at.Error(RuleInvalid, "%q cannot be a variable", name).WithHint("expected lower-case letters, digits and underscores, a letter in front"))
	}
	if p := content.Pattern; p.Given {
		re, err := regexp.Compile("^(?:" + p.Value + ")$")
		if err != nil {
			problems = append(problems, p.Pos.Error(RuleInvalid, "the pattern is no regular expression: %v", err))
		}
		v.pattern = re
	}
	if d := content.Default; d != nil && d.Given {
		v.Default = &d.Value
		if why := v.Check(d.Value); why != "" {
			problems = append(problems, d.Pos.Error(RuleInvalid, "the default of %q %s", name, why))
		}
	}
	return v, problems
}

// Check returns why a value cannot be one of the variable, "" if it can.
func (v Variable) Check(value string) string {
	switch {
	case len(value) > maxValue:
		return fmt.Sprintf("has more than %d bytes", maxValue)
	case !utf8.ValidString(value) || strings.ContainsFunc(value, func(r rune) bool { return r < ' ' || r == 0x7f }):
		return "is no line of text"
	case v.pattern != nil && !v.pattern.MatchString(value):
		return fmt.Sprintf("is %q, expected a match of %q", value, v.pattern)
	}
	return ""
}

// checkVariables reports the references to variables that the template does not have.
func (t *Template) checkVariables() (problems []diagnostics.Diagnostic) {
	known := slices.Clone(derived)
	for _, v := range t.Variables {
		known = append(known, v.Name)
	}
	for _, f := range t.files {
		at := diagnostics.Pos{File: path.Join(t.Dir, f.path)}
		report := func(name string, line int) {
			at.Line = line
			problems = append(problems, at.Error(RuleInvalid, "the template has no variable %q", name).WithHint(declareHint(diagnostics.Suggest(name, known))))
		}
		replace(f.path, func(name string, _ int) (string, bool) {
			if !slices.Contains(known, name) {
				report(name, 0)
			}
			return "", true
		})
		if !strings.HasSuffix(f.path, Suffix) {
			continue
		}
		replace(string(f.data), func(name string, line int) (string, bool) {
			if !slices.Contains(known, name) {
				report(name, line)
			}
			return "", true
		})
	}
	return problems
}

func declareHint(suggestion string) string {
	return strings.TrimPrefix(suggestion+"; declare it under [variables] in "+File, "; ")
}
