package owndir

import "testing"

func TestOfUser(t *testing.T) {
	for _, c := range []struct{ variable, value, home, want string }{
		{"XDG_STATE_HOME", "/s", "/h", "/s/bento/x"}, {"XDG_STATE_HOME", "", "/h", "/h/.local/state/bento/x"},
		{"XDG_STATE_HOME", "rel", "/h", "/h/.local/state/bento/x"}, {"XDG_STATE_HOME", "rel", "rel", ""},
		{"XDG_DATA_HOME", "", "/h", "/h/.local/share/bento/x"}, {"XDG_CONFIG_HOME", "", "/h", "/h/.config/bento/x"}, {"XDG_CACHE_HOME", "", "/h", "/h/.cache/bento/x"},
	} {
		getenv := func(name string) string { return map[string]string{c.variable: c.value, "HOME": c.home}[name] }
		if got := OfUser(getenv, c.variable, "x"); got != c.want {
			t.Errorf("%+v: got %q", c, got)
		}
	}
}
