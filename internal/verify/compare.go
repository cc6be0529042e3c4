package verify

import (
	"bytes"
	"fmt"
	"io"
	"path"
	"strconv"

	"github.com/bentobuild/bento/cache"
	"github.com/bentobuild/bento/internal/key"
	"github.com/bentobuild/bento/internal/plan"
)

// maxCompared is how many bytes of an output are compared, to say where it differs.
const maxCompared = 256 << 20

// varied names what differs between the two executions.
const varied = "the directory, $TMPDIR, time, time zone, locale or umask"

// Compare returns what differs between the outputs of two executions of t.
func Compare(t *plan.Task, a, b Execution) []Finding {
	return compare(t, a, b, words{
		kind:  Different,
		one:   func(o *cache.Output, _ bool) string { return fmt.Sprintf("only one of two executions made %q", o.Path) },
		other: "has another kind, target or mode in the second of two executions", content: "differs between two executions",
		hint: "it depends on " + varied + ", or on chance", nameHint: "its name depends on " + varied + ", or on chance", modeHint: "it depends on " + varied,
	})
}

// CompareStored returns what differs between the outputs of an execution of t and those of its result in the remote cache.
func CompareStored(t *plan.Task, a, stored Execution) []Finding {
	const hint = "a bento that may write there replaces the result: run the task with --no-cache --cache remote:rw; see remote_keys for whose results are used"
	return compare(t, a, stored, words{
		kind: Stored,
		one: func(o *cache.Output, mine bool) string {
			if mine {
				return fmt.Sprintf("the result in the remote cache lacks %q", o.Path)
			}
			return fmt.Sprintf("the result in the remote cache has %q, which the task does not make", o.Path)
		},
		other: "has another kind, target or mode in the result of the remote cache", content: "differs from the result in the remote cache",
		hint: hint, nameHint: hint, modeHint: hint,
	})
}

// words are those for the differences between two executions.
type words struct {
	kind                     Kind
	one                      func(o *cache.Output, first bool) string // of an output that only the first, or only the second has
	other, content           string
	hint, nameHint, modeHint string
}

func compare(t *plan.Task, a, b Execution, w words) (list []Finding) {
	add := func(kind Kind, p, message, hint string) {
		list = append(list, Finding{Kind: kind, Task: t, Path: p, Message: message, Hint: hint})
	}
	second := make(map[string]*cache.Output, len(b.Outputs))
	for _, o := range listed(b.Outputs) {
		second[o.Path] = o
	}
	for _, o := range listed(a.Outputs) {
		other := second[o.Path]
		delete(second, o.Path)
		switch {
		case other == nil:
			add(w.kind, o.Path, w.one(o, true), w.nameHint)
		case o.Kind != other.Kind || o.Target != other.Target || o.Kind == cache.File && key.Executable(o.Mode) != key.Executable(other.Mode):
			add(w.kind, o.Path, fmt.Sprintf("%q %s", o.Path, w.other), w.modeHint)
		case o.Kind == cache.File:
			if place := placeIn(a, o); place != "" {
				add(Absolute, o.Path, fmt.Sprintf("%q holds the directory in which it was made", o.Path),
					"let the tool write relative paths (such as -trimpath, -ffile-prefix-map, --remap-path-prefix); else the result is wrong elsewhere")
			} else if o.Digest != other.Digest {
				add(w.kind, o.Path, fmt.Sprintf("%q %s%s", o.Path, w.content, where(a, b, o, other)), w.hint)
			}
		}
	}
	for _, o := range second {
		add(w.kind, o.Path, w.one(o, false), w.nameHint)
	}
	return Sort(list)
}

// listed returns the outputs without directories that others are in: such a one is listed only if it has an unusual mode.
func listed(list []cache.Output) (kept []*cache.Output) {
	around := make(map[string]bool)
	for i := range list {
		for dir := path.Dir(list[i].Path); dir != "." && !around[dir]; dir = path.Dir(dir) {
			around[dir] = true
		}
	}
	for i := range list {
		if list[i].Kind != cache.Dir || !around[list[i].Path] {
			kept = append(kept, &list[i])
		}
	}
	return kept
}

// content returns the content of an output, nil if it cannot be read.
func content(e Execution, o *cache.Output) []byte {
	if e.Open == nil {
		return nil
	}
	f, err := e.Open(o)
	if err != nil {
		return nil
	}
	defer f.Close()
	data, _ := io.ReadAll(io.LimitReader(f, maxCompared)) // what could be read is compared
	return data
}

// placeIn returns the first of the places of an execution that its output holds, "" for none.
func placeIn(e Execution, o *cache.Output) string {
	if len(e.Places) == 0 {
		return ""
	}
	data := content(e, o)
	for _, place := range e.Places {
		if place != "" && bytes.Contains(data, []byte(place)) {
			return place
		}
	}
	return ""
}

// shownBytes is how much of a difference is shown.
const shownBytes = 40

// where returns words for the first difference of an output.
func where(a, b Execution, o, other *cache.Output) string {
	x, y := content(a, o), content(b, other)
	if x == nil || y == nil {
		return ""
	}
	n := 0
	for n < len(x) && n < len(y) && x[n] == y[n] {
		n++
	}
	if n == len(x) && n == len(y) {
		return ""
	}
	from := max(0, n-shownBytes/4)
	show := func(data []byte) string {
		return strconv.QuoteToGraphic(string(data[min(from, len(data)):min(n+shownBytes, len(data))]))
	}
	return fmt.Sprintf(", first at byte %d: %s and %s", n, show(x), show(y))
}
