package bundle

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bentobuild/bento/diagnostics"
	"github.com/bentobuild/bento/plugin/bundle/archive"
	"github.com/bentobuild/bento/plugin/bundle/manifest"
)

const core = "\x00asm\x01\x00\x00\x00"

// module returns the files of a module's package. The text more has further members of the manifest.
func module(id, version, more string) []archive.File {
	wasm := []byte(core + id + version)
	text := fmt.Sprintf(`{"id": %q, "version": %q, "entrypoint": "x", "wasm_file": "m.wasm", "wasm_sha256": %q, "allowed_host_calls": []%s}`, id, version, sum(wasm), more)
	return []archive.File{{Name: manifest.ModuleFile, Data: []byte(text)}, {Name: "m.wasm", Data: wasm}}
}

// needs returns the member of a manifest for dependencies such as "b ^1".
func needs(list ...string) string {
	for i, d := range list {
		id, req, _ := strings.Cut(d, " ")
		list[i] = fmt.Sprintf(`{"id": %q, "version_req": %q}`, id, req)
	}
	return `, "dependencies": [` + strings.Join(list, ",") + "]"
}

func program(id, version string) []archive.File {
	text := fmt.Sprintf(`{"plugin_id": %q, "plugin_version": %q, "protocol_version": "rterm.plugin.v1", "process": {"command": "./bin/run", "args": ["a"]}, "tools": [{"name": "t"}]}`, id, version)
	return []archive.File{{Name: "top/" + manifest.ProcessFile, Data: []byte(text)}, {Name: "top/bin/run", Data: []byte("#!/bin/sh\n")}}
}

func load(t *testing.T, files []archive.File) *Package {
	t.Helper()
	p, err := Load(files)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func newStore(t *testing.T) *Store { return &Store{Dir: filepath.Join(t.TempDir(), "data", "tools")} }

func (s *Store) must(t *testing.T, files ...[]archive.File) {
	t.Helper()
	for _, f := range files {
		if _, err := s.Add(context.Background(), load(t, f), AddOptions{Source: "test"}); err != nil {
			t.Fatal(err)
		}
	}
}

// resolve returns "id version" with the packages that it requires, or the error.
func resolve(q Query) string {
	r, problems, err := Resolve(q)
	if err != nil {
		return err.Error()
	}
	text := r.ID + " " + r.Version
	for _, d := range r.Requires {
		text += ", " + d.ID + " " + d.Version
	}
	for _, p := range problems {
		text += "; " + p.Message
	}
	return text
}

func (s *Store) resolve(ref string) string {
	return resolve(Query{Ref: ref, Tiers: []Tier{Global(s.Dir)}})
}

// want checks that got contains a text.
func want(t *testing.T, got, text string) {
	t.Helper()
	if !strings.Contains(got, text) {
		t.Errorf("got %q, want %q", got, text)
	}
}

// wantErr checks the message of an error. With "" it checks that no error occurred.
func wantErr(t *testing.T, err error, text string) {
	t.Helper()
	if text == "" && err != nil || text != "" && (err == nil || !strings.Contains(err.Error(), text)) {
		t.Errorf("got %v, want %q", err, text)
	}
}

func TestLoad(t *testing.T) {
	t.Parallel()
	change := func(files []archive.File, name, from, to string) []archive.File {
		for i := range files {
			if files[i].Name == name {
				files[i].Data = []byte(strings.Replace(string(files[i].Data), from, to, 1))
			}
		}
		return files
	}
	a := func() []archive.File { return module("a", "1.0.0", "") }
	for _, c := range []struct {
		name  string
		files []archive.File
		want  string
	}{
		{"good", a(), ""},
		{"program", program("p", "1"), ""},
		{"empty", nil, "no manifest"},
		{"no module", a()[:1], `"m.wasm" is missing, which manifest.json names as wasm_file`},
		{"no manifest", a()[1:], "no manifest"},
		{"changed module", change(a(), "m.wasm", "1.0.0", "1.0.1"), "integrity check failed for `m.wasm`: checksum mismatch"},
		{"no digest", change(a(), manifest.ModuleFile, sum(a()[1].Data), strings.Repeat("0", 64)), "wasm_sha256 is not set"},
		{"one file more", append(a(), archive.File{Name: "x"}), "expected only manifest.json and"},
		{"component", change(a(), "m.wasm", core, "\x00asm\x0d\x00\x01\x00"), "is a WebAssembly component"},
		{"no wasm", change(a(), "m.wasm", core, "\x7fELF"), "is no WebAssembly module"},
		{"version 1", module("a", "1", `, "min_runtime_api": 1, "max_runtime_api": 1`), "plugin runtime API compatibility failed: current=2, supported=1..=1"},
		{"program without its command", program("p", "1")[:1], `"./bin/run" is missing`},
		{"large program", append(program("p", "1"), archive.File{Name: "top/x", Data: make([]byte, archive.MaxBundle)}), "expected at most 33554432"},
	} {
		_, err := Load(c.files)
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: got %v, want %q", c.name, err, c.want)
		}
	}
}

