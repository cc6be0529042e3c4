package plugintest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/diagnostics"
	"github.com/bentobuild/bento/internal/tomlfile"
	"github.com/bentobuild/bento/plugin/wire"
)

// ExpectedFile is the file of the expected answers, in the directory of the fixtures.
const ExpectedFile = "expected.toml"

// maxFixtures bounds the directories of fixtures.
const maxFixtures = 1000

// The rules of the problems of fixtures.
const (
	ruleFixture   = "invalid_value"
	ruleNoFixture = "missing_key"
)

// Fixtures are directories with the answers that a plugin must give about them.
type Fixtures struct {
	root  string // absolute, without links
	cases []*fixture
}

// fixture is one directory.
type fixture struct {
	name    string // relative to the root, with slashes
	pos     diagnostics.Pos
	answers []*expectation // in the order of the file
	parses  []*parseCase
}

// expectation is the answer to one question about the directory.
type expectation struct {
	method string
	pos    diagnostics.Pos
	want   any // JSON; nil for null
	failed string
	fails  bool // an error; its message contains failed
}

// parseCase is one output of a task, and its findings.
type parseCase struct {
	pos                  diagnostics.Pos
	task, stdout, stderr string
	status               int
	want                 any
}

// asked are the methods about a directory that a fixture may have, in the order of the file.
func asked() []string {
	return []string{wire.MethodDetect, wire.MethodToolchain, wire.MethodResolved, wire.MethodTasks, wire.MethodLinks, wire.MethodInstallScope}
}

// OpenFixtures reads the expected answers of a directory. A missing file has no answers. The problems are
// about the file, the error is about the directory.
func OpenFixtures(dir string) (*Fixtures, []diagnostics.Diagnostic, error) {
	root, err := filepath.Abs(dir)
	if err == nil {
		root, err = filepath.EvalSymlinks(root)
	}
	if err != nil {
		return nil, nil, err
	}
	entries, err := os.ReadDir(root)
	if err != nil {
		return nil, nil, err
	}
	f := &Fixtures{root: root}
	problems, err := f.read(filepath.Join(dir, ExpectedFile))
	if err != nil {
		return nil, nil, err
	}
	for _, e := range entries {
		if e.IsDir() && !strings.HasPrefix(e.Name(), ".") && f.of(e.Name()) == nil {
			f.cases = append(f.cases, &fixture{name: e.Name(), pos: diagnostics.Pos{File: filepath.Join(dir, ExpectedFile)}})
		}
	}
	if len(f.cases) > maxFixtures {
		return nil, nil, fmt.Errorf("%s has %d directories, more than %d", dir, len(f.cases), maxFixtures)
	}
	if len(f.cases) == 0 {
		return nil, nil, fmt.Errorf("%s has no directories: each is a project that the plugin is asked about", dir)
	}
	return f, diagnostics.Sorted(problems), nil
}

func (f *Fixtures) of(name string) *fixture {
	for _, c := range f.cases {
		if c.name == name {
			return c
		}
	}
	return nil
}

// read reads the file.
func (f *Fixtures) read(path string) ([]diagnostics.Diagnostic, error) {
	file, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	} else if err != nil {
		return nil, err
	}
	defer file.Close()
	if fi, err := file.Stat(); err == nil && !fi.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is no regular file", path)
	}
	data, err := io.ReadAll(io.LimitReader(file, tomlfile.MaxConfig+1))
	if err != nil {
		return nil, err
	}
	doc, problems := tomlfile.Parse(path, data)
	if doc == nil {
		return problems, nil
	}
	for _, name := range doc.Root().Keys() {
		c, more := f.fixture(doc.Root().Child(name))
		problems = append(problems, more...)
		if c != nil {
			f.cases = append(f.cases, c)
		}
	}
	return problems, nil
}

