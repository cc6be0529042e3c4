package wasm

import (
	"context"
	"unicode/utf8"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
)

// instantiateHost links the import module az. A module that may not call a function of it is refused
// before it is compiled; the functions check again.
func instantiateHost(ctx context.Context, r wazero.Runtime) error {
	i32, i64 := api.ValueTypeI32, api.ValueTypeI64
	b := r.NewHostModuleBuilder("az")
	b.NewFunctionBuilder().WithGoModuleFunction(api.GoModuleFunc(logged), []api.ValueType{i32, i32, i32}, nil).Export(azLog)
	for name, answer := range map[string]func(context.Context, *call, string) ([]byte, bool){
		azEnvGet:   envGet,
		azReadFile: readFile,
		azHTTPGet:  httpGet,
	} {
		b.NewFunctionBuilder().WithGoModuleFunction(asked(name, answer), []api.ValueType{i32, i32}, []api.ValueType{i64}).Export(name)
	}
	_, err := b.Instantiate(ctx)
	return err
}

var levels = [...]string{"[ERROR] ", "[WARN] ", "[INFO] ", "[DEBUG] "}

// logged is az_log. A message out of bounds or not in UTF-8 is dropped.
func logged(ctx context.Context, mod api.Module, stack []uint64) {
	k := enter(ctx, mod)
	level, at, n := uint32(stack[0]), uint32(stack[1]), uint32(stack[2])
	b, ok := mod.Memory().Read(at, n)
	if !ok {
		return
	}
	b = b[:min(len(b), maxLine)]
	if int(n) > maxLine {
		b = wholeRunes(b)
	}
	if !utf8.Valid(b) {
		return
	}
	prefix := "[TRACE] "
	if level < uint32(len(levels)) {
		prefix = levels[level]
	}
	k.log.add(prefix + string(b))
}

// wholeRunes cuts an incomplete rune off the end.
func wholeRunes(b []byte) []byte {
	for i := 1; i <= utf8.UTFMax && i <= len(b); i++ {
		if tail := b[len(b)-i:]; utf8.RuneStart(tail[0]) {
			if !utf8.FullRune(tail) {
				return b[:len(b)-i]
			}
			break
		}
	}
	return b
}

// enter returns the call behind a host function. It stops a module whose time is over.
func enter(ctx context.Context, mod api.Module) *call {
	if err := ctx.Err(); err != nil {
		panic(err) // wazero ends the call with it
	}
	k := ctx.Value(callKey{}).(*call)
	k.mod = mod // the start section runs before the instance is returned
	return k
}

// asked returns the host function that answers a text with bytes, in memory that the module
// allocates. It returns 0 for every failure.
func asked(name string, answer func(context.Context, *call, string) ([]byte, bool)) api.GoModuleFunc {
	return func(ctx context.Context, mod api.Module, stack []uint64) {
		k := enter(ctx, mod)
		b, ok := mod.Memory().Read(uint32(stack[0]), uint32(stack[1]))
		stack[0] = 0
		if !ok || len(b) > maxQuestion || !utf8.Valid(b) || !k.t.grant.may(name) {
			return
		}
		if content, ok := answer(ctx, k, string(b)); ok {
			stack[0] = k.hand(ctx, content)
		}
		if err := ctx.Err(); err != nil {
			panic(err)
		}
	}
}

// maxQuestion is the length of the longest path, address or name of a variable.
const maxQuestion = 64 << 10

// hand copies content into memory that the module allocates, and returns the packed value. It
// returns 0 if the module has no room for it.
func (k *call) hand(ctx context.Context, content []byte) uint64 {
	res, err := k.mod.ExportedFunction(alloc).Call(ctx, uint64(len(content)))
	if err != nil {
		return 0
	}
	at := uint32(res[0])
	if !k.mod.Memory().Write(at, content) {
		return 0
	}
	return uint64(at) | uint64(len(content))<<32
}

// envGet is az_env_get. It knows the variables of the options, and nothing of bento's environment.
func envGet(_ context.Context, k *call, name string) ([]byte, bool) {
	value, ok := k.t.o.Env[name]
	return []byte(value), ok
}
