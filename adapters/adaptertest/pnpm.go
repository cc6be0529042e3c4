package adaptertest

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// pnpmPackages is how many packages of others a workspace of PNPM uses.
const pnpmPackages = 1500

// PNPM makes a workspace of pnpm's with its lockfile as pnpm writes it, and gives the
// directories of its members.
func PNPM(t testing.TB, members int) (root string, dirs []string) {
	t.Helper()
	root = Project(t, "-- .git/HEAD --\n-- bento.toml --\n-- pnpm-workspace.yaml --\npackages:\n  - packages/*\n"+
		"-- package.json --\n{\"name\": \"root\", \"private\": true, \"engines\": {\"node\": \">=18\"}}\n")
	var lock strings.Builder
	lock.WriteString("lockfileVersion: '9.0'\n\nsettings:\n  autoInstallPeers: true\n  excludeLinksFromLockfile: false\n\nimporters:\n\n  .: {}\n")
	for i := range members {
		dir := filepath.Join(root, "packages", fmt.Sprintf("p%04d", i))
		Write(t, filepath.Join(dir, "package.json"), pnpmMember(i, &lock))
		dirs = append(dirs, dir)
	}
	lock.WriteString("\npackages:\n")
	for i := range pnpmPackages {
		fmt.Fprintf(&lock, "\n  ext-%d@1.0.%d:\n    resolution: {integrity: sha512-%s==}\n    engines: {node: '>=8'}\n", i, i, strings.Repeat("x", 86))
	}
	lock.WriteString("\nsnapshots:\n")
	for i := range pnpmPackages {
		fmt.Fprintf(&lock, "\n  ext-%d@1.0.%d:\n    dependencies:\n      ext-%d: 1.0.%d\n", i, i, i/2, i/2)
		if i/3 != i/2 {
			fmt.Fprintf(&lock, "      ext-%d: 1.0.%d\n", i/3, i/3)
		}
	}
	Write(t, filepath.Join(root, "pnpm-lock.yaml"), lock.String())
	makeOld(t, root)
	return root, dirs
}

// pnpmMember gives the manifest of a member that uses the three before it and seven
// packages of others, and adds it to the lockfile.
func pnpmMember(i int, lock *strings.Builder) string {
	var deps []string
	fmt.Fprintf(lock, "\n  packages/p%04d:\n    dependencies:\n", i)
	for j := range min(i, 3) {
		deps = append(deps, fmt.Sprintf(`"@ws/p%04d": "workspace:*"`, i-1-j))
		fmt.Fprintf(lock, "      '@ws/p%04d':\n        specifier: workspace:*\n        version: link:../p%04d\n", i-1-j, i-1-j)
	}
	for j := range 7 {
		n := (i*31 + j*211) % pnpmPackages
		deps = append(deps, fmt.Sprintf(`"ext-%d": "^1.0.0"`, n))
		fmt.Fprintf(lock, "      ext-%d:\n        specifier: ^1.0.0\n        version: 1.0.%d\n", n, n)
	}
	const form = "{\n  \"name\": \"@ws/p%04d\",\n  \"version\": \"1.0.0\",\n  \"scripts\": {\n    \"build\": \"tsc\",\n    \"test\": \"node --test\"\n  },\n  \"dependencies\": {\n    %s\n  }\n}\n"
	return fmt.Sprintf(form, i, strings.Join(deps, ",\n    "))
}

// makeOld dates everything back: what has just been written is not trusted to stay as
// it is.
func makeOld(t testing.TB, root string) {
	t.Helper()
	old := time.Now().Add(-time.Hour)
	err := filepath.Walk(root, func(path string, _ os.FileInfo, err error) error {
		if err == nil {
			err = os.Chtimes(path, old, old)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// CPU tells the time that the process has had so far, which on a busy machine says more
// than what has passed.
func CPU(t testing.TB) time.Duration {
	t.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		t.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// ReportCPU tells of each round of a benchmark how much the process has had.
func ReportCPU(b *testing.B) func() {
	before := CPU(b)
	return func() { ReportTime(b, CPU(b)-before) }
}

// ReportTime tells the share of each round in used.
func ReportTime(b *testing.B, used time.Duration) {
	b.ReportMetric(float64(used.Microseconds())/1000/float64(b.N), "cpu-ms/op")
}