// fixture reads the table of one directory.
func (f *Fixtures) fixture(v *tomlfile.Value) (*fixture, []diagnostics.Diagnostic) {
	c := &fixture{name: v.Name(), pos: v.KeyPos()}
	if v.Kind() != tomlfile.Table {
		return nil, []diagnostics.Diagnostic{v.Expected("a table of answers")}
	}
	if fi, err := os.Stat(filepath.Join(f.root, filepath.FromSlash(c.name))); !filepath.IsLocal(c.name) || err != nil || !fi.IsDir() {
		return nil, []diagnostics.Diagnostic{v.KeyPos().Error(ruleNoFixture, "no directory %q beside %s", c.name, ExpectedFile)}
	}
	var problems []diagnostics.Diagnostic
	for _, key := range v.Keys() {
		child := v.Child(key)
		switch {
		case key == wire.MethodDiagnostics:
			parses, more := parsesOf(child)
			c.parses, problems = parses, append(problems, more...)
		case slices.Contains(asked(), key):
			c.answers = append(c.answers, expected(key, child))
		default:
			problems = append(problems, child.Unknown(append(asked(), wire.MethodDiagnostics)))
		}
	}
	return c, problems
}

// expected reads an answer: false means null, and { error = "…" } an error.
func expected(method string, v *tomlfile.Value) *expectation {
	e := &expectation{method: method, pos: v.Pos(), want: jsonOf(v)}
	if table, ok := e.want.(map[string]any); ok && len(table) == 1 {
		if e.failed, e.fails = table["error"].(string); e.fails {
			e.want = nil
		}
	}
	switch is, bool := e.want.(bool); {
	case method == wire.MethodDetect && bool:
		e.want = map[string]any{"matches": is}
	case bool && !is:
		e.want = nil
	}
	return e
}

// jsonOf returns a value as encoding/json would decode it.
func jsonOf(v *tomlfile.Value) any {
	switch v.Kind() {
	case tomlfile.Table:
		table := make(map[string]any)
		for _, key := range v.Keys() {
			table[key] = jsonOf(v.Child(key))
		}
		return table
	case tomlfile.Array:
		list := []any{}
		for _, elem := range v.Elems() {
			list = append(list, jsonOf(elem))
		}
		return list
	}
	if n, ok := v.Any().(int64); ok {
		return float64(n)
	}
	return v.Any()
}

// parsesOf reads the outputs to parse.
func parsesOf(v *tomlfile.Value) (list []*parseCase, problems []diagnostics.Diagnostic) {
	if v.Kind() != tomlfile.Array {
		return nil, []diagnostics.Diagnostic{v.Expected("an array of tables, [[…parseDiagnostics]]")}
	}
	for _, elem := range v.Elems() {
		var raw struct {
			Task        string          `toml:"task_name"`
			Stdout      string          `toml:"stdout"`
			Stderr      string          `toml:"stderr"`
			Status      int             `toml:"exit_status"`
			Diagnostics *tomlfile.Value `toml:"diagnostics"`
		}
		problems = append(problems, elem.Decode(&raw)...)
		p := &parseCase{pos: elem.Pos(), task: raw.Task, stdout: raw.Stdout, stderr: raw.Stderr, status: raw.Status, want: []any{}}
		if raw.Diagnostics != nil {
			p.want = jsonOf(raw.Diagnostics)
		}
		if p.task == "" {
			problems = append(problems, elem.Pos().Error(ruleFixture, `the output names no task, expected task_name = "…"`))
		}
		list = append(list, p)
	}
	return list, problems
}

// RunFixtures asks a plugin about the directories and compares its answers. With update, the answers
// become the expected ones, and Text returns them.
func RunFixtures(ctx context.Context, path string, o Options, f *Fixtures, update bool) (*Report, error) {
	began := time.Now()
	s, err := newSuite(path, o)
	if err != nil {
		return nil, err
	}
	defer s.close()
	s.greet(ctx)
	if s.refused != nil {
		return nil, fmt.Errorf("bento refuses the plugin: %w", s.refused)
	}
	results := make([][]Result, len(f.cases))
	together(len(f.cases), func(i int) { results[i] = s.fixture(ctx, f, f.cases[i], update) })
	return s.report(slices.Concat(results...), began), ctx.Err()
}

