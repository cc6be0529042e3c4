package config

import (
	"github.com/bentobuild/bento/diagnostics"
	"github.com/bentobuild/bento/internal/tomlfile"
)

// observed is the word for inputs or outputs that bento finds by observing the task.
const observed = "observed"

// findWords are the values of defaults.inputs and defaults.outputs.
type findWords struct{}

func (findWords) words() []string { return []string{"declared", observed} }

// globsOrObserved is a list of globs, nil when not given, or the word observed.
type globsOrObserved struct {
	globs    *globs
	observed bool
}

// Shape returns the schema.
func (*globsOrObserved) Shape() tomlfile.Schema {
	return tomlfile.Schema{"anyOf": []any{(*globs)(nil).Shape(), tomlfile.Schema{"const": observed}}}
}

// UnmarshalTOML reads and checks the list or the word.
func (o *globsOrObserved) UnmarshalTOML(v *tomlfile.Value) []diagnostics.Diagnostic {
	if text, ok := v.Text(); ok {
		if o.observed = text == observed; !o.observed {
			return []diagnostics.Diagnostic{v.Expected("an array or \"observed\"")}
		}
		return nil
	}
	o.globs = new(globs)
	return o.globs.UnmarshalTOML(v)
}
