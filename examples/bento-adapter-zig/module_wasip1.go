package main

import "github.com/bentobuild/bento/plugin"

// As a module, bento-adapter-zig.wasm, the adapter is exported: main does not run there.
//
//	GOOS=wasip1 GOARCH=wasm go build -buildmode=c-shared -o bento-adapter-zig.wasm .
var _ = plugin.Export(zig{})
