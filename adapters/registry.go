package adapters

import "slices"

// Registry is a fixed, ordered list of adapters. The order is the precedence of detection,
// built-ins first.
type Registry struct {
	list []Adapter
	byID map[string]Adapter
}

// NewRegistry returns a registry of list. Of two adapters with one id it keeps the first.
func NewRegistry(list ...Adapter) *Registry {
	r := &Registry{byID: make(map[string]Adapter, len(list))}
	for _, a := range list {
		id := a.Manifest().AdapterID
		if _, taken := r.byID[id]; !taken {
			r.byID[id] = a
			r.list = append(r.list, a)
		}
	}
	return r
}

// All returns the adapters in order. The caller must not change the slice.
func (r *Registry) All() []Adapter { return r.list }

// ByID returns the adapter with this id, or nil.
func (r *Registry) ByID(id string) Adapter { return r.byID[id] }

// IDs returns the ids, sorted.
func (r *Registry) IDs() []string {
	ids := make([]string, 0, len(r.list))
	for id := range r.byID {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	return ids
}

// Candidate is an executable on PATH that may be an adapter and is not started yet.
type Candidate struct {
	ID       string // the suffix of its file name
	Path     string // absolute
	Contract string // ContractV1, ContractOneShot, ContractWasm or ContractDefinition
	// Skip is the reason not to start it: SkipDisabled, SkipNotAllowed, SkipNotTrusted,
	// SkipUnusable; or "". SkipReason explains it.
	Skip       string
	SkipReason string
	SkipHint   string // how to fix it, or ""
	// Exposed reports whether other users may replace the file. Bento then starts only a private copy
	// of the content with the digest SHA256 (hexadecimal), which is set.
	Exposed bool
	SHA256  string
}

// The contracts of a Candidate.
const (
	ContractV1   = "bento-v1"
	ContractWasm = "wasm"
	// ContractDefinition is the contract of an adapter that a TOML file defines.
	ContractDefinition = "definition"
	// ContractOneShot is the contract of a tool that is a program.
	ContractOneShot = "oneshot"
)

// The reasons of Candidate.Skip, which are also statuses of `bento plugin list`.
const (
	SkipDisabled   = "disabled"
	SkipShadowed   = "shadowed" // by another of its id
	SkipNotAllowed = "not_allowed"
	SkipNotTrusted = "not_trusted"
	SkipUnusable   = "unusable" // not an executable file: failed, in the list
)
