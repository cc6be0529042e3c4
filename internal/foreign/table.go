package foreign

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/bentobuild/bento/diagnostics"
	"github.com/bentobuild/bento/internal/clone"
	"github.com/bentobuild/bento/internal/config"
	"github.com/bentobuild/bento/internal/dish"
	"github.com/bentobuild/bento/internal/tomlfile"
)

// Table is the dish.toml of a directory.
type Table struct {
	Path string // of the directory, relative to the root
	New  bool   // the directory is no dish without it
	Name string // the name of a new dish, "" for the name of its directory
	// DependsOn and Inputs are those of the dish.
	DependsOn []string
	Inputs    []string
	Tasks     []*Task
}

// Task is one table [tasks.<name>].
type Task struct {
	Name string
	From string // the declaration in the file of the tool
	Tool string // id of the tool
	at   located
	Note string // a comment, "" for none

	Run              string
	Cwd              string
	DependsOn        []string
	Inputs           []string
	Outputs          []string
	WorkspaceOutputs []string
	Env              []string          // names
	SetEnv           map[string]string // in place of Env, when set
	PassEnv          []string
	EnvFiles         []string
	Cache            *bool
	CI               bool
	Persistent       bool
	Interactive      bool
	Timeout          string
	Retry            int
	Mutex            string
	Weight           int
}

// keys returns the lines of the table without its head.
func (t *Task) keys() (keys []string) {
	add := func(key, value string) { keys = append(keys, key+" = "+value) }
	list := func(key string, values []string) {
		if len(values) > 0 {
			add(key, array(values))
		}
	}
	text := func(key, value string) {
		if value != "" {
			add(key, tomlfile.Quote(value))
		}
	}
	number := func(key string, n int) {
		if n != 0 {
			add(key, strconv.Itoa(n))
		}
	}
	text("run", t.Run)
	text("cwd", t.Cwd)
	list("depends_on", t.DependsOn)
	list("inputs", t.Inputs)
	list("outputs", t.Outputs)
	list("workspace_outputs", t.WorkspaceOutputs)
	if len(t.SetEnv) > 0 {
		add("env", inline(t.SetEnv))
	} else {
		list("env", t.Env)
	}
	list("pass_env", t.PassEnv)
	list("env_files", t.EnvFiles)
	text("timeout", t.Timeout)
	number("retry", t.Retry)
	text("mutex", t.Mutex)
	number("weight", t.Weight)
	if t.Persistent {
		add("persistent", "true")
	}
	if t.Interactive {
		add("interactive", "true")
	}
	if t.Cache != nil {
		add("cache", strconv.FormatBool(*t.Cache))
	}
	if t.CI {
		add("ci", "true")
	}
	return keys
}

// head returns the head of the table.
func (t *Task) head() string { return "[tasks." + tomlfile.Key(t.Name) + "]" }

func array(values []string) string {
	quoted := make([]string, len(values))
	for i, v := range values {
		quoted[i] = tomlfile.Quote(v)
	}
	return "[" + strings.Join(quoted, ", ") + "]"
}

func inline(set map[string]string) string {
	var pairs []string
	for _, name := range slices.Sorted(maps.Keys(set)) {
		pairs = append(pairs, tomlfile.Key(name)+" = "+tomlfile.Quote(set[name]))
	}
	return "{ " + strings.Join(pairs, ", ") + " }"
}

// File returns the path of the dish.toml.
func (t *Table) File() string {
	if t.Path == "." {
		return dish.File
	}
	return t.Path + "/" + dish.File
}

// Text returns the text of the dish.toml. from names its origin.
func (t *Table) Text(from string) string {
	text, _ := t.render(from)
	return text
}

// render returns the text, and the task that each of its lines belongs to.
func (t *Table) render(from string) (string, []*Task) {
	var lines []string
	var owners []*Task
	add := func(owner *Task, line string) { lines, owners = append(lines, line), append(owners, owner) }
	add(nil, "# Made by bento init --from "+from+".")
	if t.Name != "" {
		add(nil, "name = "+tomlfile.Quote(t.Name))
	}
	if t.New {
		add(nil, `language = "none"`)
	}
	if len(t.DependsOn) > 0 {
		add(nil, "depends_on = "+array(t.DependsOn))
	}
	if len(t.Inputs) > 0 {
		add(nil, "inputs = "+array(t.Inputs))
	}
	for _, task := range t.Tasks {
		add(task, "")
		add(task, task.head())
		if task.Note != "" {
			add(task, "# "+task.Note)
		}
		for _, key := range task.keys() {
			add(task, key)
		}
	}
	return strings.Join(lines, "\n") + "\n", owners
}

// DropInvalid removes from the mapping what has these problems, and makes it gaps. It returns the tables that have
// changed. It removes one part of a table at a time: the lines of the others change with it.
func (m *Mapping) DropInvalid(problems []diagnostics.Diagnostic) (changed []*Table) {
	for _, p := range problems {
		i := slices.IndexFunc(m.Tables, func(t *Table) bool { return t.File() == p.File })
		if i >= 0 && !slices.Contains(changed, m.Tables[i]) && m.drop(m.Tables[i], p.Line, p.Message) {
			changed = append(changed, m.Tables[i])
		}
	}
	return changed
}

