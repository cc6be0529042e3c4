package main

import (
	"encoding/json"
	"unsafe"
)

// As a module the program exports the functions of ABI v2, and main does not run.
//
//	GOOS=wasip1 GOARCH=wasm go build -buildmode=c-shared -o json-go.wasm .

// held are the texts whose addresses bento has. The instance ends with the call.
var held [][]byte

//go:wasmexport az_alloc
func azAlloc(n int32) unsafe.Pointer {
	held = append(held, make([]byte, max(n, 1)))
	return unsafe.Pointer(&held[len(held)-1][0])
}

//go:wasmexport az_tool_execute
func azToolExecute(at unsafe.Pointer, n int32) int64 {
	var in struct {
		Input string `json:"input"`
	}
	var out struct {
		Output string  `json:"output"`
		Error  *string `json:"error"`
	}
	err := json.Unmarshal(unsafe.Slice((*byte)(at), n), &in)
	if err == nil {
		out.Output, err = answer(in.Input)
	}
	if err != nil {
		text := err.Error()
		out.Error = &text
	}
	b, err := json.Marshal(out)
	if err != nil {
		panic(err) // it has texts only
	}
	held = append(held, b)
	return int64(uintptr(unsafe.Pointer(&b[0]))) | int64(len(b))<<32
}
