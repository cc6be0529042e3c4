package config

import (
	"cmp"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/bentobuild/bento/diagnostics"
	"github.com/bentobuild/bento/internal/dish"
	"github.com/bentobuild/bento/internal/tomlfile"
)

// Extension is the table [extensions.<id>].
type Extension struct {
	Pos diagnostics.Pos // of the table
	Own bool            // the user's own file has the table, so it needs no approval
	// Path is the directory with the manifest: relative to the root, or with Own absolute or
	// relative to the user's directory of extensions. It is clean.
	Path   dish.Text
	Grant  []string            // permissions
	Only   map[string][]string // the limits of some of Grant
	Config string              // a JSON object, "" when not given
	Output bool                // task.output is published to it
	Env    []string            // names: passed
	SetEnv map[string]string   // values: set
	SHA256 dish.Text           // of all its files, lower case hex; empty when not pinned
	Wait   time.Duration       // the maximal time that the end of a run waits for it
}

// extensionTable is the schema of [extensions.<id>].
type extensionTable struct {
	Path   tomlfile.At[string]   `toml:"path" doc:"the directory with manifest.toml or manifest.json, relative to the workspace"`
	Grant  []tomlfile.At[string] `toml:"grant" doc:"permissions that the extension has, if its manifest declares them"`
	Only   extensionOnly         `toml:"only" doc:"the paths, hosts, programs, secrets or topics that some of these permissions are limited to"`
	Config extensionConfig       `toml:"config" doc:"settings that the extension receives at its start"`
	Output bool                  `toml:"output" default:"false" doc:"publish what tasks print, too"`
	Env    envVars               `toml:"env" doc:"variables that the extension sees"`
	SHA256 tomlfile.At[string]   `toml:"sha256" doc:"the digest of the only content that may run"`
	Wait   duration              `toml:"wait" default:"\"2s\"" doc:"how long the end of a run waits for it at most"`
}

// extensionWait is the default of wait.
const extensionWait = 2 * time.Second

// extensionConfig is a TOML table as JSON.
type extensionConfig struct{ text string }

// Shape returns the schema.
func (*extensionConfig) Shape() tomlfile.Schema { return tomlfile.Schema{"type": "object"} }

// UnmarshalTOML turns a table into JSON.
func (c *extensionConfig) UnmarshalTOML(v *tomlfile.Value) []diagnostics.Diagnostic {
	if v.Kind() != tomlfile.Table {
		return []diagnostics.Diagnostic{v.Expected(`a table, { channel = "builds" }`)}
	}
	w := inputWriter{}
	w.value(v, 0)
	if len(w.problems) == 0 && w.out.Len() > maxInput {
		w.problems = append(w.problems, v.Pos().Error(diagnostics.RuleInvalid, "%s has %d bytes as JSON, expected at most %d", v.Path(), w.out.Len(), maxInput))
	}
	if len(w.problems) == 0 {
		c.text = w.out.String()
	}
	return w.problems
}

// extensionOnly is a table of lists by permission.
type extensionOnly tomlfile.Map[[]tomlfile.At[string]]

// Shape returns the schema.
func (*extensionOnly) Shape() tomlfile.Schema {
	list := tomlfile.Schema{"type": "array", "items": tomlfile.Schema{"type": "string", "minLength": 1}, "minItems": 1}
	return tomlfile.Schema{"type": "object", "additionalProperties": list}
}

// UnmarshalTOML reads the lists.
func (o *extensionOnly) UnmarshalTOML(v *tomlfile.Value) []diagnostics.Diagnostic {
	if v.Kind() != tomlfile.Table {
		return []diagnostics.Diagnostic{v.Expected(`a table of lists, { network = ["example.com"] }`)}
	}
	return v.Decode((*tomlfile.Map[[]tomlfile.At[string]])(o))
}

// lists returns the lists of the permissions in grant.
func (o extensionOnly) lists(grant []string) (all map[string][]string, problems []diagnostics.Diagnostic) {
	for _, e := range o {
		list, more := words("entry of "+e.Name, e.Value, plainWord)
		problems = append(problems, more...)
		switch {
		case !slices.Contains(grant, e.Name):
			problems = append(problems, e.Pos.Error(diagnostics.RuleInvalid, "only limits the permission %q, which grant does not name", e.Name).WithHint("add it to grant, or remove the list"))
		case len(list) == 0 && len(more) == 0 && e.Value != nil:
			problems = append(problems, e.Pos.Error(diagnostics.RuleInvalid, "only limits the permission %q to nothing, expected at least one entry", e.Name).WithHint("remove it from grant"))
		}
		if all == nil {
			all = make(map[string][]string)
		}
		all[e.Name] = list
	}
	return all, problems
}

