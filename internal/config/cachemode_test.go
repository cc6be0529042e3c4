package config

import "testing"

func TestParseMode(t *testing.T) {
	if m, err := parseCacheMode("remote:r, local:"); err != nil || m != (cacheMode{Remote: tierAccess{Read: true}}) {
		t.Errorf("%+v, %v", m, err)
	}
	for _, bad := range []string{"", "local:rr", "locl:r", "local:r,local:w", ","} {
		if m, err := parseCacheMode(bad); err == nil {
			t.Errorf("Parse(%q) = %+v", bad, m)
		}
	}
}
