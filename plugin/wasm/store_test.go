package wasm

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	. "github.com/bentobuild/bento/plugin/wasm/wasmtest"
)

// used calls a module with an engine whose store is in dir, and returns the warnings.
func used(t *testing.T, o EngineOptions, module []byte) (warnings []string) {
	t.Helper()
	var mu sync.Mutex
	o.Warn = func(message, _ string) {
		mu.Lock()
		defer mu.Unlock()
		warnings = append(warnings, message)
	}
	e := NewEngine(o)
	defer e.Close()
	if got := must(t, openWith(t, e, Options{Bytes: module}), say("x")); got != "done" {
		t.Fatalf("got %q", got)
	}
	return warnings
}

// entries returns the files of compiled modules in a store.
func entries(t *testing.T, dir string) []string {
	t.Helper()
	list, err := filepath.Glob(filepath.Join(dir, "*"+entrySuffix))
	if err != nil {
		t.Fatal(err)
	}
	return list
}

func only(t *testing.T, dir string) string {
	t.Helper()
	list := entries(t, dir)
	if len(list) != 1 {
		t.Fatalf("the store has %q", list)
	}
	return list[0]
}

func TestStoreKeepsModules(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "below", "compiled")
	module := Answering(Good).Bytes()
	if w := used(t, EngineOptions{Dir: dir}, module); w != nil {
		t.Fatal(w)
	}
	entry := only(t, dir)
	first, err := os.Stat(entry)
	if err != nil {
		t.Fatal(err)
	}
	if w := used(t, EngineOptions{Dir: dir}, module); w != nil {
		t.Fatal(w)
	}
	again, err := os.Stat(entry)
	if err != nil || !os.SameFile(first, again) {
		t.Errorf("the entry was replaced: %v", err)
	}
	if names := list(t, dir); len(names) != 2 {
		t.Errorf("the store has %q, want the key and the module", names)
	}
	info, err := os.Stat(dir)
	if err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("the store has the mode %v, %v", info.Mode(), err)
	}
}

// Native code that the store has not written is never run. Each change of an entry causes a warning, and
// the module is compiled again.
func TestStoreRefusesForeignCode(t *testing.T) {
	module := Answering(Good).Bytes()
	for name, change := range map[string]func(t *testing.T, entry string, content []byte) []byte{
		"truncated":       func(_ *testing.T, _ string, b []byte) []byte { return b[:len(b)/2] },
		"empty":           func(*testing.T, string, []byte) []byte { return nil },
		"a bit is other":  func(_ *testing.T, _ string, b []byte) []byte { b[len(b)-1] ^= 1; return b },
		"code is other":   func(_ *testing.T, _ string, b []byte) []byte { b[0] ^= 1; return b },
		"longer":          func(_ *testing.T, _ string, b []byte) []byte { return append(b, 0) },
		"of other origin": func(t *testing.T, entry string, _ []byte) []byte { return foreign(t, module) },
		"of another module": func(t *testing.T, entry string, _ []byte) []byte {
			dir := filepath.Dir(entry)
			used(t, EngineOptions{Dir: dir}, append(bytes.Clone(module), 0, 2, 1, 'x'))
			for _, other := range entries(t, dir) {
				if other != entry {
					b, err := os.ReadFile(other)
					if err != nil {
						t.Fatal(err)
					}
					os.Remove(other)
					return b
				}
			}
			t.Fatal("there is no other entry")
			return nil
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "compiled")
			used(t, EngineOptions{Dir: dir}, module)
			entry := only(t, dir)
			content, err := os.ReadFile(entry)
			if err != nil {
				t.Fatal(err)
			}
			want := bytes.Clone(content)
			if err := os.WriteFile(entry, change(t, entry, bytes.Clone(content)), 0o600); err != nil {
				t.Fatal(err)
			}
			w := used(t, EngineOptions{Dir: dir}, module)
			if len(w) != 1 || !strings.Contains(w[0], "is damaged and is compiled again: ") {
				t.Errorf("got the warnings %q", w)
			}
			if now, err := os.ReadFile(entry); err != nil || !bytes.Equal(now, want) {
				t.Errorf("the entry was not replaced: %v", err)
			}
			if w := used(t, EngineOptions{Dir: dir}, module); w != nil {
				t.Errorf("got the warnings %q afterwards", w)
			}
		})
	}
}

// An entry of another version of wazero, with a valid code, causes no warning. The module is compiled
// again.
func TestStoreOfAnotherVersion(t *testing.T) {
	module := Answering(Good).Bytes()
	dir := filepath.Join(t.TempDir(), "compiled")
	used(t, EngineOptions{Dir: dir}, module)
	entry := only(t, dir)
	want, err := os.ReadFile(entry)
	if err != nil {
		t.Fatal(err)
	}
	s := newStore(EngineOptions{Dir: dir})
	if !s.open() {
		t.Fatal("the store is not opened")
	}
	defer s.close()
	old := "wazero-v0.0.1/" + strings.Repeat("0", 64)
	rest := append(append(binary.LittleEndian.AppendUint16(nil, uint16(len(old))), old...), "code of that version"...)
	name := strings.TrimSuffix(filepath.Base(entry), entrySuffix)
	if err := os.WriteFile(entry, append(s.code(name, rest), rest...), 0o600); err != nil {
		t.Fatal(err)
	}
	if w := used(t, EngineOptions{Dir: dir}, module); w != nil {
		t.Errorf("got the warnings %q", w)
	}
	if now, err := os.ReadFile(entry); err != nil || !bytes.Equal(now, want) {
		t.Errorf("the entry was not replaced: %v", err)
	}
}

