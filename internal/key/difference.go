package key

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/bentobuild/bento/cache"
)

// Change is one difference between two keys.
type Change struct {
	Kind string `json:"kind"` // "input", "discovered", "read", "host", "lock", "env", "text", "task", "output", "tool"
	Name string `json:"name"` // a path, a variable, an ingredient, a task
	// Dish is the path of the dish whose sources hold the input; "" for inputs of the
	// task itself.
	Dish   string `json:"dish,omitempty"`
	How    string `json:"how"`              // "added", "removed", "changed"
	Before string `json:"before,omitempty"` // never the value of a variable
	After  string `json:"after,omitempty"`
}

func (c Change) String() string {
	what := oneLine(c.Name)
	switch c.Kind {
	case "env":
		what = "variable " + c.Name
	case "lock":
		what = "the part of " + what + " that the dish uses"
	case "task":
		what = "task " + c.Name
	case "discovered":
		what += ", which it also reads,"
	case "read":
		what += ", which it reads,"
	case "host":
		what += ", a file outside of the workspace,"
	case "output":
		what = "outputs of " + c.Name
	case "tool":
		if c.How == "changed" {
			return fmt.Sprintf("tool %s changed: was %s, is %s", what, c.Before, c.After)
		}
		return fmt.Sprintf("tool %s %s: %s", what, c.How, c.Before+c.After)
	}
	if c.Before != "" || c.After != "" {
		before, after := unlike(c.Before, c.After), unlike(c.After, c.Before)
		if before == "" || after == "" {
			before, after = orNothing(c.Before), orNothing(c.After)
		}
		return fmt.Sprintf("%s %s: %s → %s", what, c.How, before, after)
	}
	return what + " " + c.How
}

// oneLine quotes a name that would break a line or a terminal.
func oneLine(name string) string {
	if strings.ContainsFunc(name, func(r rune) bool { return !strconv.IsPrint(r) }) || !utf8.ValidString(name) {
		return strconv.Quote(name)
	}
	return name
}

func orNothing(s string) string {
	if s == "" {
		return "nothing"
	}
	return strings.ReplaceAll(s, "\n", ", ")
}

// unlike returns the first line of text that other lacks, and the number of further ones: a command
// or a version, such as that of rustc, may have many lines. It returns "" if other has all lines.
func unlike(text, other string) string {
	have := strings.Split(other, "\n")
	lines := slices.DeleteFunc(strings.Split(text, "\n"), func(line string) bool { return slices.Contains(have, line) })
	switch len(lines) {
	case 0:
		return ""
	case 1:
		return lines[0]
	case 2:
		return lines[0] + " and 1 more line"
	}
	return fmt.Sprintf("%s and %d more lines", lines[0], len(lines)-1)
}

// blobs returns a blob by its digest, nil for a missing one.
type blobs func(cache.Digest) []byte

// differ compares two lists of ingredients.
type differ struct {
	before, after blobs
	changes       []Change
	unsure        []Change // variables that were recorded with another secret, and may be the same
	seen          map[string]bool
	switched      bool // only one of the keys has the names of inputs alone
}

// differences returns the changes between two lists of ingredients.
func differences(old, now []ingredient, before, after blobs) []Change {
	d := &differ{before: before, after: after, seen: make(map[string]bool)}
	byNames := func(in ingredient) bool { return in.Kind == KindFiles && in.Name == namesName }
	if found := slices.ContainsFunc(now, byNames); found != slices.ContainsFunc(old, byNames) {
		d.switched = true
		c := Change{Kind: "text", Name: "inputs", How: "changed", Before: "observed", After: "declared"}
		if found {
			c.Before, c.After = c.After, c.Before
		}
		d.add(c)
	}
	d.lists("", old, now)
	if len(d.changes) == 0 { // then one of the unsure variables has changed
		return d.unsure
	}
	return d.changes
}

func (d *differ) add(c Change) {
	id := c.Kind + "\x00" + c.Dish + "\x00" + c.Name
	if !d.seen[id] {
		d.seen[id] = true
		d.changes = append(d.changes, c)
	}
}

