package adapters

import (
	"strings"
	"testing"
)

func TestCheckExec(t *testing.T) {
	for line, good := range map[string]bool{
		"zig version": true, "rebar3 --version": true, "ghc --numeric-version": true, "gcc-13 -dumpversion": true, "g++ -v": true, "python3.12 -V": true,
		"zig": false, "zig version x": false, "sh -c": false, "sh -c zig": false, "python3 -c": false, "node -e": false, "make all": false, "zig build": false,
		"./zig version": false, "/usr/bin/zig version": false, "../zig version": false, "-x version": false, ".zig version": false, " version": false,
		"zig$(x) version": false, "zig\n version": false, "zig version\n": false, "reboot --version": false, "systemctl version": false,
		"zig Version": false, "zig --version=x": false, strings.Repeat("z", 65) + " version": false,
	} {
		if err := CheckExec(strings.Split(line, " ")); (err == nil) != good {
			t.Errorf("%q: %v, want valid: %v", line, err, good)
		}
	}
	if CheckExec(nil) == nil {
		t.Error("an empty command is valid")
	}
}
