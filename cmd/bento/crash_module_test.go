package main

import (
	"encoding/binary"

	"github.com/bentobuild/bento/plugin/wasm/wasmtest"
)

// calling adds a dish whose build calls a module, which makes two files in two directories. A command makes
// another file next to them.
func calling(files map[string]string) map[string]string {
	files["bento.toml"] += "[tools.made]\nwasm = \"made.wasm\"\n"
	files["made.wasm"] = string(making().Bytes())
	files["call/dish.toml"] = `name = "call"
language = "none"
[tasks.build]
tool = "made"
input = { out = "${out}" }
outputs = ["d/**"]
inputs = ["src"]
[tasks.test]
run = "cat d/a d/e/b"
depends_on = ["build"]
`
	files["call/src"] = "source\n"
	return files
}

// making returns a module that writes d/a and d/e/b into its output directory, which is its only open file
// and has the descriptor 3.
func making() *wasmtest.Module {
	const (
		dir, sub, one, two = 100, 110, 120, 130 // addresses of the names
		vector, opened     = 200, 300
	)
	m := &wasmtest.Module{}
	const wasi = "wasi_snapshot_preview1"
	mkdir := m.Import(wasi, "path_create_directory", "i32,i32,i32->i32")
	open := m.Import(wasi, "path_open", "i32,i32,i32,i32,i32,i64,i64,i32,i32->i32")
	write := m.Import(wasi, "fd_write", "i32,i32,i32,i32->i32")
	// failing traps unless the called function returned 0.
	failing := []byte{0x04, 0x40, wasmtest.Unreachable, wasmtest.End}
	i32 := wasmtest.I32
	body := [][]byte{
		i32(3), i32(dir), i32(1), wasmtest.Call(mkdir), failing,
		i32(3), i32(sub), i32(3), wasmtest.Call(mkdir), failing,
	}
	for fd, name := range [][2]int32{{one, 3}, {two, 5}} {
		body = append(body,
			i32(3), i32(0), i32(name[0]), i32(name[1]), i32(9), wasmtest.I64(64), wasmtest.I64(0), i32(0), i32(opened), wasmtest.Call(open), failing,
			i32(int32(4+fd)), i32(vector), i32(1), i32(opened), wasmtest.Call(write), failing)
	}
	body = append(body, wasmtest.Packed(1024, uint32(len(wasmtest.Good))))
	m.Func("az_alloc", "i32->i32", i32(8192))
	m.Func("az_tool_execute", "i32,i32->i64", body...)
	m.Memory(1, -1)
	m.Data(dir, "d")
	m.Data(sub, "d/e")
	m.Data(one, "d/a")
	m.Data(two, "d/e/b")
	m.Data(vector, string(binary.LittleEndian.AppendUint32(binary.LittleEndian.AppendUint32(nil, 1024), 8)))
	m.Data(1024, wasmtest.Good)
	return m
}
