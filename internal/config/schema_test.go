package config

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/BurntSushi/toml"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/bentobuild/bento/diagnostics"
	"github.com/bentobuild/bento/internal/dish"
	"github.com/bentobuild/bento/internal/tomlfile"
)

var update = flag.Bool("update", false, "write docs/schema")

// compiledSchemas are the schemas by name.
var compiledSchemas = sync.OnceValues(func() (map[string]*jsonschema.Schema, error) {
	byName := make(map[string]*jsonschema.Schema)
	for _, f := range Schemas() {
		text, err := json.Marshal(f.Schema)
		if err != nil {
			return nil, err
		}
		doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
		if err != nil {
			return nil, err
		}
		c := jsonschema.NewCompiler()
		if err := c.AddResource("urn:"+f.Name, doc); err != nil {
			return nil, err
		}
		if byName[f.Name], err = c.Compile("urn:" + f.Name); err != nil {
			return nil, err
		}
	}
	return byName, nil
})

// schemaAccepts returns the error of the schema of a kind of file for a TOML text, nil if the schema accepts it.
func schemaAccepts(t *testing.T, kind, text string) error {
	t.Helper()
	schemas, err := compiledSchemas()
	if err != nil {
		t.Fatal(err)
	}
	var tree map[string]any
	if _, err := toml.Decode(text, &tree); err != nil {
		return err
	}
	data, err := json.Marshal(tree)
	if err != nil { // inf and nan are numbers in TOML but not in JSON
		return err
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	return schemas[kind].Validate(doc)
}

// parserErrors returns the errors of the parser.
func parserErrors(kind, text string) []diagnostics.Diagnostic {
	f, problems := tomlfile.Parse(map[string]string{"workspace": dish.WorkspaceFile, "dish": dish.File, "bento": "bentos/b.toml", "own": "/own", "adapter": dish.AdaptersDir + "/a.toml"}[kind], []byte(text))
	if f == nil {
		return problems
	}
	w := &Workspace{Root: "/", Cache: defaultCache()}
	switch kind {
	case "workspace":
		problems = append(problems, w.fill(f)...)
	case "dish":
		problems = append(problems, fill(new(dish.Settings), f, dish.Toolchain{})...)
	case "bento":
		problems = append(problems, w.addBento(f)...)
	case "adapter":
		_, more := adapterIn(f)
		problems = append(problems, more...)
	case "own":
		s := &sources{own: "/own", content: map[string]content{"/own": {data: []byte(text)}}}
		problems = w.readOwn(s)
	}
	return diagnostics.Errors(problems)
}

// TestPublishedSchemas: docs/schema has the schemas that `bento schema` prints. With -update, the test writes them.
func TestPublishedSchemas(t *testing.T) {
	for _, f := range Schemas() {
		name := filepath.Join("..", "..", "docs", "schema", f.Name+".json")
		var want bytes.Buffer
		e := json.NewEncoder(&want)
		e.SetEscapeHTML(false)
		e.SetIndent("", "  ")
		if err := e.Encode(f.Schema); err != nil {
			t.Fatal(err)
		}
		if *update {
			if err := os.WriteFile(name, want.Bytes(), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		got, err := os.ReadFile(name)
		if err != nil || !bytes.Equal(got, want.Bytes()) {
			t.Errorf("%s is out of date (%v): run go test ./internal/config -update", name, err)
		}
	}
}

// key is a key of a schema; in returns a whole file in which the key has this value.
type key struct {
	path   string
	in     func(value any) map[string]any
	schema tomlfile.Schema
}

// keysIn returns all keys of a schema, at any depth, elements of arrays and of tables too.
func keysIn(s tomlfile.Schema, at key) []key {
	at.schema = s
	list := []key{at}
	add := func(part string, of any, wrap func(any) any) {
		if of, ok := of.(tomlfile.Schema); ok {
			list = append(list, keysIn(of, key{path: at.path + part, in: func(v any) map[string]any { return at.in(wrap(v)) }})...)
		}
	}
	required, _ := s["required"].([]string)
	if conditions, ok := s["oneOf"].([]any); ok {
		required = conditions[0].(tomlfile.Schema)["required"].([]string)
	}
	known, _ := s["properties"].(map[string]any)
	for _, name := range slices.Sorted(maps.Keys(known)) {
		add("."+name, known[name], func(v any) any {
			table := map[string]any{name: v}
			for _, other := range required {
				if other != name && !(s["oneOf"] != nil && name != "timeout") {
					table[other] = sampleOf(known[other].(tomlfile.Schema))
				}
			}
			return table
		})
	}
	add(".x", s["additionalProperties"], func(v any) any { return map[string]any{"x": v} })
	add("[]", s["items"], func(v any) any { return []any{v} })
	choices, _ := s["anyOf"].([]any)
	for _, choice := range choices {
		list = append(list, keysIn(choice.(tomlfile.Schema), at)[1:]...)
	}
	return list
}

// sampleOf returns a value that a simple schema accepts.
func sampleOf(s tomlfile.Schema) any {
	switch s["type"] {
	case "integer":
		return 1
	case "array":
		if s["minItems"] != nil {
			return []any{"x"}
		}
		return []any{}
	default:
		return "x"
	}
}

// allKeys returns all keys of a file.
func allKeys(f FileSchema) []key {
	return keysIn(f.Schema, key{in: func(v any) map[string]any { m, _ := v.(map[string]any); return m }})[1:]
}

func tomlOf(t *testing.T, tree map[string]any) string {
	t.Helper()
	var b strings.Builder
	if err := toml.NewEncoder(&b).Encode(tree); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// TestSchemaAndParserAgree tries a value of each kind at each key. The parser must report an error if the schema
// refuses the value, and the schema must refuse a value that the parser refuses for its type. Both must refuse at
// least one kind at each key, unless the key takes any value.
func TestSchemaAndParserAgree(t *testing.T) {
	values := []any{"word", 7, 1.5, true, []any{}, []any{7}, []any{"word"}, map[string]any{}, map[string]any{"qq": 7}}
	count := 0
	for _, f := range Schemas() {
		for _, k := range allKeys(f) {
			refused := 0
			for _, v := range values {
				text := tomlOf(t, k.in(v))
				problems, schema := parserErrors(f.Name, text), schemaAccepts(t, f.Name, text)
				wrong := slices.ContainsFunc(problems, func(d diagnostics.Diagnostic) bool {
					return d.Rule == tomlfile.RuleWrongType || d.Rule == tomlfile.RuleUnknownKey
				})
				switch {
				case schema != nil && len(problems) == 0:
					t.Errorf("%s%s: the schema refuses what the parser accepts:\n%s%v", f.Name, k.path, text, schema)
				case schema == nil && wrong:
					t.Errorf("%s%s: the schema accepts what the parser refuses:\n%s%v", f.Name, k.path, text, problems)
				case schema != nil:
					refused++
				}
			}
			free := strings.HasSuffix(k.path, ".integrations.x.x")
			if refused == 0 && !free {
				t.Errorf("%s%s: no value is of the wrong type", f.Name, k.path)
			}
			count++
		}
	}
	if count < 150 {
		t.Errorf("%d keys were compared; the search is broken", count)
	}
}

// TestKeysAreDescribed: every key has a description, and a default that schema and parser accept.
func TestKeysAreDescribed(t *testing.T) {
	for _, f := range Schemas() {
		for _, k := range allKeys(f) {
			if named := !strings.HasSuffix(k.path, ".x") && !strings.HasSuffix(k.path, "[]"); named && k.schema["description"] == nil && !deprecated(f.Schema, k.path) {
				t.Errorf("%s%s has no description", f.Name, k.path)
			}
			if k.schema["default"] == nil {
				continue
			}
			data, _ := json.Marshal(k.schema["default"])
			var value any
			d := json.NewDecoder(bytes.NewReader(data))
			d.UseNumber()
			if err := d.Decode(&value); err != nil {
				t.Fatal(err)
			}
			text := tomlOf(t, k.in(value))
			if problems, err := parserErrors(f.Name, text), schemaAccepts(t, f.Name, text); len(problems) > 0 || err != nil {
				t.Errorf("%s%s: the default is refused:\n%s%v %v", f.Name, k.path, text, problems, err)
			}
		}
	}
}

// deprecated reports whether a key has no effect, or is in a table without effect.
func deprecated(s tomlfile.Schema, path string) bool {
	for part := range strings.SplitSeq(strings.TrimPrefix(path, "."), ".") {
		if s = property(s, strings.TrimSuffix(part, "[]")); s["deprecated"] == true {
			return true
		}
	}
	return false
}

// TestSchemasAcceptWhatTheParserAccepts: the schemas accept each file of the examples, the scripts and the pages that
// the parser accepts.
func TestSchemasAcceptWhatTheParserAccepts(t *testing.T) {
	top := filepath.Join("..", "..")
	count := map[string]int{}
	check := func(where, name, text string) {
		kind := kindOf(name)
		if kind == "" || len(parserErrors(kind, text)) > 0 {
			return
		}
		count[kind]++
		if err := schemaAccepts(t, kind, text); err != nil {
			t.Errorf("%s: %s: %v", where, name, err)
		}
	}
	for _, dir := range []string{"examples", "testdata", "docs", "cmd/bento/testdata/script"} {
		err := filepath.WalkDir(filepath.Join(top, dir), func(file string, e fs.DirEntry, err error) error {
			if err != nil || !e.Type().IsRegular() {
				return err
			}
			data, err := os.ReadFile(file)
			switch ext := path.Ext(file); {
			case err != nil:
				return err
			case ext == ".toml":
				check(file, filepath.ToSlash(file), string(data))
			case ext == ".txtar" || ext == ".txt":
				for name, text := range sectionsOf(string(data)) {
					check(file, name, text)
				}
			case ext == ".md":
				for i, block := range blocksOf(string(data)) {
					for _, name := range []string{"bento.toml", "dish.toml", "bentos/x.toml"} {
						check(fmt.Sprintf("%s, block %d", file, i), name, block)
					}
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if count["workspace"] < 50 || count["dish"] < 100 || count["bento"] < 5 {
		t.Errorf("files found: %v; the search is broken", count)
	}
}

// kindOf returns the kind of a file by its name, "" for a file of another program.
func kindOf(name string) string {
	switch {
	case path.Base(name) == dish.WorkspaceFile:
		return "workspace"
	case path.Base(name) == dish.File:
		return "dish"
	case path.Base(path.Dir(name)) == dish.BentosDir && path.Ext(name) == ".toml":
		return "bento"
	default:
		return ""
	}
}

// sectionsOf returns the files of a txtar archive.
func sectionsOf(text string) map[string]string {
	files, name := make(map[string]string), ""
	for line := range strings.Lines(text) {
		if inner, ok := strings.CutPrefix(strings.TrimSpace(line), "-- "); ok && strings.HasSuffix(inner, " --") {
			name = strings.TrimSuffix(inner, " --")
			files[name] = ""
		} else if name != "" {
			files[name] += line
		}
	}
	return files
}

// blocksOf returns the blocks of code of a page.
func blocksOf(text string) (blocks []string) {
	var block strings.Builder
	for line := range strings.Lines(text + "\nend\n") {
		if code, ok := strings.CutPrefix(line, "    "); ok {
			block.WriteString(code)
		} else if strings.TrimSpace(line) != "" && block.Len() > 0 {
			blocks = append(blocks, block.String())
			block.Reset()
		}
	}
	return blocks
}
