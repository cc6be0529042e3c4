package adaptertest

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/bentobuild/bento/adapters"
)

// proxy is what rustup, cargo and rustc are where rustup is installed. It chooses a toolchain as rustup does: by the
// variable, else by the nearest file, else the default; and it has rustup's message for a missing one.
const proxy = `#!/bin/sh
name=$RUSTUP_TOOLCHAIN
at=$PWD
while test -z "$name" && test -n "$at"; do
	for file in "$at/rust-toolchain" "$at/rust-toolchain.toml"; do
		test -z "$name" && test -f "$file" || continue
		path=$(sed -n 's/^path *= *"\(.*\)"/\1/p' "$file")
		test -z "$path" || { cd "$at" && exec "$path/bin/${0##*/}" "$@"; }
		name=$(sed -n 's/^channel *= *"\(.*\)"/\1/p; t; s/^\([a-z0-9][a-z0-9.-]*\)$/\1/p' "$file")
	done
	at=${at%/*}
done
home=${RUSTUP_HOME:-$HOME/.rustup}
name=${name:-stable}
test -d "$home/toolchains/$name" || name=$name-x86_64-unknown-linux-gnu
test -d "$home/toolchains/$name" || { echo "error: toolchain '$name' is not installed" >&2; exit 1; }
exec "$home/toolchains/$name/bin/${0##*/}" "$@"
`

// Rustup writes a rustup with the toolchains stable (Rust 1.90) and nightly (1.92) below home, so that a test does not
// depend on the one of the machine. It returns env with them: HOME and RUSTUP_HOME are theirs, and cargo and rustc are
// the proxies.
func Rustup(t testing.TB, home string, env adapters.Environ) adapters.Environ {
	t.Helper()
	run := func(name, text string) {
		path := filepath.Join(home, filepath.FromSlash(name))
		Write(t, path, text)
		if err := os.Chmod(path, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"rustup", "cargo", "rustc"} {
		run(".cargo/bin/"+name, proxy) // rustup's proxies are links to it, or copies
	}
	for name, version := range map[string]string{"stable": "1.90.0", "nightly": "1.92.0-nightly"} {
		bin := ".rustup/toolchains/" + name + "-x86_64-unknown-linux-gnu/bin/"
		run(bin+"cargo", "#!/bin/sh\necho cargo "+version+"\n")
		run(bin+"rustc", "#!/bin/sh\nprintf 'rustc "+version+"\nhost: x86_64-unknown-linux-gnu\nrelease: "+version+"\n'\n")
	}
	env = env.With(map[string]string{"HOME": home, "RUSTUP_HOME": filepath.Join(home, ".rustup"), "RUSTUP_TOOLCHAIN": ""})
	return env.WithPath(filepath.Join(home, ".cargo", "bin"))
}
