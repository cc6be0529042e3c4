package adapters

import "github.com/bentobuild/bento/internal/clone"

// Options are what every built-in adapter is made with.
type Options struct {
	// Env is what the adapter may know of the environment that bento was started with:
	// no more than what its manifest declares. Tools are looked for in it, and probes
	// see what the adapter passes of it.
	Env Environ

	// AllowDownload is [toolchain] allow_download: tools may fetch the version of
	// themselves, or of the language, that a project asks for. Without it an adapter
	// sets whatever keeps its tools from doing so.
	AllowDownload bool

	// Clone is the workspace whose projects are read; what lies in it is not started for
	// commands that only look. Nil is all of the machine.
	Clone *clone.Clone
}

// Source returns where projects are read from.
func (o Options) Source() Source { return Source{clone: o.Clone} }
