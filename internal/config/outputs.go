package config

import (
	"github.com/bentobuild/bento/diagnostics"
	"github.com/bentobuild/bento/internal/tomlfile"
)

// outputsObserved is the word for outputs that bento finds by observing the task.
const outputsObserved = "observed"

// outputsWords are the values of defaults.outputs.
type outputsWords struct{}

func (outputsWords) words() []string { return []string{"declared", outputsObserved} }

// taskOutputs is a list of globs, nil when not given, or the word outputsObserved.
type taskOutputs struct {
	globs    *globs
	observed bool
}

// Shape returns the schema.
func (*taskOutputs) Shape() tomlfile.Schema {
	return tomlfile.Schema{"anyOf": []any{(*globs)(nil).Shape(), tomlfile.Schema{"const": outputsObserved}}}
}

// UnmarshalTOML reads and checks the list or the word.
func (o *taskOutputs) UnmarshalTOML(v *tomlfile.Value) []diagnostics.Diagnostic {
	if text, ok := v.Text(); ok {
		if o.observed = text == outputsObserved; !o.observed {
			return []diagnostics.Diagnostic{v.Expected("an array or \"observed\"")}
		}
		return nil
	}
	o.globs = new(globs)
	return o.globs.UnmarshalTOML(v)
}