// extensions adds the tables of one file to w. A table of the user's own file replaces the whole table of
// bento.toml, so that a repository grants nothing to an extension of the user. It leaves out a table without
// a path, so that its extension does not start.
func (w *Workspace) extensions(list tomlfile.Map[extensionTable], own bool) (problems []diagnostics.Diagnostic) {
	if w.Extensions == nil && len(list) > 0 {
		w.Extensions = make(map[string]Extension)
	}
	for i := range list {
		id, pos := list[i].Name, list[i].Pos
		problems = append(problems, badExtensionID(pos, id)...)
		e, more := list[i].Value.extension(pos, own)
		problems = append(problems, more...)
		w.Extensions[id] = e
		if !list[i].Value.Path.Given {
			delete(w.Extensions, id)
		}
	}
	return problems
}

func (t *extensionTable) extension(pos diagnostics.Pos, own bool) (Extension, []diagnostics.Diagnostic) {
	e := Extension{Pos: pos, Own: own, Config: t.Config.text, Output: t.Output, Env: t.Env.Names, SetEnv: t.Env.Set, Wait: cmp.Or(time.Duration(t.Wait), extensionWait)}
	var problems, more []diagnostics.Diagnostic
	if t.Path.Given {
		e.Path, problems = extensionPath(t.Path, own)
	}
	e.Grant, more = words("permission", t.Grant, plainWord)
	problems = append(problems, more...)
	e.Only, more = t.Only.lists(e.Grant)
	problems = append(problems, more...)
	e.SHA256, more = digestOf(t.SHA256)
	return e, append(problems, more...)
}

// pathless warns of tables without a path.
func pathless(list tomlfile.Map[extensionTable]) (problems []diagnostics.Diagnostic) {
	for i := range list {
		if !list[i].Value.Path.Given {
			problems = append(problems, list[i].Pos.Warning(ruleMissing, "extensions.%s has no path, expected the directory of its manifest: the extension is off", list[i].Name).
				WithHint(`write path = "tools/`+list[i].Name+`"`))
		}
	}
	return problems
}

// extensionPath checks the path of an extension.
func extensionPath(p tomlfile.At[string], own bool) (dish.Text, []diagnostics.Diagnostic) {
	clean, why := "", ""
	switch dir := p.Value; {
	case own && strings.ContainsRune(dir, 0):
		why = "holds a NUL byte"
	case own && filepath.IsAbs(dir):
		clean = filepath.Clean(dir)
	case own && strings.HasPrefix(dir, "~/"):
		home, err := os.UserHomeDir()
		if err != nil {
			why = "needs $HOME, which is not set"
		}
		clean = filepath.Join(home, dir[len("~/"):])
	default:
		clean, why = cleanDir(dir)
	}
	if why != "" {
		return dish.Text{Pos: p.Pos}, []diagnostics.Diagnostic{p.Pos.Error(rulePath, "extensions: path %q %s", p.Value, why)}
	}
	return dish.Text{Text: clean, Pos: p.Pos}, nil
}

// maxExtensionID is the longest id that a manifest may have, in bytes.
const maxExtensionID = 128

func badExtensionID(pos diagnostics.Pos, id string) []diagnostics.Diagnostic {
	if validID(id, maxExtensionID) {
		return nil
	}
	return []diagnostics.Diagnostic{pos.Error(diagnostics.RuleInvalid, `%q is no id of an extension, expected [a-z0-9][a-z0-9._-]* of at most %d bytes, without ".."`, id, maxExtensionID)}
}

// ExtensionIDs returns the ids of all extensions, sorted.
func (w *Workspace) ExtensionIDs() []string { return slices.Sorted(maps.Keys(w.Extensions)) }

// Dir returns the directory of an extension; data is the user's directory of extensions.
func (e *Extension) Dir(root, data string) string {
	switch {
	case !e.Own:
		return filepath.Join(root, filepath.FromSlash(e.Path.Text))
	case filepath.IsAbs(e.Path.Text):
		return e.Path.Text
	}
	return filepath.Join(data, filepath.FromSlash(path.Clean(e.Path.Text)))
}
