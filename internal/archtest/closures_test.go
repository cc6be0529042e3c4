package archtest

import "testing"

// closures bound what one must read with a package: its lines and those of all packages of ours that it needs, on any
// system, tests not counted. without are packages, of any module, that neither it nor one of them imports.
var closures = []struct {
	pkg      string
	maxLines int
	without  []string
}{
	{"internal/plan", 8_400, []string{"internal/clone", "internal/config", "internal/git", "internal/owndir", "internal/proc", "internal/tomlfile", "internal/tree", "discovery", "os/exec", "net", "net/http"}},
	{"internal/run", 47_000, []string{"internal/config", "internal/tomlfile", "diagnostics/parse", "discovery"}},
	{"internal/workspace", 64_000, []string{"adapters/builtin", "internal/companion", "plugin/bundle", "plugin/oneshot", "plugin/wasm"}},
}

// Bounds of the tree, tests not counted.
const (
	maxPackages = 172
	maxLines    = 192_000
)

// TestClosures: what one must read with a package, and with all of them, has bounds.
func TestClosures(t *testing.T) {
	lines, needs := make(map[string]int), make(map[string][]string)
	total, files := 0, byPackage(sources(t))
	for pkg, list := range files {
		for _, s := range list {
			if s.test {
				continue
			}
			total += s.lines
			lines[pkg] += s.lines
			for _, imp := range s.imports() {
				needs[pkg] = append(needs[pkg], imp.path)
			}
		}
	}
	for _, c := range closures {
		all, sum := make(map[string]bool), 0
		for todo := []string{c.pkg}; len(todo) > 0; todo = todo[1:] {
			if pkg := todo[0]; !all[pkg] {
				all[pkg] = true
				sum += lines[pkg]
				todo = append(todo, needs[pkg]...)
			}
		}
		t.Logf("%s: %d lines", c.pkg, sum)
		if sum > c.maxLines {
			t.Errorf("%s and all that it needs have %d lines, %d are allowed: it imports %v", c.pkg, sum, c.maxLines, needs[c.pkg])
		}
		for _, never := range c.without {
			if all[never] {
				t.Errorf("%s needs %s", c.pkg, never)
			}
		}
	}
	t.Logf("%d lines in %d packages", total, len(lines))
	if total > maxLines || len(lines) > maxPackages {
		t.Errorf("%d lines in %d packages, %d in %d are allowed", total, len(lines), maxLines, maxPackages)
	}
}
