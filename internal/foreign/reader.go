package foreign

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/bentobuild/bento/adapters/node/yamldoc"
	"github.com/bentobuild/bento/diagnostics"
	"github.com/bentobuild/bento/internal/clone"
	"github.com/bentobuild/bento/internal/jsonfile"
)

// Limits: the size of a file in bytes, the number of mapped tasks, and the number of gaps.
const (
	maxFile  = 1 << 20
	maxTasks = 20_000
	maxGaps  = 5_000
)

// RuleForeign is the rule of a file of another tool that cannot be mapped.
const RuleForeign = "init_foreign"

// reader reads the files of one workspace.
type reader struct {
	src    Source
	m      *Mapping
	tool   string // the tool whose files are being read
	top    string // its file at the root
	tables map[string]*Table
	dishes map[string]*Dish // by path
	fresh  map[string]*Dish // dishes that only a new dish.toml makes, by path
	names  map[string]*Dish // by name
	tasks  int
	gone   int // gaps beyond maxGaps
}

// located is a value with its file.
type located struct {
	file string
	v    *jsonfile.Value
}

func (p located) get(name ...string) located { return located{p.file, p.v.Get(name...)} }

func newReader(src Source) *reader {
	r := &reader{
		src: src, m: &Mapping{}, tables: make(map[string]*Table),
		dishes: make(map[string]*Dish), names: make(map[string]*Dish), fresh: make(map[string]*Dish),
	}
	r.src.Dishes = byDirectory(src.Dishes)
	for i := range r.src.Dishes {
		d := &r.src.Dishes[i]
		r.dishes[d.Path], r.names[d.Name] = d, d
	}
	return r
}

// byDirectory joins the dishes of each directory: a dish.toml there is for all of them.
func byDirectory(dishes []Dish) (list []Dish) {
	for _, d := range dishes {
		i := slices.IndexFunc(list, func(x Dish) bool { return x.Path == d.Path })
		if i < 0 {
			i, list = len(list), append(list, Dish{Name: d.Name, Path: d.Path})
		}
		list[i].Tasks = append(list[i].Tasks, d.Tasks...)
		list[i].Languages = append(list[i].Languages, d.Languages...)
	}
	return list
}

func (r *reader) finish() {
	for _, t := range r.tables {
		r.m.Tables = append(r.m.Tables, t)
	}
	slices.SortFunc(r.m.Tables, func(a, b *Table) int { return strings.Compare(a.Path, b.Path) })
	r.m.settle()
	r.m.passable()
	if r.gone > 0 {
		r.m.Gaps = append(r.m.Gaps, Gap{File: r.top, Line: 1, Key: "…", Why: fmt.Sprintf("%d more are not listed", r.gone)})
	}
	r.m.sortGaps()
}

func (r *reader) exists(name string) bool {
	mode, err := r.src.Files.Mode(name)
	return err == nil && !mode.IsDir()
}

// bytes returns the content of a file, nil for a missing one. It reports a file that cannot be read.
func (r *reader) bytes(name string) []byte {
	data, err := r.src.Files.Read(name, maxFile)
	var large *clone.TooLargeError
	switch {
	case err == nil:
		return data
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case errors.As(err, &large):
		r.problem(name, "larger than 1 MiB")
	default:
		r.problem(name, err.Error())
	}
	return nil
}

func (r *reader) problem(name, message string) {
	r.m.Problems = append(r.m.Problems, diagnostics.Pos{File: name, Line: 1, Col: 1}.Error(RuleForeign, "%s", message))
}

// json returns the object in a JSON file with comments. Its value is absent if the file is.
func (r *reader) json(name string) located {
	return r.object(name, func(data []byte) (*jsonfile.Value, error) { return jsonfile.ParseLoose(name, data) })
}

// yaml returns the object in the first document of a YAML file.
func (r *reader) yaml(name string) located {
	return r.object(name, func(data []byte) (*jsonfile.Value, error) {
		docs, err := yamldoc.ParsePlaced(name, data)
		if len(docs) == 0 {
			return nil, err
		}
		return docs[0], err
	})
}

func (r *reader) object(name string, parse func([]byte) (*jsonfile.Value, error)) located {
	data := r.bytes(name)
	if data == nil {
		return located{file: name}
	}
	v, err := parse(data)
	var problems diagnostics.Problems
	switch {
	case errors.As(err, &problems):
		r.m.Problems = append(r.m.Problems, problems...)
		return located{file: name}
	case err != nil:
		r.problem(name, err.Error())
		return located{file: name}
	}
	if k := v.Kind(); k != jsonfile.Object && k != 0 && k != jsonfile.Null {
		p := v.Mistyped(name, path.Base(name), "an object")
		p.Message = fmt.Sprintf("the file holds %v, expected an object", k)
		r.m.Problems = append(r.m.Problems, p)
		return located{file: name}
	}
	return located{name, v}
}

