package adaptertest

import (
	"cmp"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/bentobuild/bento/internal/proc"
)

// Index returns the address of the index of packages that pip has by default, for a source of poetry: not every mirror
// answers the requests of poetry to its own default. The pip is that of an environment, as Debian's Python has no other.
func Index(t testing.TB) string {
	t.Helper()
	env := filepath.Join(t.TempDir(), "pip")
	run := func(argv ...string) string {
		t.Helper()
		spec := proc.Spec{Argv: argv, Dir: "/", Env: Env(), Timeout: 5 * time.Minute}
		out, errOut, res, err := proc.Output(context.WithoutCancel(t.Context()), spec, 1<<20)
		if err != nil || res.ExitCode != 0 {
			t.Fatalf("%q: exit code %d, %v\n%s%s", argv, res.ExitCode, err, out, errOut)
		}
		return strings.TrimSpace(string(out))
	}
	python, err := Env().LookPath("python3")
	if err != nil {
		t.Fatal(err)
	}
	run(python, "-m", "venv", env)
	return run(filepath.Join(env, "bin", "python"), "-c", "from pip._internal.models.index import PyPI; print(PyPI.simple_url)")
}

// Certificates returns the variable by which poetry trusts what pip trusts on this machine, or nothing: of the variables
// for certificates, each has its own.
func Certificates() []string {
	file := cmp.Or(os.Getenv("REQUESTS_CA_BUNDLE"), os.Getenv("PIP_CERT"), os.Getenv("SSL_CERT_FILE"))
	if file == "" {
		return nil
	}
	return []string{"REQUESTS_CA_BUNDLE=" + file}
}
