package adaptertest

import (
	"cmp"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// Index returns the address of the index of packages that pip has by default, for a source of poetry: not every mirror
// answers the requests of poetry to its own default. The pip is that of an environment, as Debian's Python has no other.
func Index(t testing.TB) string {
	t.Helper()
	env := filepath.Join(t.TempDir(), "pip")
	run := func(argv ...string) string {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), argv[0], argv[1:]...)
		var said strings.Builder
		cmd.Stderr = &said
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("%q: %v\n%s%s", argv, err, out, said.String())
		}
		return strings.TrimSpace(string(out))
	}
	run("python3", "-m", "venv", env)
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
