package action

import "testing"

func TestWithArguments(t *testing.T) {
	tests := []struct{ run, want string }{
		{"echo", `echo "$@"`},
		{"set -e\necho\n", "set -e\necho \"$@\""},
		{"echo \t\r\n ", `echo "$@"`},
		{"# first\necho", "# first\necho \"$@\""},
		{`echo a#b`, `echo a#b "$@"`},
		{`echo '# no'`, `echo '# no' "$@"`},
		{`echo "it's # no"`, `echo "it's # no" "$@"`},
		{`echo \# no`, `echo \# no "$@"`},
		{`echo '\' # yes`, ""},
		{"echo # yes", ""},
		{"echo;# yes\n", ""},
		{"# yes", ""},
	}
	for _, tt := range tests {
		got, err := withArguments(tt.run)
		if got != tt.want || (err == nil) != (tt.want != "") {
			t.Errorf("%q: %q, %v, want %q", tt.run, got, err, tt.want)
		}
	}
}
