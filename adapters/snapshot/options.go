package snapshot

import (
	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/internal/clone"
)

// Options are the arguments of every built-in adapter.
type Options struct {
	// Env holds the variables of bento's environment that the adapter's manifest declares.
	// The adapter finds tools in it and passes it to probes.
	Env adapters.Environ

	// AllowDownload is [toolchain] allow_download: tools may fetch the version of
	// themselves, or of the language, that a project requires. Otherwise an adapter sets
	// variables that stop its tools from doing so.
	AllowDownload bool

	// Scripts is [workspace] scripts: names of scripts that stand for a lifecycle task, before the usual
	// ones.
	Scripts Scripts

	// Clone is the workspace of the projects. Commands that only read start no program in
	// it. Nil is the whole machine.
	Clone *clone.Clone

	// Snapshot is what the adapter answers from, once it holds the workspace. Nil is the
	// disk.
	Snapshot *Snapshot
}

// Source returns the reader of projects.
func (o Options) Source() Source { return Source{clone: o.Clone, snapshot: o.Snapshot} }
