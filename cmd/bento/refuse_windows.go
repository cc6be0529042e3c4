package main

import _ "embed"

// On Windows the go command refuses to build bento with the sentence below: it names a file that is missing on purpose.
//
//go:embed "bento runs on Linux and macOS; on Windows use WSL, see docs/install.md"
var refused string
