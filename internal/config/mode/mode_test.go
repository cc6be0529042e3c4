package mode

import "testing"

func TestParse(t *testing.T) {
	if m, err := Parse("remote:r, local:"); err != nil || m != (Mode{Remote: Access{Read: true}}) {
		t.Errorf("%+v, %v", m, err)
	}
	for _, bad := range []string{"", "local:rr", "locl:r", "local:r,local:w", ","} {
		if m, err := Parse(bad); err == nil {
			t.Errorf("Parse(%q) = %+v", bad, m)
		}
	}
}
