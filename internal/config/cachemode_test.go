package config

import "testing"

func TestCacheMode(t *testing.T) {
	read, all := tierAccess{Read: true}, tierAccess{Read: true, Write: true}
	for text, want := range map[string]CacheMode{
		"remote:r, local:":   {Remote: read},
		"local:rw":           {Local: all, Remote: read}, // a tier that is not named keeps its permission
		"remote:":            {Local: all},
		"remote:w":           {Local: all, Remote: tierAccess{Write: true}},
		"local:r,remote:rw":  {Local: read, Remote: all},
		" local:w ,remote:r": {Local: tierAccess{Write: true}, Remote: read},
	} {
		if m, err := defaultCacheMode().Under(text); err != nil || m != want {
			t.Errorf("%q: %+v, %v, want %+v", text, m, err, want)
		}
	}
	for _, bad := range []string{"", "local:rr", "locl:r", "local:r,local:w", ","} {
		if m, err := defaultCacheMode().Under(bad); err == nil {
			t.Errorf("%q: %+v, want an error", bad, m)
		}
	}
}
