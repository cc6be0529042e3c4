package constraint_test

import (
	"testing"

	"github.com/bentobuild/bento/adapters/php/constraint"
)

func TestSatisfies(t *testing.T) {
	const yes, no, unknown = "yes", "no", "unknown"
	for _, test := range []struct{ have, want, answer string }{
		{"8.2.36", "^8.1", yes}, {"8.2.36", "^8.3", no}, {"9.0.0", "^8.1", no},
		{"8.2.36", "~8.1", yes}, {"9.0.0", "~8.1", no}, {"8.2.36", "~8.2.0", yes}, {"8.3.0", "~8.2.0", no}, {"8.9.0", "~8", yes},
		{"8.2.36", "8.2.*", yes}, {"8.2.36", "8.*", yes}, {"8.2.36", "7.x", no}, {"8.2.36", "*", yes}, {"8.2.36", "8.*.*", yes},
		{"8.2.36", "8.2", no}, {"8.2.36", "8.2.36", yes}, {"8.2.36", "v8.2.36", yes},
		{"8.2.36", ">=7.4 <8.3", yes}, {"8.2.36", ">=7.4, <8.2", no}, {"8.2.36", ">= 7.4", yes}, {"8.2.36", ">8.2.36", no},
		{"8.2.36", "!=8.2.36", no}, {"8.2.36", "<>8.2.1", yes}, {"8.2.36", "<=8.2.36", yes},
		{"8.2.36", "^7.4 || ^8.0", yes}, {"8.2.36", "^7.4|^8.3", no}, {"7.4.3", "^7.4 | ^8.3", yes},
		{"8.2.36", "8.0 - 8.2", yes}, {"8.2.36", "8.0 - 8.2.5", no}, {"8.2.36", "7.4.0 - 8.1", no},
		{"8.2.36-1ubuntu2", "^8.2@dev", yes}, {"8.4.0RC1", ">=8.4", yes},
		{"0.3.1", "^0.3", yes}, {"0.4.0", "^0.3", no},
		{"8.2.36", "", unknown}, {"8.2.36", "dev-main", unknown}, {"", "^8", unknown}, {"8.2.36", "^8 || ", unknown}, {"8.2.36", "=>8", unknown},
	} {
		ok, known := constraint.Satisfies(test.have, test.want)
		got := map[bool]string{true: yes, false: no}[ok]
		if !known {
			got = unknown
		}
		if got != test.answer {
			t.Errorf("%q with %q: %s, want %s", test.want, test.have, got, test.answer)
		}
	}
}

func FuzzSatisfies(f *testing.F) {
	f.Add("8.2.36", "^7.4 || >=8.0 <8.4, !=8.1.*")
	f.Add("1", "~0 - x")
	f.Fuzz(func(t *testing.T, have, want string) {
		if ok, known := constraint.Satisfies(have, want); ok && !known {
			t.Error("satisfied by an unknown version")
		}
	})
}
