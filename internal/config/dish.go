package config

import (
	"errors"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/zeebo/blake3"

	"github.com/bentobuild/bento/diagnostics"
	"github.com/bentobuild/bento/internal/clone"
	"github.com/bentobuild/bento/internal/dish"
	"github.com/bentobuild/bento/internal/tomlfile"
)

// installTable is the schema of [install].
type installTable struct {
	Inputs  globs        `toml:"inputs" doc:"the files of the dish that its own scripts preinstall, install, postinstall and prepare read. Default: all. When one changes, bento installs again"`
	PassEnv []envPattern `toml:"pass_env" doc:"variables that the install sees, as NAME or PREFIX_*"`
}

// dependsOn is a dish.Dependency, without a dish when it is faulty.
type dependsOn dish.Dependency

// dependsOnTable is the schema of a dependency as a table.
type dependsOnTable struct {
	Dish tomlfile.At[string] `toml:"dish" doc:"the name of the dish"`
	Via  choice[viaWords]    `toml:"via" default:"sources" doc:"what of it the keys hold"`
}

type viaWords struct{}

func (viaWords) words() []string { return []string{"sources", dish.ViaOutputs} }

// Shape returns the schema.
func (*dependsOn) Shape() tomlfile.Schema {
	table := tomlfile.SchemaOf(dependsOnTable{})
	table["required"] = []string{"dish"}
	return tomlfile.Schema{"anyOf": []any{tomlfile.Schema{"type": "string", "minLength": 1}, table}}
}

// UnmarshalTOML reads a name, or {dish = "…", via = "…"}.
func (d *dependsOn) UnmarshalTOML(v *tomlfile.Value) []diagnostics.Diagnostic {
	var raw dependsOnTable
	var problems []diagnostics.Diagnostic
	switch v.Kind() {
	case tomlfile.String:
		problems = v.Decode(&raw.Dish)
	case tomlfile.Table:
		problems = v.Decode(&raw)
	default:
		return []diagnostics.Diagnostic{v.Expected(`a dish's name or {dish = "…", via = "outputs"}`)}
	}
	*d = dependsOn{Dish: raw.Dish.Value, Pos: v.Pos()}
	if raw.Via.At.Value == dish.ViaOutputs {
		d.Via = dish.ViaOutputs
	}
	if d.Dish == "" && len(problems) == 0 {
		problems = append(problems, v.Pos().Error(diagnostics.RuleInvalid, "%s names no dish", v.Path()))
	}
	return problems
}

// dishTable is the schema of dish.toml.
type dishTable struct {
	Name             tomlfile.At[string]           `toml:"name" doc:"unique in the workspace. Default: the name of the directory"`
	Language         tomlfile.At[string]           `toml:"language" doc:"the one language of the directory, by default detected; \"none\": the dish has only the tasks of this file"`
	Languages        []tomlfile.At[string]         `toml:"languages" doc:"the languages of the directory, in order, by default detected. Each is a dish; the first has the name"`
	Inputs           globs                         `toml:"inputs" doc:"added to the inputs of recipes; the inputs of tasks without a recipe"`
	Outputs          globs                         `toml:"outputs" doc:"the outputs of build"`
	DependsOn        []dependsOn                   `toml:"depends_on" also:"dependson,deps,dependencies,needs,requires" doc:"other dishes. With via = \"outputs\" the keys hold their outputs, and the files that git tracks among those, instead of their sources"`
	ForceIndependent bool                          `toml:"force_independent" default:"false" doc:"the keys of the dish leave its dependencies out"`
	Tags             []tomlfile.At[string]         `toml:"tags" doc:"words by which [boundaries] and the target tag:NAME select dishes; they are in no key"`
	Visibility       *globs                        `toml:"visibility" doc:"globs of the dishes that may link to this one, each with // in front: [\"//apps/*\"]. An empty list hides it from every dish. Default: all may"`
	Install          installTable                  `toml:"install" doc:"the install of its dependencies"`
	Toolchain        toolchainTable                `toml:"toolchain" also:"tools,engines,versions" doc:"goes before that of bento.toml"`
	Plugins          tomlfile.Map[dishPluginTable] `toml:"plugins" doc:"options of the plugin with this id"`
	Container        *container                    `toml:"container" doc:"the container in which the tasks run that set none themselves and are no servers; see docs/containers.md. By default as in defaults.container"`
	Tasks            tomlfile.Map[taskTable]       `toml:"tasks" also:"scripts,targets,pipeline,commands" doc:"a task with the name of a recipe changes the recipe and inherits the keys that it does not set"`

	PackageManager string                    `toml:"package_manager"`
	Serve          serveTable                `toml:"serve"`
	Integrations   map[string]map[string]any `toml:"integrations"`
	Garnishes      []garnishTable            `toml:"garnishes"`
}