func TestAdd(t *testing.T) {
	t.Parallel()
	s, ctx := newStore(t), context.Background()
	s.must(t, module("a", "1.0.0", ""))
	again, err := s.Add(ctx, load(t, module("a", "1.0.0", "")), AddOptions{})
	if err != nil || !again.Already || again.Signature != manifest.Unsigned {
		t.Errorf("the same again: %+v %v", again, err)
	}
	_, err = s.Add(ctx, load(t, module("a", "1.0.0", `, "description": "other"`)), AddOptions{})
	wantErr(t, err, "a 1.0.0 is installed with the digest")
	if info, err := os.Stat(s.Dir); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("the directory is %v, want 0700 (%v)", info.Mode(), err)
	}
	if err := os.Chmod(s.Dir, 0o777); err != nil {
		t.Fatal(err)
	}
	_, err = s.Add(ctx, load(t, module("b", "1.0.0", "")), AddOptions{})
	wantErr(t, err, "other users may write to it")
	want(t, s.resolve("a"), "not installed")
}

func TestProgram(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	s.must(t, program("p", "1.0.0"))
	r, _, err := Resolve(Query{Ref: "p@1", Tiers: []Tier{Global(s.Dir)}})
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(s.Dir, "p", "1.0.0")
	got := []any{r.Argv, r.ArgvSHA256, r.WorkDir, r.Kind}
	if diff := cmp.Diff([]any{[]string{dir + "/bin/run", "a"}, sum([]byte("#!/bin/sh\n")), dir, KindProcess}, got); diff != "" {
		t.Error(diff)
	}
	if info, err := os.Stat(dir + "/bin/run"); err != nil || info.Mode()&0o100 == 0 {
		t.Errorf("the program cannot be executed: %v %v", info, err)
	}
}

