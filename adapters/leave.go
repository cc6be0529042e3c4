package adapters

import "context"

// Leave is the permission to start programs that the repository chooses: its wrappers, and
// tools that read its configuration. It comes with the requests that install or run. The
// zero value is no permission; questions that only read have it.
type Leave struct{ given bool }

// Given reports whether l permits anything.
func (l Leave) Given() bool { return l.given }

// Leave returns the permission of an install.
func (InstallRequest) Leave() Leave { return Leave{true} }

// Leave returns the permission of an add.
func (AddRequest) Leave() Leave { return Leave{true} }

// RunRequest is a question that can be answered only when a task is about to run.
type RunRequest struct {
	Dir string // of the dish, absolute
}

// Leave returns the permission to start the project's own programs.
func (RunRequest) Leave() Leave { return Leave{true} }

// LateTeller has toolchains whose version only a program of the repository reports.
type LateTeller interface {
	// ToolchainAtRun returns the fingerprint after ToolchainFingerprint has returned a *KnownAtRun
	// error. It starts the tools in the directory of the dish, as a task does.
	ToolchainAtRun(ctx context.Context, req RunRequest) (string, error)
}

// ToolchainAtRun returns the fingerprint of a's toolchain after ToolchainFingerprint has
// returned a *KnownAtRun error. The caller is about to run tasks.
func ToolchainAtRun(ctx context.Context, a Adapter, req RunRequest) (string, error) {
	if l, ok := a.(LateTeller); ok {
		return l.ToolchainAtRun(ctx, req)
	}
	return a.ToolchainFingerprint(ctx, req.Dir)
}

// KnownAtRun is the error of a toolchain that only a program of the repository knows.
// Commands that only read do not start it; a run does.
type KnownAtRun struct {
	Why string // "./mvnw is the project's own program"
}

func (k *KnownAtRun) Error() string { return "the toolchain is known only at run time: " + k.Why }
