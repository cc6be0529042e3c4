package report

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/diagnostics"
	"github.com/bentobuild/bento/internal/dish"
	"github.com/bentobuild/bento/internal/plan"
)

// Write prints a document: one JSON object and a newline. It escapes characters that would reorder text or
// steer a terminal.
func Write(w io.Writer, doc any) error {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(doc); err != nil {
		return err
	}
	_, err := w.Write(escaped(b.Bytes()))
	return err
}

// escaped writes the characters of JSON strings that are unprintable as escapes: a reader
// of the document gets exactly the original text.
func escaped(text []byte) []byte {
	if bytes.IndexFunc(text, unprintable) < 0 {
		return text
	}
	var b bytes.Buffer
	for _, r := range string(text) {
		switch first, second := utf16.EncodeRune(r); {
		case !unprintable(r):
			b.WriteRune(r)
		case first != utf8.RuneError:
			fmt.Fprintf(&b, "\\u%04x\\u%04x", first, second)
		default:
			fmt.Fprintf(&b, "\\u%04x", r)
		}
	}
	return b.Bytes()
}

// Schema names a document of a command: "bento.plan/1".
func Schema(command string) string { return "bento." + command + "/1" }

// Error is the document of a command that failed.
type Error struct {
	Schema     string    `json:"schema"`
	Kind       string    `json:"kind"`
	Message    string    `json:"message"`
	Hint       string    `json:"hint,omitempty"`
	DidYouMean []string  `json:"did_you_mean,omitempty"` // known names near to the unknown one
	NextSteps  []string  `json:"next_steps"`             // the corrected command lines, else those that the hints name, else hints
	Where      *where    `json:"where,omitempty"`
	Errors     []Problem `json:"errors"`
	Stderr     string    `json:"stderr,omitempty"` // the end of the stderr of a plugin

	hints []string
}

// Correct sets the names near to an unknown one from the hint. If the command line has the unknown name, which the
// message quotes, as exactly one word or as the task of one, its corrections are the next steps.
func (e *Error) Correct(line string) {
	list, ok := strings.CutPrefix(e.Hint, "did you mean ")
	if e.DidYouMean = quoted(list); !ok || len(e.DidYouMean) == 0 {
		return
	}
	words := strings.Fields(line)
	for _, unknown := range slices.Backward(quoted(e.Message)) {
		is := func(word string) bool { return word == unknown || strings.HasSuffix(word, ":"+unknown) }
		at := slices.IndexFunc(words, is)
		if at < 1 || slices.ContainsFunc(words[at+1:], is) {
			continue
		}
		e.NextSteps = nil
		for _, name := range e.DidYouMean {
			right := slices.Clone(words)
			right[at] = strings.TrimSuffix(words[at], unknown) + name
			if strings.Contains(name, ":") {
				right[at] = name
			}
			e.NextSteps = append(e.NextSteps, strings.Join(right, " "))
		}
		return
	}
}

// quoted returns the quoted words of a text.
func quoted(text string) (list []string) {
	for {
		_, rest, found := strings.Cut(text, "\"")
		word, rest, closed := strings.Cut(rest, "\"")
		if !found || !closed {
			return list
		}
		list, text = append(list, word), rest
	}
}

// where is a place in a file of the workspace.
type where struct {
	File string `json:"file"`
	Line int    `json:"line,omitempty"`
	Col  int    `json:"col,omitempty"`
}