func (d *differ) lists(dish string, old, now []ingredient) {
	type id struct {
		kind Kind
		name string
	}
	// Several ingredients may have one name, such as the pins of two tools.
	was := make(map[id][]string, len(old))
	for _, in := range old {
		at := id{in.Kind, in.Name}
		was[at] = append(was[at], in.Value)
	}
	had := func(in ingredient) bool {
		at := id{in.Kind, in.Name}
		i := slices.Index(was[at], in.Value)
		if i >= 0 {
			was[at] = slices.Delete(was[at], i, i+1)
		}
		return i >= 0
	}
	for _, in := range slices.DeleteFunc(slices.Clone(now), had) {
		at, before := id{in.Kind, in.Name}, ""
		known := len(was[at]) > 0
		if known {
			before, was[at] = was[at][0], was[at][1:]
		}
		d.ingredient(dish, in, before, in.Value, known, true)
	}
	for _, in := range old {
		if had(in) {
			d.ingredient(dish, in, in.Value, "", true, false)
		}
	}
}

// ingredient adds the change of one ingredient that differs. For a set of files or sources it adds
// the changes of its elements.
func (d *differ) ingredient(dish string, in ingredient, before, after string, had, has bool) {
	how := "changed"
	if !had {
		how = "added"
	} else if !has {
		how = "removed"
	}
	switch in.Kind {
	case KindFiles:
		if d.switched {
			return
		}
		switch in.Name {
		case inputsName, namesName:
		case readName:
			d.files("read", "", before, after)
			return
		case discoveredName:
			d.files("discovered", "", before, after)
			return
		default:
			dish = in.Name
		}
		d.files("input", dish, before, after)
	case KindSources:
		if d.switched {
			return
		}
		d.sources(in.Name, before, after)
	case KindEnv:
		c := Change{Kind: "env", Name: in.Name, How: how}
		if name, ok := strings.CutPrefix(in.Name, hostPrefix); ok {
			c.Kind, c.Name = "host", name
		}
		if !sameSecret(before, after) {
			d.unsure = append(d.unsure, c)
			return
		}
		d.add(c)
	case KindTask:
		d.add(Change{Kind: "task", Name: in.Name, How: how})
	case KindOutput:
		d.add(Change{Kind: "output", Name: in.Name, How: how})
	default:
		if path, ok := strings.CutPrefix(in.Name, lockPrefix); ok {
			d.add(Change{Kind: "lock", Name: path, Dish: dish, How: how})
			return
		}
		if id, ok := strings.CutPrefix(in.Name, toolPrefix); ok {
			d.add(Change{Kind: "tool", Name: id, How: how, Before: before, After: after})
			return
		}
		d.add(Change{Kind: "text", Name: in.Name, How: how, Before: before, After: after})
	}
}

func (d *differ) sources(dish, before, after string) {
	id := "\x00sources\x00" + dish + "\x00" + before + "\x00" + after
	if d.seen[id] {
		return // links may lead from one dish to another in very many ways
	}
	d.seen[id] = true
	old, errOld := decodeIngredients(fetch(d.before, before))
	now, errNow := decodeIngredients(fetch(d.after, after))
	if before != "" && errOld != nil || after != "" && errNow != nil {
		d.add(Change{Kind: "text", Name: "sources of " + dish, How: "changed"})
		return
	}
	d.lists(dish, old, now)
}

// files adds the changes between two sets of files, as changes of a kind.
func (d *differ) files(kind, dish, before, after string) {
	old, errOld := decodeFileSet(fetch(d.before, before))
	now, errNow := decodeFileSet(fetch(d.after, after))
	if before != "" && errOld != nil || after != "" && errNow != nil {
		d.add(Change{Kind: "text", Name: "inputs", Dish: dish, How: "changed"})
		return
	}
	was := make(map[string]File, len(old))
	for _, f := range old {
		was[f.Path] = f
	}
	for _, f := range now {
		o, had := was[f.Path]
		delete(was, f.Path)
		if !had {
			d.add(Change{Kind: kind, Name: f.Path, Dish: dish, How: "added"})
		} else if o != f {
			d.add(Change{Kind: kind, Name: f.Path, Dish: dish, How: "changed"})
		}
	}
	for _, f := range old {
		if _, gone := was[f.Path]; gone {
			d.add(Change{Kind: kind, Name: f.Path, Dish: dish, How: "removed"})
		}
	}
}

// fetch returns the blob of a digest in hexadecimal, nil for a missing one.
func fetch(from blobs, digest string) []byte {
	d, err := cache.ParseDigest(digest)
	if err != nil {
		return nil
	}
	return from(d)
}