// is reports whether a value has the wanted kind. It adds a problem for another kind, unless the
// value is absent or null.
func (r *reader) is(p located, name string, kind jsonfile.Kind) bool {
	k := p.v.Kind()
	if k != 0 && k != jsonfile.Null && k != kind {
		r.m.Problems = append(r.m.Problems, p.v.Mistyped(p.file, name, kind.String()))
	}
	return k == kind
}

// gap notes a part of a file that is not mapped.
func (r *reader) gap(p located, key, format string, args ...any) {
	if len(r.m.Gaps) >= maxGaps {
		r.gone++
		return
	}
	r.m.Gaps = append(r.m.Gaps, Gap{p.file, p.v.Line(), p.v.Col(), key, fmt.Sprintf(format, args...)})
}

// lineGap is gap for a file that is read by lines.
func (r *reader) lineGap(file string, line int, key, why string) {
	r.gap(lineOf(file, line), key, "%s", why)
}

// lineOf returns the place of a line.
func lineOf(file string, line int) located {
	v := new(jsonfile.Value)
	v.Start(jsonfile.String, line, "")
	v.At(1)
	return located{file, v}
}

// flag returns a boolean, and whether the value is one.
func (r *reader) flag(p located, key string) (value, ok bool) {
	switch {
	case p.v.Kind() == 0:
		return false, false
	case p.v.IsTrue(), p.v.Text() == "true":
		return true, true
	case p.v.Literal() == "false", p.v.Text() == "false":
		return false, true
	}
	r.gap(p, key, "the value is %v, expected true or false", p.v.Kind())
	return false, false
}

// strings returns the strings of a list, or of one string. It reports other elements.
func (r *reader) strings(p located, key string) (list []located) {
	switch p.v.Kind() {
	case 0, jsonfile.Null:
	case jsonfile.String:
		list = append(list, p)
	case jsonfile.Array:
		for _, v := range p.v.Items() {
			if v.Kind() == jsonfile.String {
				list = append(list, located{p.file, v})
			} else {
				r.gap(located{p.file, v}, key, "the element is %v, expected a string", v.Kind())
			}
		}
	default:
		r.gap(p, key, "the value is %v, expected a list of strings", p.v.Kind())
	}
	return list
}

// table returns the table of a directory.
func (r *reader) table(dir string) *Table {
	t := r.tables[dir]
	if t == nil {
		t = &Table{Path: dir, New: r.dishes[dir] == nil}
		if name := r.nameOf(dir); t.New && name != path.Base(dir) {
			t.Name = name
		}
		r.tables[dir] = t
	}
	return t
}

// add adds a task to the table of a directory, unless the table has one of that name.
func (r *reader) add(dir string, task *Task) {
	t := r.table(dir)
	if i := slices.IndexFunc(t.Tasks, func(x *Task) bool { return x.Name == task.Name }); i >= 0 {
		r.gap(task.at, task.From, "%s of %s is mapped from %s already", task.Name, dishName(dir), t.Tasks[i].at.file)
		return
	}
	if len(task.keys()) == 0 {
		return // the recipe has the same settings
	}
	if r.tasks++; r.tasks > maxTasks {
		if r.tasks == maxTasks+1 {
			r.problem(r.top, fmt.Sprintf("declares more than %d tasks of dishes", maxTasks))
		}
		return
	}
	task.Tool = r.tool
	t.Tasks = append(t.Tasks, task)
}

// dishName returns the default name of the dish of a directory.
func dishName(dir string) string {
	if dir == "." {
		return "the root"
	}
	return path.Base(dir)
}

// has reports whether a directory has a task of this name, as a recipe or mapped.
func (r *reader) has(dir, name string) bool {
	if d := r.dishes[dir]; d != nil && slices.Contains(d.Tasks, name) {
		return true
	}
	t := r.tables[dir]
	return t != nil && slices.ContainsFunc(t.Tasks, func(x *Task) bool { return x.Name == name })
}

// nameOf returns the name of the dish of a directory, or the one that it gets as a new dish.
func (r *reader) nameOf(dir string) string {
	d := r.dishes[dir]
	if d == nil {
		d = r.fresh[dir]
	}
	if d == nil {
		d = &Dish{Name: path.Base(dir), Path: dir}
		if dir == "." {
			d.Name = "root"
		}
		if r.names[d.Name] != nil {
			d.Name = strings.ReplaceAll(dir, "/", "-")
		}
		r.fresh[dir], r.names[d.Name] = d, d
	}
	return d.Name
}

// note returns text as a short comment.
func note(text string) string {
	text = strings.Join(strings.FieldsFunc(text, func(c rune) bool { return c < ' ' || c == 0x7f }), " ")
	if runes := []rune(text); len(runes) > 100 {
		text = string(runes[:99]) + "…"
	}
	return strings.TrimSpace(text)
}

func isLifecycle(name string) bool {
	return slices.Contains([]string{"build", "check", "lint", "test"}, name)
}

func ptr(v bool) *bool { return &v }
