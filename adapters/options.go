package adapters

// Options are what every built-in adapter is made with.
type Options struct {
	// Env is the environment that bento was started with: tools are looked for in it,
	// and probes see what the adapter passes of it.
	Env Environ

	// Root is the root of the workspace, absolute, "" for none. What lies in it is not
	// started for commands that only look.
	Root string

	// AllowDownload is [toolchain] allow_download: tools may fetch the version of
	// themselves, or of the language, that a project asks for. Without it an adapter
	// sets whatever keeps its tools from doing so.
	AllowDownload bool
}