type serveTable struct {
	Run string `toml:"run"`
}

type garnishTable struct {
	Name        string   `toml:"name"`
	Run         string   `toml:"run"`
	Env         []string `toml:"env"`
	RequiredEnv []string `toml:"required_env"`
	RequiredCLI []string `toml:"required_cli"`
}

func (w *Workspace) parseDish(c *clone.Clone, dir string) parsedDish {
	name := dishFile(dir)
	out := parsedDish{Path: dir}
	d := &out.Value.Dish
	*d = dish.Settings{Path: dir, Pos: diagnostics.Pos{File: name, Line: 1, Col: 1}, Toolchain: w.Toolchain}
	data, err := read(c, name)
	if errors.Is(err, fs.ErrNotExist) { // a broken link
		err = fs.ErrNotExist
	}
	if err != nil {
		out.Value.Problems = unreadable(name, err)
		return out
	}
	out.Sum = blake3.Sum256(data)
	f, problems := tomlfile.Parse(name, data)
	if f != nil {
		problems = append(problems, fill(d, f, w.Toolchain)...)
	}
	out.Value.Problems = problems
	return out
}

// CheckDish returns the problems of the text of a dish.toml for the directory dir, relative to the root. It
// checks the text alone.
func CheckDish(dir string, text []byte) []diagnostics.Diagnostic {
	f, problems := tomlfile.Parse(dishFile(dir), text)
	if f == nil {
		return problems
	}
	d := dish.Settings{Path: dir}
	return append(problems, fill(&d, f, dish.Toolchain{})...)
}

// fill applies the values of dish.toml.
func fill(d *dish.Settings, f *tomlfile.File, base dish.Toolchain) []diagnostics.Diagnostic {
	var raw dishTable
	problems := f.Decode(&raw)
	d.Name, d.Language = textOf(raw.Name), textOf(raw.Language)
	d.Inputs, d.Outputs = raw.Inputs, raw.Outputs
	d.ForceIndependent = raw.ForceIndependent
	tags, more := tagsOf("tags", raw.Tags)
	d.Tags, problems = tags, append(problems, more...)
	if raw.Visibility != nil {
		d.Visibility = (*[]dish.Glob)(raw.Visibility)
		problems = append(problems, checkVisibility(*d.Visibility)...)
	}
	d.Install = dish.Install{Inputs: raw.Install.Inputs, PassEnv: envNames(raw.Install.PassEnv)}
	d.Toolchain = raw.Toolchain.over(base)
	d.Container, more = raw.Container.at(d.Path)
	problems = append(problems, more...)
	for _, dep := range raw.DependsOn {
		if dep.Dish != "" {
			d.DependsOn = append(d.DependsOn, dish.Dependency(dep))
		}
	}
	if raw.Name.Given {
		problems = append(problems, checkName("dish", d.Name.Text, d.Name.Pos)...)
	}
	if raw.Language.Given && strings.TrimSpace(d.Language.Text) == "" {
		problems = append(problems, d.Language.Pos.Error(diagnostics.RuleInvalid, `language is empty, expected an adapter's id or "none"`))
	}
	problems = append(problems, setLanguages(d, raw.Languages)...)
	options, more := optionsOf(raw.Plugins)
	d.Options, problems = options, append(problems, more...)
	if at := raw.Toolchain.AllowDownload; at.Given && at.Value != base.AllowDownload {
		problems = append(problems, at.Pos.Error(diagnostics.RuleInvalid, "toolchain.allow_download applies to the whole workspace, required in bento.toml"))
	}
	problems = append(problems, checkOutputs(d.Outputs)...)
	problems = append(problems, tooMuch(d.Path, d.Inputs)...)
	problems = append(problems, tooMuch(d.Path, d.Outputs)...)
	problems = append(problems, tooMuch(d.Path, d.Install.Inputs)...)
	for i := range raw.Tasks {
		task, more := raw.Tasks[i].Value.task(d.Path, raw.Tasks[i].Name, raw.Tasks[i].Pos)
		d.Tasks = append(d.Tasks, task)
		problems = append(problems, more...)
		problems = append(problems, tooMuchOfTask(d.Path, &task)...)
	}
	markMisnamed(d.Tasks, problems)
	return append(problems, unserved(f, dish.File)...)
}