func TestResolve(t *testing.T) {
	t.Parallel()
	s, ctx := newStore(t), context.Background()
	s.must(t, module("a", "0.10.0", ""), module("a", "0.2.0", ""))
	want(t, s.resolve("a"), "a 0.2.0") // added last
	want(t, s.resolve("a@>=0.5"), "a 0.10.0")
	want(t, s.resolve("a@1"), `no installed version of the package a fulfils "1", found "0.10.0", "0.2.0"`)
	want(t, s.resolve("b"), "the package b is not installed")
	want(t, s.resolve("../a"), "its id is not valid")
	if err := os.Remove(filepath.Join(s.Dir, stateName)); err != nil {
		t.Fatal(err)
	}
	want(t, s.resolve("a"), "a 0.10.0")
	if err := os.WriteFile(filepath.Join(s.Dir, stateName), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	want(t, s.resolve("a"), "a 0.10.0; ") // with a warning
	from, to, err := s.Rollback(ctx, "a")
	want(t, fmt.Sprintln(from, to, err), "0.10.0 0.2.0 <nil>")
	want(t, s.resolve("a"), "a 0.2.0")
	_, _, err = s.Rollback(ctx, "a")
	wantErr(t, err, "no version below the active one")
	wantErr(t, s.Enable(ctx, "a", false), "")
	want(t, s.resolve("a"), "the package a is disabled")
	wantErr(t, s.Enable(ctx, "a", true), "")
	removed, err := s.Remove(ctx, "a", "0.2.0")
	want(t, fmt.Sprint(removed, err), "[0.2.0] <nil>")
	want(t, s.resolve("a"), "a 0.10.0")
	if data, _ := os.ReadFile(filepath.Join(s.Dir, stateName)); !strings.Contains(string(data), `"version": "0.10.0"`) {
		t.Errorf("the state names another version: %s", data)
	}
	_, err = s.Remove(ctx, "a", "9")
	wantErr(t, err, `the package a 9 is not installed, found "0.10.0"`)
	_, err = s.Remove(ctx, "../data", "")
	wantErr(t, err, "is not installed")
	if _, err = s.Remove(ctx, "a", ""); err != nil {
		t.Fatal(err)
	}
	if data, _ := os.ReadFile(filepath.Join(s.Dir, stateName)); strings.Contains(string(data), "0.10.0") {
		t.Errorf("the state still names it: %s", data)
	}
}

func TestPins(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	s.must(t, module("a", "1.0.0", ""), module("a", "1.1.0", ""))
	digest := load(t, module("a", "1.0.0", "")).Digest
	pin := func(ref, digest string) string {
		return resolve(Query{Ref: ref, Tiers: []Tier{Global(s.Dir)}, Pins: map[string]Pin{"a": {digest, "lock:3"}}})
	}
	want(t, pin("a", digest), "a 1.0.0")
	want(t, pin("a", sum(nil)), "the package a 1.1.0: its digest is")
	want(t, pin("a", sum(nil)), "expected "+sum(nil)+" at lock:3")
	want(t, pin("a@1.1", digest), `"1.1" is required, and lock:3 locks 1.0.0`)
}

func TestDependencies(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	s.must(t, module("a", "1.0.0", needs("c ^1", "b 1")), module("b", "1.0.0", needs("c >=1.1")), module("c", "1.1.0", ""), module("c", "2.0.0", ""))
	want(t, s.resolve("a"), "a 1.0.0, b 1.0.0, c 1.1.0")
	s.must(t, module("d", "1.0.0", needs("a 1", "c 2")))
	want(t, s.resolve("d"), "and another package on its version 1.1.0")
	s.must(t, module("e", "1.0.0", needs("f 1")), module("f", "1.0.0", needs("g 1")), module("g", "1.0.0", needs("e 1")))
	want(t, s.resolve("e"), "in a circle: e -> f -> g -> e")
	s.must(t, module("h", "1.0.0", needs("nowhere 1")))
	want(t, s.resolve("h"), "h 1.0.0 depends on nowhere: the package nowhere@1 is not installed")
}

// TestTiers: a later tier overrides the same id of an earlier one. Flat packages and packages with
// versions are found, and invalid ones are skipped.
func TestTiers(t *testing.T) {
	t.Parallel()
	s, root := newStore(t), t.TempDir()
	s.must(t, module("a", "9.0.0", ""), module("b", "1.0.0", ""), module("c", "1.0.0", ""))
	put := func(dir string, files []archive.File) {
		t.Helper()
		if err := os.MkdirAll(filepath.Join(root, dir), 0o755); err != nil {
			t.Fatal(err)
		}
		for _, f := range files {
			if err := os.WriteFile(filepath.Join(root, dir, filepath.Base(f.Name)), f.Data, 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
	put("project/a", module("a", "1.0.0", ""))
	put("project/b/2.0.0", module("b", "2.0.0", ""))
	put("project/other", module("x", "1.0.0", ""))
	prog := load(t, program("prog", "1"))
	rec, _ := json.Marshal(record{prog.Kind, prog.Digest, "forged", "", prog.records()})
	put("project/prog/1", append(prog.files, archive.File{Name: recordName, Data: rec}))
	put("project/gone", module("gone", "1.0.0", "")[:1])
	put("dev/a", module("a", "0.1.0", ""))
	if err := os.Symlink("/", filepath.Join(root, "project", "link")); err != nil {
		t.Fatal(err)
	}
	tiers := []Tier{Global(s.Dir), {Name: "project", Base: root, Rel: "project"}, {Name: "dev", Base: root, Rel: "dev"}, {Name: "none", Base: root, Rel: "none"}}
	found, problems := Discover(tiers)
	var got []string
	for _, f := range found {
		got = append(got, f.ID+" "+f.Version+" "+f.Tier)
	}
	if diff := cmp.Diff([]string{"a 0.1.0 dev", "b 2.0.0 project", "c 1.0.0 global"}, got); diff != "" {
		t.Error(diff)
	}
	text := diagnostics.Problems(problems)
	var all strings.Builder
	for _, p := range text {
		all.WriteString(p.Message + "\n")
	}
	for _, w := range []string{"gone: skipped", "link: skipped", `its id is "x", expected that of the directory, "other"`, "prog/1: skipped: a program"} {
		want(t, all.String(), w)
	}
	want(t, resolve(Query{Ref: "a", Tiers: tiers}), "a 0.1.0")
	want(t, resolve(Query{Ref: "a@9", Tiers: tiers}), `fulfils "9", found "0.1.0"`)
}

func TestVerify(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	s.must(t, module("a", "1.0.0", `, "colour": "red"`), program("p", "1.0.0"))
	check := func(id string) string {
		t.Helper()
		r, _, err := Resolve(Query{Ref: id, Tiers: []Tier{Global(s.Dir)}})
		if err != nil {
			return err.Error()
		}
		v, err := Verify(r.Found, nil)
		if err != nil {
			t.Fatal(err)
		}
		return strings.Join(append(v.Problems, v.Notes...), "\n")
	}
	want(t, check("a"), `the key "colour" of the manifest is not known and ignored`)
	if got := check("p"); got != "" {
		t.Errorf("a good program: %s", got)
	}
	write := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(s.Dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("a/1.0.0/m.wasm", core+"a1.0.1")
	want(t, check("a"), "integrity check failed for `m.wasm`: checksum mismatch")
	write("p/1.0.0/bin/more", "x")
	want(t, check("p"), `"bin/more" is not in the package`)
	if err := os.Remove(filepath.Join(s.Dir, "p/1.0.0/bin/run")); err != nil {
		t.Fatal(err)
	}
	want(t, check("p"), `"bin/run" is missing`)
	write("p/1.0.0/"+manifest.ProcessFile, strings.Replace(string(program("p", "1.0.0")[0].Data), "./bin/run", "/bin/sh", 1))
	want(t, check("p"), "the package p is not installed")
	_, problems := Discover([]Tier{Global(s.Dir)})
	want(t, problems[0].Message, "is not the one that was installed")
	if removed, err := s.Remove(context.Background(), "p", ""); err != nil || len(removed) != 1 {
		t.Errorf("a damaged package is removed: %v %v", removed, err)
	}
}

// TestTogether: concurrent adds and removes leave only whole packages.
func TestTogether(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	var wg sync.WaitGroup
	for i := range 8 {
		p := load(t, module("a", fmt.Sprintf("1.%d.0", i%4), ""))
		wg.Go(func() {
			for range 3 {
				if _, err := s.Add(context.Background(), p, AddOptions{}); err != nil {
					t.Error(err)
				}
				if i < 4 {
					continue
				}
				var problems diagnostics.Problems // another goroutine may have removed it
				if _, err := s.Remove(context.Background(), "a", p.Version); err != nil && !errors.As(err, &problems) {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	found, problems := Discover([]Tier{Global(s.Dir)})
	if len(problems) > 0 {
		t.Error(problems)
	}
	for _, f := range found {
		if v, err := Verify(f, nil); err != nil || len(v.Problems) > 0 {
			t.Errorf("%s: %v %v", f.Version, v, err)
		}
	}
	if left, _ := os.ReadDir(filepath.Join(s.Dir, tempName)); len(left) > 0 {
		t.Errorf("left: %v", left)
	}
}

func TestState(t *testing.T) {
	t.Parallel()
	got, err := parseState([]byte(`{"plugins": {
		"a": {"version": "0.1.0", "enabled": true, "installed_at": "2026-03-01T12:00:00Z", "source": "registry"},
		"b": {"version": "0.2.0", "enabled": false, "installed_at": "1772366400", "source": "local"},
		"c": {"version": "1", "installed_at": 1772366400}, "d": {"installed_at": "yesterday"},
		"e": {"installed_at": "9999-12-31T23:59:59-01:00"}, "f": {"installed_at": 500000000000}, "g": {"installed_at": "-99999999999"}, "h": {"installed_at": "2026-03-01T13:00:00+01:00"}}}`))
	if err != nil {
		t.Fatal(err)
	}
	at := "2026-03-01T12:00:00Z"
	wanted := states{"a": {"0.1.0", true, at, "registry"}, "b": {"0.2.0", false, at, "local"}, "c": {"1", true, at, ""}, "d": {"", true, "", ""}, "e": {"", true, "", ""}, "f": {"", true, "", ""}, "g": {"", true, "", ""}, "h": {"", true, at, ""}}
	if diff := cmp.Diff(wanted, got); diff != "" {
		t.Error(diff)
	}
}

func TestPack(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	files := module("a", "1.0.0", `, "colour": "red"`)
	files[0].Data = []byte(strings.Replace(string(files[0].Data), sum(files[1].Data), strings.Repeat("0", 64), 1))
	for _, f := range append(files, archive.File{Name: "main.rs"}) {
		if err := os.WriteFile(filepath.Join(dir, f.Name), f.Data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	p, err := Pack(dir, PackOptions{})
	if err != nil {
		t.Fatal(err)
	}
	data := p.Packed
	if again, _ := Pack(dir, PackOptions{}); string(data) != string(again.Packed) {
		t.Error("the same directory makes other bytes")
	}
	read, err := archive.Read(data, archive.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	if got := load(t, read); got.Digest != p.Digest || got.Module.Unknown[0] != "colour" || len(read) != 2 {
		t.Errorf("read back: %+v", got)
	}
	if !strings.HasPrefix(string(data), manifest.ModuleFile+"\x00") {
		t.Error("the manifest is not the first entry")
	}
}

type publicKey = ed25519.PublicKey

func testKey(seed byte) ed25519.PrivateKey {
	return ed25519.NewKeyFromSeed(bytes.Repeat([]byte{seed}, ed25519.SeedSize))
}

// TestRequiredSignature: Add and Resolve apply the same rules for signatures.
func TestRequiredSignature(t *testing.T) {
	t.Parallel()
	key := testKey(7)
	sign := func(p *Package, name string) *Package {
		p.Module.Sign(name, key)
		data := p.file(manifest.ModuleFile).Data
		more := fmt.Sprintf(`, "signature": %q, "signing_key_id": %q}`, p.Module.Signature, name)
		return load(t, []archive.File{{Name: manifest.ModuleFile, Data: append(bytes.TrimSuffix(data, []byte("}")), more...)}, *p.file("m.wasm")})
	}
	keys := manifest.Keys{"acme": testKey(7).Public().(publicKey), "other": testKey(8).Public().(publicKey)}
	for _, c := range []struct {
		name     string
		p        *Package
		required bool
		want     string
	}{
		{"signed", sign(load(t, module("a", "1", "")), "acme"), true, ""},
		{"unsigned", load(t, module("a", "1", "")), true, "has no signature"},
		{"unsigned is enough", load(t, module("a", "1", "")), false, ""},
		{"unknown key", sign(load(t, module("a", "1", "")), "x"), true, `signed with the key "x", which you do not trust`},
		{"unknown key is enough", sign(load(t, module("a", "1", "")), "x"), false, ""},
		{"forged", sign(load(t, module("a", "1", "")), "other"), false, `the trusted key "other" has not signed this manifest`},
		{"program", load(t, program("p", "1")), true, "has no signature"},
	} {
		s := newStore(t)
		_, err := s.Add(context.Background(), c.p, AddOptions{Keys: keys, RequireSigned: c.required})
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: got %v, want %q", c.name, err, c.want)
		}
		if _, err := os.Stat(s.Dir); c.want != "" && err == nil {
			t.Errorf("%s: something was written", c.name)
		}
		if _, err := s.Add(context.Background(), c.p, AddOptions{}); err != nil {
			t.Fatal(err)
		}
		_, _, err = Resolve(Query{Ref: c.p.ID, Tiers: []Tier{Global(s.Dir)}, Keys: keys, RequireSigned: c.required})
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s, installed before: got %v, want %q", c.name, err, c.want)
		}
	}
}
