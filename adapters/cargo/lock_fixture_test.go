package cargo_test

import (
	"testing"
	"time"

	"github.com/bentobuild/bento/adapters/adaptertest"
	"github.com/bentobuild/bento/internal/proc"
)

// lock lets cargo write the lockfiles of the fixture: they name where crates come
// from, so they are not part of it.
func lock(t testing.TB, dirs ...string) {
	t.Helper()
	tool, err := adaptertest.Env().LookPath("cargo")
	if err != nil {
		t.Fatal(err)
	}
	for _, dir := range dirs {
		spec := proc.Spec{Argv: []string{tool, "generate-lockfile"}, Dir: dir, Env: adaptertest.Env(), Timeout: time.Minute}
		_, said, res, err := proc.Output(t.Context(), spec, 1<<20)
		if err != nil || res.ExitCode != 0 { // perhaps what it needs is already here
			spec.Argv = append(spec.Argv, "--offline")
			_, said, res, err = proc.Output(t.Context(), spec, 1<<20)
		}
		if err != nil || res.ExitCode != 0 {
			adaptertest.Lack(t, "the crate itoa is not available: %v %s", err, said)
		}
	}
}