// markMisnamed sets Misnamed of tasks whose table has a key by which another tool names run.
func markMisnamed(tasks []dish.TaskSettings, problems []diagnostics.Diagnostic) {
	for _, p := range problems {
		if p.Rule != tomlfile.RuleUnknownKey || p.Hint != `did you mean "run"?` {
			continue
		}
		var in *dish.TaskSettings // the last task that begins before the key
		for i := range tasks {
			if t := &tasks[i]; t.Pos.Line <= p.Line && (in == nil || t.Pos.Line > in.Pos.Line) {
				in = t
			}
		}
		if in != nil {
			in.Misnamed = true
		}
	}
}

// setLanguages sets Languages, and reports an empty or duplicate one, and NoLanguage.
func setLanguages(d *dish.Settings, list []tomlfile.At[string]) (problems []diagnostics.Diagnostic) {
	for _, l := range list {
		named := slices.ContainsFunc(d.Languages, func(t dish.Text) bool { return t.Text == l.Value })
		switch {
		case !l.Given:
		case strings.TrimSpace(l.Value) == "" || l.Value == dish.NoLanguage:
			problems = append(problems, l.Pos.Error(diagnostics.RuleInvalid, "languages holds %q, expected an adapter's id", l.Value))
		case named:
			problems = append(problems, l.Pos.Error(RuleDuplicate, "languages names %q twice", l.Value))
		case d.Language.Text != "":
			problems = append(problems, l.Pos.Error(diagnostics.RuleInvalid, "language and languages exclude each other: language leaves just one"))
			return problems
		default:
			d.Languages = append(d.Languages, textOf(l))
		}
	}
	return problems
}

// checkOutputs reports globs that declare a whole dish as output: bento would store the sources, and remove
// them before the next run.
func checkOutputs(globs []dish.Glob) (problems []diagnostics.Diagnostic) {
	for _, g := range globs {
		if g.Text == "" {
			continue
		}
		switch p := path.Clean(strings.TrimPrefix(g.Text, "//")); p {
		case ".", "*", "**", "**/*", "**/**":
			problems = append(problems, g.Pos.Error(RuleGlob, "output glob %q takes every file, sources too; expected the directory that is made", g.Text))
		default:
			if base := path.Base(p); base == dish.WorkspaceFile && base == p || base == dish.File || (path.Dir(p) == dish.BentosDir || path.Dir(p) == dish.AdaptersDir) && path.Ext(p) == ".toml" {
				problems = append(problems, g.Pos.Error(RuleGlob, "output %q is configuration of bento; expected a file that the task makes", g.Text))
			}
		}
	}
	return problems
}
