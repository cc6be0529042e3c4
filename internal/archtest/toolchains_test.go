package archtest

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// rustCase is a machine with some Rust.
type rustCase struct {
	cargo, rustc, clippy string // versions, "" for none
	owner                string // the package of cargo
	candidates           string // of apt-cache
	want                 string
}

// TestRustOfOneSource: scripts/toolchains takes the newer of Debian's compilers, and never mixes one with the linter of
// another.
func TestRustOfOneSource(t *testing.T) {
	t.Parallel()
	const none = ""
	if testing.Short() {
		t.Skip("it starts a thousand programs")
	}
	for name, c := range map[string]rustCase{
		"two packages, the old one is installed": {cargo: "1.65.0", rustc: "1.63.0", clippy: "0.1.63", owner: "cargo", candidates: "rustc=1.63.0 rustc-web=1.85.0",
			want: "apt-get install cargo-web, apt-get install rust-web-clippy, apt-get install rustfmt-web"},
		"two packages, none is installed": {candidates: "rustc=1.63.0 rustc-web=1.85.0",
			want: "apt-get install cargo-web, apt-get install rust-web-clippy, apt-get install rustfmt-web"},
		"one package": {candidates: "rustc=1.85.0",
			want: "apt-get install cargo, apt-get install rust-clippy, apt-get install rustfmt"},
		"the new one without a linter": {cargo: "1.85.0", rustc: "1.85.1", owner: "cargo-web", candidates: "rustc=1.63.0 rustc-web=1.85.0",
			want: "apt-get install rust-web-clippy, apt-get install rustfmt-web"},
		"rustup's, with Debian's linter": {cargo: "1.90.0", rustc: "1.90.0", clippy: "0.1.85", owner: none, candidates: "rustc=1.85.0",
			want: "rustup component add clippy, rustup component add rustfmt"},
		"rustup's": {cargo: "1.90.0", rustc: "1.90.0", clippy: "0.1.90", owner: none, candidates: "rustc=1.85.0",
			want: "rustup component add rustfmt"},
	} {
		bin := rustMachine(t, c)
		cmd := exec.Command("bash", filepath.Join("..", "..", "scripts", "toolchains"), "--missing")
		cmd.Env = []string{"PATH=" + bin, "HOME=" + bin, "BENTO_TOOLS=" + bin}
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%s: %v\n%s", name, err, out)
		}
		if d := cmp.Diff(c.want, rustAdvice(string(out))); d != "" {
			t.Errorf("%s, -want +got:\n%s", name, d)
		}
	}
}

// rustMachine returns the one directory of PATH of a machine: the shell's tools, and stand-ins for Rust's and Debian's.
func rustMachine(t *testing.T, c rustCase) string {
	t.Helper()
	bin := t.TempDir()
	for _, tool := range strings.Fields("bash awk sed sort grep head mktemp rm id dirname cut readlink basename xargs cat") {
		path, err := exec.LookPath(tool)
		if err != nil {
			t.Skipf("%s is not installed", tool)
		}
		if err := os.Symlink(path, filepath.Join(bin, tool)); err != nil {
			t.Fatal(err)
		}
	}
	for tool, text := range map[string]string{
		"cargo":      "[ \"$1\" != clippy ] || { [ -n '" + c.clippy + "' ] && echo 'clippy " + c.clippy + "'; exit; }\necho cargo " + c.cargo,
		"rustc":      "echo rustc " + c.rustc,
		"dpkg-query": "[ -z '" + c.owner + "' ] || echo '" + c.owner + ": /x'\n[ -n '" + c.owner + "' ]",
		"apt-cache":  "for p in " + c.candidates + "; do [ \"${p%%=*}\" != \"$2\" ] || echo \"  Candidate: ${p#*=}\"; done",
		"dpkg":       "[ \"$(printf '%s\\n' \"$2\" \"$4\" | sort -V | head -n 1)\" = \"$2\" ]", // dpkg --compare-versions A le B
	} {
		if (tool == "cargo" && c.cargo == "") || (tool == "rustc" && c.rustc == "") {
			continue
		}
		if err := os.WriteFile(filepath.Join(bin, tool), []byte("#!/bin/sh\n"+text+"\n"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return bin
}

// rustAdvice returns the first way to install cargo, clippy and rustfmt that the output of --missing names for each.
func rustAdvice(out string) string {
	var list []string
	for _, tool := range []string{"cargo", "clippy", "rustfmt"} {
		for line := range strings.Lines(out) {
			how, ok := strings.CutPrefix(strings.TrimSpace(line), tool+"\t")
			if !ok {
				continue
			}
			_, after, versioned := strings.Cut(how, " or newer: ")
			if versioned {
				how = after
			}
			how, _, _ = strings.Cut(how, ", or")
			list = append(list, how)
		}
	}
	return strings.Join(list, ", ")
}
