package main

import (
	"os"
	"path/filepath"

	"github.com/rogpeppe/go-internal/testscript"
)

// standIn is a tool that only prints its version, for a script about plans and not about the tool. npm also runs scripts, which
// are files here, and reads the manifests of all members before, as the real one does.
const standIn = `#!/bin/sh
case ${0##*/} in
cargo) echo cargo 1.85.0 ;;
rustc) printf 'rustc 1.85.0\nhost: x86_64-unknown-linux-gnu\nrelease: 1.85.0\n' ;;
node) echo v20.0.0 ;;
npm)
	test "$1" = run || exec echo 10.0.0
	for manifest in ../*/package.json; do read -r line <"$manifest"; done
	sh "./$2.sh"
	;;
java | javac) echo 'openjdk version "17.0.1"' >&2 ;;
mvn) echo Apache Maven 3.9.9 ;;
*) exit 1 ;;
esac
`

// makeStandIns runs "standins NAME…": it makes stand-ins outside of the workspace and puts them first in PATH, so that
// the script needs no such tool of the machine.
func makeStandIns(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) == 0 {
		ts.Fatalf("usage: standins NAME…")
	}
	bin := filepath.Join(ts.Getenv("OUT"), "standins", "bin")
	ts.Check(os.MkdirAll(bin, 0o755))
	for _, name := range args {
		ts.Check(os.WriteFile(filepath.Join(bin, name), []byte(standIn), 0o755))
	}
	ts.Setenv("PATH", before(bin, ts.Getenv("PATH")))
}
