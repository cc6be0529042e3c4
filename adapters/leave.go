package adapters

import "context"

// Leave is the leave to start programs that the repository chooses: its wrappers, and
// tools that read its configuration. It comes with the requests of what runs things.
// The zero value is no leave, which is what every question has that only looks.
type Leave struct{ given bool }

// Given reports whether l is a leave at all.
func (l Leave) Given() bool { return l.given }

// Leave returns the leave to install.
func (InstallRequest) Leave() Leave { return Leave{true} }

// Leave returns the leave to add packages.
func (AddRequest) Leave() Leave { return Leave{true} }

// RunRequest asks for what is known only when a task is about to run.
type RunRequest struct {
	Dir string // of the dish, absolute
}

// Leave returns the leave to ask the project's own programs.
func (RunRequest) Leave() Leave { return Leave{true} }

// LateTeller has toolchains that only a program of the repository can tell.
type LateTeller interface {
	// ToolchainAtRun is ToolchainFingerprint where that is a *KnownAtRun error: the
	// tools are asked in the directory of the dish, as a task starts them.
	ToolchainAtRun(ctx context.Context, req RunRequest) (string, error)
}

// ToolchainAtRun asks a for the toolchain that its tasks get, after
// ToolchainFingerprint has left that open. The caller is about to run tasks.
func ToolchainAtRun(ctx context.Context, a Adapter, req RunRequest) (string, error) {
	if l, ok := a.(LateTeller); ok {
		return l.ToolchainAtRun(ctx, req)
	}
	return a.ToolchainFingerprint(ctx, req.Dir)
}

// KnownAtRun is the error of a toolchain that only a program which the repository
// chooses can tell. Commands that look do not start it; a run asks it.
type KnownAtRun struct {
	Why string // "./mvnw is the project's own program"
}

func (k *KnownAtRun) Error() string { return "the toolchain is known when it is run: " + k.Why }
