package ruby

import "testing"

func TestPrivate(t *testing.T) {
	t.Parallel()
	for config, want := range map[string]string{
		"---\nBUNDLE_PATH: \"vendor/bundle\"\n":            "",
		"BUNDLE_PATH: v\nBUNDLE_GEMS__EXAMPLE__COM: u:p\n": "BUNDLE_GEMS__EXAMPLE__COM",
	} {
		if got := private([]byte(config)); got != want {
			t.Errorf("%q: %q, want %q", config, got, want)
		}
	}
}