// drop removes the task or key at a line of the dish.toml of a table from the mapping, and makes it a
// gap with the reason. It reports whether there was one.
func (m *Mapping) drop(t *Table, line int, why string) bool {
	_, owners := t.render("")
	if line < 1 || line > len(owners) {
		return false
	}
	task := owners[line-1]
	if task == nil {
		had := len(t.DependsOn)+len(t.Inputs) > 0
		if had {
			m.Gaps = append(m.Gaps, Gap{File: t.File(), Line: line, Key: "depends_on, inputs", Why: why})
		}
		t.DependsOn, t.Inputs = nil, nil
		return had
	}
	t.Tasks = slices.DeleteFunc(t.Tasks, func(x *Task) bool { return x == task })
	m.Gaps = append(m.Gaps, Gap{task.at.file, task.at.v.Line(), task.at.v.Col(), task.From, why})
	return true
}

// keepOwn removes the tables of directories that have a dish.toml from the mapping.
func (m *Mapping) keepOwn(files *clone.Clone) {
	m.Tables = slices.DeleteFunc(m.Tables, func(t *Table) bool {
		if _, err := files.Mode(t.File()); err != nil {
			return false
		}
		for _, task := range t.Tasks {
			m.Gaps = append(m.Gaps, Gap{File: t.File(), Line: 1, Key: task.Name, Why: "the file exists; add to it " + task.declaration()})
		}
		return true
	})
}

// Entries are the tasks of one file of another tool, as keys of dish.toml.
type Entries struct {
	Tool string  `json:"tool"`
	File string  `json:"file"`
	Maps []Entry `json:"maps"`
}

// Entry is one entry, and the key for it in the dish.toml of some dishes.
type Entry struct {
	From   string   `json:"from"`
	To     string   `json:"to"`
	Dishes []string `json:"dishes"` // paths
}

// declaration returns the task as one line.
func (t *Task) declaration() string { return t.head() + " " + strings.Join(t.keys(), ", ") }

// Entries returns the mapped tasks by file. Dishes with the same task share an entry.
func (m *Mapping) Entries() []Entries {
	list := []Entries{}
	for _, f := range m.Files {
		file := Entries{Tool: f.Tool, File: f.Path, Maps: []Entry{}}
		for _, t := range m.Tables {
			for _, task := range t.Tasks {
				if task.Tool == f.Tool {
					file.add(task, t.Path)
				}
			}
		}
		slices.SortStableFunc(file.Maps, func(a, b Entry) int { return strings.Compare(a.From, b.From) })
		list = append(list, file)
	}
	return list
}

func (file *Entries) add(task *Task, dish string) {
	e := Entry{From: task.From, To: task.declaration()}
	i := slices.IndexFunc(file.Maps, func(x Entry) bool { return x.From == e.From && x.To == e.To })
	if i < 0 {
		i, file.Maps = len(file.Maps), append(file.Maps, e)
	}
	file.Maps[i].Dishes = append(file.Maps[i].Dishes, dish)
}

// Text returns the table [defaults] of bento.toml, "" without a key.
func (d Defaults) Text() string {
	var keys []string
	if d.Parallelism > 0 {
		keys = append(keys, fmt.Sprintf("parallelism = %d", d.Parallelism))
	}
	if d.InheritEnv {
		keys = append(keys, `env = "inherit"`)
	}
	if len(d.PassEnv) > 0 {
		keys = append(keys, "pass_env = "+array(d.PassEnv))
	}
	if len(keys) == 0 {
		return ""
	}
	return "\n[defaults]\n" + strings.Join(keys, "\n") + "\n"
}

// settle drops the parts that config refuses, and the tables that are then empty.
func (m *Mapping) settle() {
	for _, t := range m.Tables {
		for bad := true; bad; {
			bad = false
			for _, p := range config.CheckDish(t.Path, []byte(t.Text(""))) {
				if p.Severity == diagnostics.Error {
					bad = m.drop(t, p.Line, p.Message)
					break
				}
			}
		}
	}
	m.Tables = slices.DeleteFunc(m.Tables, func(t *Table) bool {
		return len(t.Tasks)+len(t.DependsOn)+len(t.Inputs) == 0
	})
}

// passable keeps the names that config takes in pass_env.
func (m *Mapping) passable() {
	m.Defaults.PassEnv = slices.DeleteFunc(m.Defaults.PassEnv, func(name string) bool {
		bad := len(config.CheckDish(".", []byte("[tasks.x]\nrun = \"x\"\npass_env = "+array([]string{name})))) > 0
		if bad {
			m.Gaps = append(m.Gaps, Gap{File: m.Files[0].Path, Line: 1, Key: "globalPassThroughEnv", Why: strconv.Quote(name) + " is no name of a variable, and no PREFIX_*"})
		}
		return bad
	})
}

// sortGaps sorts the gaps by place, and removes duplicates.
func (m *Mapping) sortGaps() {
	order := func(a, b Gap) int {
		return cmp.Or(strings.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Col, b.Col),
			strings.Compare(a.Key, b.Key), strings.Compare(a.Why, b.Why))
	}
	slices.SortFunc(m.Gaps, order)
	m.Gaps = slices.Compact(m.Gaps)
}

// String returns the gap as one line.
func (g Gap) String() string {
	at := fmt.Sprintf("%s:%d", g.File, g.Line)
	if g.Col > 0 {
		at += fmt.Sprintf(":%d", g.Col)
	}
	return at + ": " + g.Key + ": " + g.Why
}