// foreign returns the entry of the same module in another store.
func foreign(t *testing.T, module []byte) []byte {
	dir := filepath.Join(t.TempDir(), "foreign")
	used(t, EngineOptions{Dir: dir}, module)
	b, err := os.ReadFile(only(t, dir))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// The entries of a copied store are not valid, even if its key was copied too.
func TestStoreCopied(t *testing.T) {
	module := Answering(Good).Bytes()
	dir, to := filepath.Join(t.TempDir(), "compiled"), filepath.Join(t.TempDir(), "copy")
	used(t, EngineOptions{Dir: dir}, module)
	if err := os.CopyFS(to, os.DirFS(dir)); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(to, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(filepath.Join(to, keyFile), 0o600); err != nil {
		t.Fatal(err)
	}
	if w := used(t, EngineOptions{Dir: to}, module); len(w) != 1 || !strings.Contains(w[0], "its code is not the one") {
		t.Errorf("got the warnings %q", w)
	}
}

func TestStoreOfOtherUsers(t *testing.T) {
	module := Answering(Good).Bytes()
	for name, prepare := range map[string]func(dir string) error{
		"everyone may enter": func(dir string) error {
			if err := os.Mkdir(dir, 0o700); err != nil {
				return err
			}
			return os.Chmod(dir, 0o755)
		},
		"a link": func(dir string) error { return os.Symlink(t.TempDir(), dir) },
		"a file": func(dir string) error { return os.WriteFile(dir, nil, 0o600) },
	} {
		dir := filepath.Join(t.TempDir(), "compiled")
		if err := prepare(dir); err != nil {
			t.Fatal(err)
		}
		if w := used(t, EngineOptions{Dir: dir}, module); len(w) != 1 || !strings.Contains(w[0], "compiled modules are not kept") {
			t.Errorf("%s: got the warnings %q", name, w)
		}
		if e := entries(t, dir); len(e) != 0 {
			t.Errorf("%s: the store has %q", name, e)
		}
	}
}

func TestStoreIsBounded(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "compiled")
	for i := range 5 {
		m := Answering(Good)
		m.Custom("n", fmt.Sprint(i))
		used(t, EngineOptions{Dir: dir, MaxSize: 1}, m.Bytes())
		if e := entries(t, dir); len(e) > 1 {
			t.Errorf("the store has %d entries", len(e))
		}
	}
}

// The entry that was used least recently is removed first.
func TestStoreKeepsWhatIsUsed(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "compiled")
	module := func(name string) []byte {
		m := Answering(Good)
		m.Custom("n", name)
		return m.Bytes()
	}
	used(t, EngineOptions{Dir: dir}, module("a"))
	first := only(t, dir)
	used(t, EngineOptions{Dir: dir}, module("b"))
	for i, e := range entries(t, dir) {
		at := time.Unix(int64(1_000_000_000+i), 0)
		if e == first {
			at = at.AddDate(-1, 0, 0)
		}
		if err := os.Chtimes(e, at, at); err != nil {
			t.Fatal(err)
		}
	}
	used(t, EngineOptions{Dir: dir}, module("a"))
	info, err := os.Stat(first)
	if err != nil {
		t.Fatal(err)
	}
	used(t, EngineOptions{Dir: dir, MaxSize: 2*info.Size() + info.Size()/2}, module("c"))
	if list := entries(t, dir); len(list) != 2 || !slices.Contains(list, first) {
		t.Errorf("the store has %q, want two of which one is %q", list, first)
	}
}

// Several engines use one store at the same time.
func TestStoreAtOnce(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "compiled")
	module := Answering(Good).Bytes()
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			if w := used(t, EngineOptions{Dir: dir}, module); w != nil {
				t.Errorf("got the warnings %q", w)
			}
		})
	}
	all.Wait()
	only(t, dir)
}

// A run calls the same module each time, even if its file changes.
func TestModuleIsPinned(t *testing.T) {
	path := filepath.Join(t.TempDir(), "tool.wasm")
	write(t, path, string(Answering(Good).Bytes()))
	tool := open(t, Options{Path: path})
	must(t, tool, say("x"))
	write(t, path, string(Answering(`{"output":"changed"}`).Bytes()))
	if got := must(t, tool, say("x")); got != "done" {
		t.Errorf("got %q, want that of the first call", got)
	}
}

func TestClosedEngine(t *testing.T) {
	e := NewEngine(EngineOptions{})
	tool := openWith(t, e, Options{Bytes: Answering(Good).Bytes()})
	must(t, tool, say("x"))
	e.Close()
	if _, err := do(t, tool, say("x")); err == nil {
		t.Error("a closed tool answers")
	}
	if _, err := e.Open(Options{ID: "x", Bytes: magic}); err == nil {
		t.Error("a closed engine opens a tool")
	}
}
