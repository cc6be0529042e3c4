package dish

import (
	"encoding/json"

	"github.com/bentobuild/bento/diagnostics"
)

// Text is a string and its position.
type Text struct {
	Text string
	Pos  diagnostics.Pos
}

// Glob is a checked pattern as written: "!" in front excludes, "//" in front (after a "!") anchors
// it at the workspace root. A wrong one has an empty Text.
type Glob struct {
	Text string
	Pos  diagnostics.Pos
}

// Settings are the content of a dish.toml.
type Settings struct {
	Path string          // of the directory, relative to the root; "." is the root
	Pos  diagnostics.Pos // of the file

	Name     Text // empty when not given
	Language Text // an adapter's id or NoLanguage, empty when not given
	// Languages are the ids of adapters, in order; each makes a separate dish of the directory. It is nil when
	// not given.
	Languages []Text

	Inputs           []Glob
	Outputs          []Glob
	DependsOn        []Dependency
	Tags             []Text
	Visibility       *[]Glob            // of the dishes that may link to it; nil: all
	ForceIndependent bool               // its keys do not include its dependencies
	Install          Install            // of its dependencies
	Toolchain        Toolchain          // on top of the workspace's
	Container        *Container         // nil when not given
	Tasks            []TaskSettings     // in the order of the file
	Options          map[string]Options // of plugins, by id
}

// NoLanguage is the language of a dish that has only the tasks in its dish.toml.
const NoLanguage = "none"

// ViaOutputs is the Via of a dependency on outputs instead of sources.
const ViaOutputs = "outputs"

// Dependency is a dependency on the dish with a name.
type Dependency struct {
	Dish string
	Via  string // ViaOutputs or empty
	Pos  diagnostics.Pos
}

// Install is the table [install].
type Install struct {
	// Inputs are the files of the dish that its own install scripts read; nil means all.
	Inputs  []Glob
	PassEnv []string // NAME or PREFIX_*: variables that the install sees
}

// Toolchain is the table [toolchain] of bento.toml, or of a dish.toml, which overrides that of bento.toml.
type Toolchain struct {
	Pins map[string]Pin // by runtime: go, rust, node …, or an adapter's id
	// OnMismatch is Error or Warning. If it is empty, the pinning file decides.
	OnMismatch diagnostics.Severity
	// SkipMissing leaves out the tasks of a dish whose tool is not installed: on_missing = "skip".
	SkipMissing   bool
	AllowDownload bool
	UseSystem     bool // pins are ignored
}

// Pin is a required version.
type Pin struct {
	Version string
	Pos     diagnostics.Pos
}

// Options are the options of a plugin. Package workspace compares them with the manifest of the plugin.
type Options struct {
	JSON   string                     // an object; "" when not given
	Places map[string]diagnostics.Pos // by path, "generator" or "flags[1]"; "" is the table
}

// Over returns the options of a dish as JSON: those of o, and those of the workspace that o lacks.
func (o Options) Over(workspace Options) string {
	if o.JSON == "" || workspace.JSON == "" {
		return o.JSON + workspace.JSON
	}
	merged := make(map[string]json.RawMessage)
	for _, text := range []string{workspace.JSON, o.JSON} {
		if err := json.Unmarshal([]byte(text), &merged); err != nil {
			panic(err) // config made the JSON
		}
	}
	text, err := json.Marshal(merged)
	if err != nil {
		panic(err) // of valid JSON
	}
	return string(text)
}
