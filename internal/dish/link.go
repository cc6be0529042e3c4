package dish

import "github.com/bentobuild/bento/diagnostics"

// Kinds of Link.
const (
	Declared = "declared" // depends_on in dish.toml
	Inferred = "inferred" // read from a manifest
)

// Link is a dependency of a dish on another.
type Link struct {
	To   *Dish
	Kind string
	Via  string // ViaOutputs, or empty for the sources
	// Where is "file:line", relative to the root.
	Where string
	Pos   diagnostics.Pos
	Dev   bool // every manifest entry of the link is for development
	// Private is true if only tasks of the dish itself use the link: it is not followed from other dishes.
	Private bool
	// Cyclic marks an inferred link that closes a cycle; it does not order tasks.
	Cyclic bool

	Deep   bool     // the dish uses the private links of To, too
	As     []string // the paths under which sources import what is in To; "" is none
	Shared bool     // see adapters.Link
	// Inherited is true for a shared link of the root of the workspace.
	Inherited bool
}

// Embed is a path that a source of a dish embeds (//go:embed).
type Embed struct {
	Path string          // relative to the root; of a directory everything below it
	Glob string          // of files below Path, in place of everything
	Pos  diagnostics.Pos // of the line in the source
	// Owner is the dish that the path belongs to, nil for none. Ignored is true if git ignores the path,
	// files like those of Glob, or existing files there.
	Owner   *Dish
	Ignored bool
	Named   bool // it may not take it in
	Missed  bool // see adapters.Embed
}
