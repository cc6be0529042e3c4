package builtin_test

import (
	"regexp"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/adapters/builtin"
	"github.com/bentobuild/bento/adapters/snapshot"
)

func TestOrderOfDetection(t *testing.T) {
	var ids []string
	for _, a := range builtin.All(snapshot.Options{}) {
		ids = append(ids, a.Manifest().AdapterID)
	}
	want := []string{"go", "cargo", "python-uv", "python", "ruby", "php", "maven", "gradle", "deno", "bun", "node-pnpm", "node-yarn", "node-npm"}
	if d := cmp.Diff(want, ids); d != "" {
		t.Error(d)
	}
}

func TestManifests(t *testing.T) {
	id, name := regexp.MustCompile(`^[a-z0-9][a-z0-9_-]*$`), regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*\*?$`)
	for _, a := range builtin.All(snapshot.Options{}) {
		m := a.Manifest()
		if !id.MatchString(m.AdapterID) || m.DisplayName == "" || m.ProtocolVersion != adapters.ProtocolVersion {
			t.Errorf("%q: %q, protocol %d", m.AdapterID, m.DisplayName, m.ProtocolVersion)
		}
		if m.Identity == "" || len(m.FingerprintFiles) == 0 {
			t.Errorf("%s: identity %q, fingerprint files %q", m.AdapterID, m.Identity, m.FingerprintFiles)
		}
		for _, v := range slices.Concat(m.PassEnv, m.SteeringEnv) {
			if !name.MatchString(v) {
				t.Errorf("%s: variable %q", m.AdapterID, v)
			}
		}
		for _, v := range m.SteeringEnv {
			if slices.Contains(m.PassEnv, v) {
				t.Errorf("%s: %s is hashed and not hashed", m.AdapterID, v)
			}
		}
	}
}

func TestAbilitiesAreDeclared(t *testing.T) {
	for _, a := range builtin.All(snapshot.Options{}) {
		m := a.Manifest()
		_, tasks := a.(adapters.TaskLister)
		_, links := a.(adapters.Linker)
		_, scope := a.(adapters.Scoper)
		_, steers := a.(adapters.Steerer)
		_, pins := a.(adapters.PinChecker)
		_, adds := a.(adapters.Adder)
		if tasks != m.Capabilities.Tasks || links != m.Capabilities.Links || scope != m.Capabilities.InstallScope || adds != m.Capabilities.Add {
			t.Errorf("%s: has tasks %v, links %v, scope %v, add %v and declares %+v", m.AdapterID, tasks, links, scope, adds, m.Capabilities)
		}
		if !steers || !pins {
			t.Errorf("%s: steers %v, checks pins %v", m.AdapterID, steers, pins)
		}
	}
}
