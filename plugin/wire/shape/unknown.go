package shape

import (
	"encoding/json"
	"maps"
	"slices"
	"strconv"
)

// Stranger is a member that a shape does not have.
type Stranger struct {
	Path  string   // "default_tasks[2].outputz"
	Known []string // the members that the object may have
}

// maxStrangers is how many strangers Unknown returns.
const maxStrangers = 20

// Unknown returns the members of raw that Decode ignores, at most 20, in the order of their paths.
// raw has the shape sh. Unknown is for reports: it decodes the whole value.
func Unknown(raw json.RawMessage, sh *Shape) []Stranger {
	var value any
	if json.Unmarshal(raw, &value) != nil {
		return nil
	}
	var found []Stranger
	sh.strangers("", value, &found)
	return found
}

func (sh *Shape) strangers(path string, value any, found *[]Stranger) {
	if sh == nil || len(*found) >= maxStrangers {
		return
	}
	switch v := value.(type) {
	case []any:
		for i, elem := range v {
			sh.elem.strangers(join(path, "["+strconv.Itoa(i)+"]"), elem, found)
		}
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(v)) {
			at := name
			if path != "" {
				at = join(path, name)
			}
			sh.member(name).strangers(at, v[name], found)
			if !sh.table && !sh.has(name) && len(*found) < maxStrangers {
				*found = append(*found, Stranger{Path: at, Known: sh.names()})
			}
		}
	}
}

// member returns the shape of a member, nil for any value.
func (sh *Shape) member(name string) *Shape {
	if sh.table {
		return sh.elem
	}
	for _, f := range sh.fields {
		if f.Name == name {
			return f.Shape
		}
	}
	return nil
}

func (sh *Shape) has(name string) bool { return slices.Contains(sh.names(), name) }

func (sh *Shape) names() []string {
	names := make([]string, len(sh.fields))
	for i, f := range sh.fields {
		names[i] = f.Name
	}
	return names
}
