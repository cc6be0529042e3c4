package kit

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/bentobuild/bento/diagnostics"
	"github.com/bentobuild/bento/internal/companion"
	"github.com/bentobuild/bento/internal/config"
	"github.com/bentobuild/bento/internal/state"
	"github.com/bentobuild/bento/internal/workspace"
)

// Extension is an extension that the configuration names, and Companions are those of an invocation.
type (
	Extension  = companion.Extension
	Companions = companion.Set
)

// Hearing receives what extensions cause, on several goroutines at once.
type Hearing struct {
	Guard func()                                 // is called before a process is started
	Toast func(extension, level, message string) // a message for the user, which is not safe to print
	Warn  func(diagnostics.Diagnostic)           // why an extension does not run
}

// StartExtensions starts the extensions of a configuration in the background, nil if it has none. The caller closes
// the result.
func StartExtensions(ctx context.Context, h *workspace.Host, cfg *config.Workspace, o Hearing) *Companions {
	return companion.Open(ctx, cfg, optionsOf(h, companion.PlacesOf(cfg.Root, h.Environ.Get), o))
}

func optionsOf(h *workspace.Host, p companion.Places, o Hearing) companion.Options {
	return companion.Options{Places: p, State: state.Open(p.Root), Environ: h.Environ, Version: h.Version, Guard: o.Guard, Toast: o.Toast, Warn: o.Warn}
}

// Extensions are the extensions that a configuration names, sorted by id, whether or not they may start. None runs.
type Extensions struct {
	List   []Extension
	host   *workspace.Host
	places companion.Places
}

// FindExtensions returns the extensions of a configuration.
func FindExtensions(h *workspace.Host, cfg *config.Workspace) *Extensions {
	p := companion.PlacesOf(cfg.Root, h.Environ.Get)
	return &Extensions{companion.Find(cfg, p), h, p}
}

// ReadExtension returns the extension in a directory, if it may start. It needs no approval.
func ReadExtension(dir string) (*Extension, error) {
	e := companion.Read(dir)
	return e, e.Unready()
}

// Named returns the extension with an id.
func (x *Extensions) Named(id string) (*Extension, error) {
	var ids []string
	for i := range x.List {
		if ids = append(ids, x.List[i].ID); x.List[i].ID == id {
			return &x.List[i], nil
		}
	}
	return nil, diagnostics.Refuse("extension_not_found", near(id, ids, "bento ext list lists the extensions"), "no extension %q is in [extensions]", id)
}

// Serving returns the extension that serves a namespace, if it may start.
func (x *Extensions) Serving(namespace string) (*Extension, error) {
	var names, owners []string // owners: of panels with this id
	hint := "bento ext list lists them"
	for i := range x.List {
		e := &x.List[i]
		if e.Serves(namespace) {
			return e, e.Unready()
		}
		names = append(names, e.Namespaces()...)
		if e.HasPanel(namespace) {
			owners = append(owners, e.PanelName(namespace))
		}
		if e.Registers() {
			hint = fmt.Sprintf("%s; %s registers panels as it runs: bento finds them after the next run", hint, e.ID)
		}
	}
	if len(owners) > 0 {
		return nil, diagnostics.Refuse("namespace_not_found", "write "+strings.Join(owners, " or "), "%d extensions have a panel %q", len(owners), namespace)
	}
	return nil, diagnostics.Refuse("namespace_not_found", near(namespace, names, hint), "no extension has the namespace %q", namespace)
}

// Namespaces returns the sorted namespaces of all extensions.
func (x *Extensions) Namespaces() (names []string) {
	for i := range x.List {
		names = append(names, x.List[i].Namespaces()...)
	}
	slices.Sort(names)
	return names
}

// Start starts an extension that a command is about to use. The caller closes the result.
func (x *Extensions) Start(ctx context.Context, e *Extension, o Hearing) *Companions {
	return companion.OpenOne(ctx, x.List, e.ID, optionsOf(x.host, x.places, o))
}

// Decide saves a decision of the user about an extension: "approve", "enable", "disable" or "reload".
func (x *Extensions) Decide(e *Extension, decision string) error { return x.places.Decide(e, decision) }

// near returns a hint: the candidates near to word, or else list, which names the command that lists all.
func near(word string, candidates []string, list string) string {
	if len(diagnostics.Nearest(word, candidates)) == 0 {
		return list
	}
	return diagnostics.Suggest(word, candidates)
}
