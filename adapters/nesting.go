package adapters

import "context"

// Nester decides about projects inside other projects of its family. Bento asks about a
// directory that Detect recognises, that lies inside a dish of the family, and that no
// manifest names: as a member (TasksAnswer.Members) or as a dependency (Link.Dir).
type Nester interface {
	// Nested reports whether the tools of the language treat dir as a separate project although it is
	// inside outer, the nearest dish of the family.
	Nested(ctx context.Context, dir, outer string) (NestedAnswer, error)
}

// NestedAnswer is the result of Nested. The zero value means a separate project.
type NestedAnswer struct {
	Reason Reason // why it is none, "" for a separate project
	Why    string // the same in words, with the names of this workspace
	Reads  Reads
}

// Reason is the stable code of the reason why a directory with a manifest is no dish.
type Reason string

// The reasons of all families. Package discovery adds those that no language decides.
const (
	NoProject  Reason = "no_project"   // its manifest describes nothing to build
	NotAMember Reason = "not_a_member" // the workspace around it does not name it
	NoLockfile Reason = "no_lockfile"  // it shares the install of the dish around it
	PartOf     Reason = "part_of"      // the dish around it builds it
	InSources  Reason = "in_sources"   // it is among the sources or tests of the dish around it
	PassedOver Reason = "passed_over"  // the tool ignores directories of this name
	NoTask     Reason = "no_task"      // it offers no lifecycle task, and another language there does
	NotNested  Reason = "not_nested"   // its plugin takes a dish as a whole
)

// Nested returns a's decision about dir. When a is no Nester, dir is a project of its own if
// one of a's fingerprint files lies there, unless a's manifest says otherwise. found reports
// whether one does.
func Nested(ctx context.Context, a Adapter, dir, outer string, found bool) (NestedAnswer, error) {
	if n, ok := a.(Nester); ok {
		return n.Nested(ctx, dir, outer)
	}
	m := a.Manifest()
	switch {
	case m.Nested != nil && !*m.Nested:
		return NestedAnswer{Reason: NotNested, Why: "the manifest of " + m.AdapterID + " says nested: false"}, nil
	case !found:
		return NestedAnswer{Reason: NotNested, Why: "it holds none of the fingerprint_files of " + m.AdapterID}, nil
	}
	return NestedAnswer{}, nil
}
