package adapters

import "slices"

// Registry is a fixed, ordered list of adapters: the order is the precedence of
// detection, built-ins first.
type Registry struct {
	list []Adapter
	byID map[string]Adapter
}

// NewRegistry makes a registry of list. Of two adapters with one id the first
// counts, and the second is left out.
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

// All gives the adapters in order. The caller must not change the slice.
func (r *Registry) All() []Adapter { return r.list }

// ByID gives the adapter with this id, nil when there is none.
func (r *Registry) ByID(id string) Adapter { return r.byID[id] }

// IDs gives the ids, sorted.
func (r *Registry) IDs() []string {
	ids := make([]string, 0, len(r.list))
	for id := range r.byID {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	return ids
}

// Candidate is an executable that may be an adapter, found on PATH and not yet
// started.
type Candidate struct {
	ID       string // the suffix of its file name
	Path     string // absolute
	Contract string // ContractV1 or ContractWasm
	// Skip is why it is not to be started: SkipDisabled, SkipNotAllowed,
	// SkipNotTrusted, SkipUnusable; empty when it may be. SkipReason says it in words.
	Skip       string
	SkipReason string
	SkipHint   string // what mends it, "" when nobody knows
	// Exposed says that others may put another file there. It is started then only as
	// a private copy of the content with the digest SHA256, in hexadecimal, which is set.
	Exposed bool
	SHA256  string
}

// The contracts of a Candidate.
const (
	ContractV1   = "bento-v1"
	ContractWasm = "wasm"
)

// The reasons of Candidate.Skip, which are also statuses of `bento plugin list`.
const (
	SkipDisabled   = "disabled"
	SkipNotAllowed = "not_allowed"
	SkipNotTrusted = "not_trusted"
	SkipUnusable   = "unusable" // no executable file: failed, in the list
)