// NewError makes the document of err with all of its problems. The first problem sets the fields at the top.
func NewError(err error) Error {
	doc := Error{Schema: Schema("error"), Kind: "internal", Message: err.Error(), NextSteps: []string{}}
	var problems diagnostics.Problems
	var failure *adapters.Failure
	var install *adapters.InstallError
	switch {
	case errors.As(err, &problems) && len(problems) > 0:
		doc.Errors = ProblemsOf(problems)
		if errs := diagnostics.Errors(problems); len(errs) > 0 {
			doc.first(errs[0])
		}
	case errors.As(err, &failure):
		doc.Kind, doc.Hint, doc.Stderr = string(failure.Code), failure.Hint, failure.Stderr
	case errors.As(err, &install) && install.Plugin != "":
		doc.Hint = afterPlugin
	}
	if doc.Errors == nil {
		doc.Errors = []Problem{{
			Severity: diagnostics.Error, Message: doc.Message, Rule: doc.Kind, Source: diagnostics.Source, Hint: doc.Hint,
		}}
	}
	doc.hints = []string{cmp.Or(doc.Hint, "see bento --help")}
	for _, p := range problems {
		if p.Severity == diagnostics.Hint {
			doc.hints = append(doc.hints, p.Message)
		}
	}
	doc.NextSteps = append(doc.NextSteps, doc.hints...)
	if failure != nil {
		doc.hints = nil // a plugin's words name no command of bento's
	}
	return doc
}

// Steer sets the next steps from the hints: the command lines that a function finds in a hint, else the hint.
func (e *Error) Steer(commandsIn func(hint string) []string) {
	if e.hints == nil {
		return
	}
	e.NextSteps = []string{}
	for _, hint := range e.hints {
		lines := commandsIn(hint)
		if len(lines) == 0 {
			lines = []string{hint}
		}
		e.NextSteps = append(e.NextSteps, lines...)
	}
}

func (e *Error) first(d diagnostics.Diagnostic) {
	e.Kind, e.Message, e.Hint = d.Rule, d.Message, d.Hint
	if d.File != "" {
		e.Where = &where{File: d.File, Line: d.Line, Col: d.Col}
	}
}

// bentoOf is a group of dishes of a document, with a row for each dish.
type bentoOf[Row any] struct {
	Name   string `json:"name"`
	Dishes []Row  `json:"dishes"`
}

// dishHead has the fields of a dish in every document.
type dishHead struct {
	Name     string   `json:"name"`
	Path     string   `json:"path"`
	Language *string  `json:"language"` // null for none
	Bentos   []string `json:"bentos"`
}

func headOf(d *dish.Dish) dishHead {
	return dishHead{Name: d.Name, Path: d.Path, Language: language(d), Bentos: listed(d.Bentos)}
}

// listed replaces nil by an empty list, which JSON shows as [].
func listed(names []string) []string {
	if names == nil {
		return []string{}
	}
	return names
}

func language(d *dish.Dish) *string {
	if d.Adapter == nil {
		return nil
	}
	id := d.Adapter.Manifest().AdapterID
	return &id
}

// byBento groups dishes by their first bento, sorted by name. Dishes without a bento are in a last group without a
// name.
func byBento[Row any](dishes []*dish.Dish, row func(*dish.Dish) Row) []bentoOf[Row] {
	groups := make(map[string][]Row)
	for _, d := range dishes {
		name := ""
		if len(d.Bentos) > 0 {
			name = d.Bentos[0]
		}
		groups[name] = append(groups[name], row(d))
	}
	list := []bentoOf[Row]{}
	for name, rows := range groups {
		list = append(list, bentoOf[Row]{Name: name, Dishes: rows})
	}
	slices.SortFunc(list, func(x, y bentoOf[Row]) int {
		if x.Name == "" || y.Name == "" {
			return strings.Compare(y.Name, x.Name)
		}
		return strings.Compare(x.Name, y.Name)
	})
	return list
}

// shown returns the dishes of a document about p: the selected ones, and those with tasks in it.
func shown(p *plan.Plan) []*dish.Dish {
	in := make(map[*dish.Dish]bool)
	for _, d := range p.Dishes {
		in[d] = true
	}
	for _, t := range p.Tasks {
		in[t.Dish] = true
	}
	return slices.DeleteFunc(slices.Clone(p.Workspace.Dishes), func(d *dish.Dish) bool { return !in[d] })
}

// tasksByDish returns the tasks of a plan by their dish.
func tasksByDish(p *plan.Plan) map[*dish.Dish][]*plan.Task {
	by := make(map[*dish.Dish][]*plan.Task)
	for _, t := range p.Tasks {
		by[t.Dish] = append(by[t.Dish], t)
	}
	return by
}
