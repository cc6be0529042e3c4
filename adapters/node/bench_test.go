package node

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/bentobuild/bento/adapters"
)

// The size of the workspace of the benchmarks.
const (
	benchMembers  = 1000
	benchPackages = 1500
)

// benchWorkspace makes a workspace of pnpm's as pnpm writes it, and gives the
// directories of its members.
func benchWorkspace(b *testing.B) []string {
	root := b.TempDir()
	write := func(name, text string) {
		path := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			b.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			b.Fatal(err)
		}
	}
	write(".git/HEAD", "")
	write("package.json", `{"name": "root", "private": true, "engines": {"node": ">=18"}}`)
	write("pnpm-workspace.yaml", "packages:\n  - packages/*\n")
	var lock strings.Builder
	lock.WriteString("lockfileVersion: '9.0'\n\nsettings:\n  autoInstallPeers: true\n  excludeLinksFromLockfile: false\n\nimporters:\n\n  .: {}\n")
	dirs := make([]string, benchMembers)
	for i := range dirs {
		name := fmt.Sprintf("packages/p%04d", i)
		var deps []string
		fmt.Fprintf(&lock, "\n  %s:\n    dependencies:\n", name)
		for j := range min(i, 3) {
			deps = append(deps, fmt.Sprintf(`"@ws/p%04d": "workspace:*"`, i-1-j))
			fmt.Fprintf(&lock, "      '@ws/p%04d':\n        specifier: workspace:*\n        version: link:../p%04d\n", i-1-j, i-1-j)
		}
		for j := range 7 {
			n := (i*31 + j*211) % benchPackages
			deps = append(deps, fmt.Sprintf(`"ext-%d": "^1.0.0"`, n))
			fmt.Fprintf(&lock, "      ext-%d:\n        specifier: ^1.0.0\n        version: 1.0.%d\n", n, n)
		}
		write(name+"/package.json", fmt.Sprintf("{\n  \"name\": \"@ws/p%04d\",\n  \"version\": \"1.0.0\",\n  \"scripts\": {\n    \"build\": \"tsc\",\n    \"test\": \"node --test\"\n  },\n  \"dependencies\": {\n    %s\n  }\n}\n",
			i, strings.Join(deps, ",\n    ")))
		dirs[i] = filepath.Join(root, name)
	}
	lock.WriteString("\npackages:\n")
	for i := range benchPackages {
		fmt.Fprintf(&lock, "\n  ext-%d@1.0.%d:\n    resolution: {integrity: sha512-%s==}\n    engines: {node: '>=8'}\n", i, i, strings.Repeat("x", 86))
	}
	lock.WriteString("\nsnapshots:\n")
	for i := range benchPackages {
		fmt.Fprintf(&lock, "\n  ext-%d@1.0.%d:\n    dependencies:\n      ext-%d: 1.0.%d\n", i, i, i/2, i/2)
		if i/3 != i/2 {
			fmt.Fprintf(&lock, "      ext-%d: 1.0.%d\n", i/3, i/3)
		}
	}
	write("pnpm-lock.yaml", lock.String())
	// What has just been written is not trusted to stay as it is.
	old := time.Now().Add(-time.Hour)
	if err := filepath.Walk(root, func(path string, _ os.FileInfo, err error) error {
		if err == nil {
			err = os.Chtimes(path, old, old)
		}
		return err
	}); err != nil {
		b.Fatal(err)
	}
	return dirs
}

func linksAndLock(b *testing.B, a *Adapter, dirs []string) {
	for _, dir := range dirs {
		if _, err := a.Links(b.Context(), dir); err != nil {
			b.Fatal(err)
		}
		if l, err := a.LockDigest(b.Context(), dir); err != nil || l.Digest == "" {
			b.Fatal(l, err)
		}
	}
}

// BenchmarkLinksAndLocks reads the links and the lockfile of the workspace for each of
// its members, with nothing known (cold), and when all has been read before (warm).
func BenchmarkLinksAndLocks(b *testing.B) {
	dirs := benchWorkspace(b)
	b.Run("cold", func(b *testing.B) {
		defer reportCPU(b)()
		for b.Loop() {
			linksAndLock(b, newPNPM(), dirs)
		}
	})
	b.Run("warm", func(b *testing.B) {
		a := newPNPM()
		linksAndLock(b, a, dirs)
		defer reportCPU(b)()
		for b.Loop() {
			linksAndLock(b, a, dirs)
		}
	})
}

// reportCPU tells the time that the process really had, which on a busy machine is
// less than what has passed.
func reportCPU(b *testing.B) func() {
	used := func() time.Duration {
		var u syscall.Rusage
		if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
			b.Fatal(err)
		}
		return time.Duration(u.Utime.Nano() + u.Stime.Nano())
	}
	before := used()
	return func() { b.ReportMetric(float64((used()-before).Microseconds())/1000/float64(b.N), "cpu-ms/op") }
}

func newPNPM() *Adapter {
	return NewPNPM(adapters.Options{Env: adapters.NewEnviron(os.Environ())})
}

// BenchmarkWorkspace asks everything about each member of the workspace, as discovery
// does.
func BenchmarkWorkspace(b *testing.B) {
	dirs := benchWorkspace(b)
	defer reportCPU(b)()
	for b.Loop() {
		family := All(adapters.Options{Env: adapters.NewEnviron(os.Environ())})
		for _, dir := range dirs {
			for _, a := range family {
				if yes, err := a.Detect(b.Context(), dir); !yes || err != nil {
					continue
				}
				for name, ask := range asks(a.(*Adapter)) {
					if err := ask(b.Context(), dir); err != nil {
						b.Fatal(name, err)
					}
				}
				if _, err := a.(*Adapter).ToolchainBasis(b.Context(), dir); err != nil {
					b.Fatal(err)
				}
				break
			}
		}
	}
}