// fixture asks about one directory, in a separate process.
func (s *suite) fixture(ctx context.Context, f *Fixtures, c *fixture, update bool) (list []Result) {
	add := func(what string, pos diagnostics.Pos, o outcome) {
		list = append(list, Result{
			Clause: c.name, Level: Must, Expected: what, Status: o.status, Got: o.got, Place: pos.String(), Frames: lastExchange(s.frames.about(c.name, o)),
		})
	}
	t, err := s.launch(ctx, c.name)
	if err == nil {
		defer t.end()
		_, err = t.result(ctx, wire.MethodInitialize, hello())
	}
	if err != nil {
		add("it starts", c.pos, fail("%v", err))
		return list
	}
	if update {
		c.answers = s.news(c)
	}
	if len(c.answers)+len(c.parses) == 0 {
		list = append(list, Result{
			Clause: c.name, Level: Must, Status: Fail, Expected: "expected answers", Place: c.pos.String(),
			Got: fmt.Sprintf("%s has no table [%s]; --update writes it", ExpectedFile, tomlfile.Key(c.name)),
		})
	}
	for _, e := range c.answers {
		got, err := s.about(ctx, t, f, c, e.method, wire.Dir{Dir: f.dir(c)})
		if update {
			e.take(got, err)
		}
		add(e.method, e.pos, e.judge(got, err))
	}
	for _, e := range c.parses {
		got, err := s.about(ctx, t, f, c, wire.MethodDiagnostics, adapters.ParseRequest{
			TaskName: e.task, Stdout: e.stdout, Stderr: e.stderr, ExitStatus: e.status, DishDir: f.dir(c), WorkspaceRoot: f.root,
		})
		if table, ok := got.(map[string]any); ok {
			got = table["diagnostics"]
		}
		if update && err == nil {
			e.want = got
		}
		add(wire.MethodDiagnostics+" "+e.task, e.pos, compare("diagnostics", e.want, got, err))
	}
	return list
}

// news returns the questions that the manifest offers and whose answers do not depend on the machine. It
// includes those that the file already has.
func (s *suite) news(c *fixture) (list []*expectation) {
	caps := s.manifest.Capabilities
	offered := map[string]bool{
		wire.MethodDetect: caps.Detect, wire.MethodToolchain: caps.RequiredToolchain, wire.MethodTasks: caps.Tasks,
		wire.MethodLinks: caps.Links, wire.MethodInstallScope: caps.InstallScope,
	}
	for _, method := range asked() {
		had := slices.ContainsFunc(c.answers, func(e *expectation) bool { return e.method == method })
		if had || offered[method] {
			list = append(list, &expectation{method: method, pos: c.pos})
		}
	}
	return list
}

func (f *Fixtures) dir(c *fixture) string { return filepath.Join(f.root, filepath.FromSlash(c.name)) }

// about asks one question. The paths of the answer begin with ${dir} and ${root}.
func (s *suite) about(ctx context.Context, t *talk, f *Fixtures, c *fixture, method string, params any) (any, error) {
	result, err := t.result(ctx, method, params)
	if err != nil {
		return nil, err
	}
	if err := checked(method, result); err != nil {
		return nil, fmt.Errorf("bento refuses the answer: %w", err)
	}
	var value any
	if err := json.Unmarshal(result, &value); err != nil {
		return nil, err
	}
	return withPlaces(value, f.dir(c), f.root), nil
}

// withPlaces returns a value of JSON without members that are null, with the places of its paths.
func withPlaces(v any, dir, root string) any {
	switch v := v.(type) {
	case string:
		for _, of := range []struct{ path, word string }{{dir, "${dir}"}, {root, "${root}"}} {
			if v == of.path || strings.HasPrefix(v, of.path+string(filepath.Separator)) {
				return of.word + strings.TrimPrefix(v, of.path)
			}
		}
		return v
	case []any:
		for i := range v {
			v[i] = withPlaces(v[i], dir, root)
		}
	case map[string]any:
		for key, of := range v {
			if of == nil {
				delete(v, key)
			} else {
				v[key] = withPlaces(of, dir, root)
			}
		}
	}
	return v
}
