package registry

import (
	"strings"
	"testing"
)

// FuzzManifest: each layer of an accepted manifest has a digest as its name.
func FuzzManifest(f *testing.F) {
	f.Add(`{"layers": [{"mediaType": "a", "digest": "sha256:00", "size": 1}]}`)
	f.Add(`{"schemaVersion": 2, "layers": [null, {}]}`)
	f.Fuzz(func(t *testing.T, text string) {
		m, err := parseManifest([]byte(text), "")
		if err != nil {
			return
		}
		for _, l := range m.Layers {
			if !strings.HasPrefix(l.Digest, "sha256:") || len(l.Digest) != 71 || strings.Contains(l.Digest, "/") || l.Size < 0 {
				t.Errorf("%q has the layer %+v", text, l)
			}
		}
	})
}
