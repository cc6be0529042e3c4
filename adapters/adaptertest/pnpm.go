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

// pnpmPackages is the number of external packages in a workspace of PNPM.
const pnpmPackages = 1500

// PNPM writes a pnpm workspace with its lockfile, in the layout that pnpm writes, and
// returns the directories of its members.
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

// pnpmMember returns the manifest of a member that depends on the three before it and on
// seven external packages. It adds the member to the lockfile.
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

// makeOld dates all files in the past: bento does not trust a file that was written a
// moment ago.
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

// CPU returns the processor time of this process so far. On a busy machine it is steadier
// than elapsed time.
func CPU(t testing.TB) time.Duration {
	t.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		t.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// ReportCPU reports the processor time of each round of a benchmark.
func ReportCPU(b *testing.B) func() {
	before := CPU(b)
	return func() { ReportTime(b, CPU(b)-before) }
}

// ReportTime reports the share of each round in used.
func ReportTime(b *testing.B, used time.Duration) {
	b.ReportMetric(float64(used.Microseconds())/1000/float64(b.N), "cpu-ms/op")
}
