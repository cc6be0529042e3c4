package cache

import (
	"bytes"
	"io/fs"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/bentobuild/bento/internal/pack"
)

// outputs generates outputs whose paths do not conflict.
func outputs(t *rapid.T) []Output {
	var list []Output
	paths := rapid.SliceOfNDistinct(rapid.StringMatching(`[a-c]{1,2}(/[a-d\n]{1,3}){0,3}`), 0, 12, rapid.ID[string]).Draw(t, "paths")
	for _, p := range sorted(paths) {
		o := Output{Path: p, Kind: rapid.SampledFrom([]Kind{File, Link, Dir}).Draw(t, "kind")}
		switch o.Kind {
		case File:
			copy(o.Digest[:], rapid.SliceOfN(rapid.Byte(), 32, 32).Draw(t, "digest"))
			o.Digest[0] |= 1
			o.Size = rapid.Int64Min(0).Draw(t, "size")
		case Link:
			o.Target = rapid.StringMatching(`[a-z./]{1,9}`).Draw(t, "target")
		}
		if o.Kind != Link {
			o.Mode = 0o777 & rapid.Map(rapid.Uint32(), mode32).Draw(t, "mode")
		}
		if list = append(list, o); checkNesting(list) != nil {
			list = list[:len(list)-1]
		}
	}
	return list
}

func TestRecordRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := &Record{
			Outputs: outputs(t),
			Exit:    rapid.Int().Draw(t, "exit"),
			Log:     Digest{rapid.Byte().Draw(t, "log")},
			LogSize: rapid.Int64Min(0).Draw(t, "size"),
			Created: time.Unix(0, rapid.Int64().Draw(t, "created")).UTC(),
			Host:    rapid.StringN(0, 50, 255).Draw(t, "host"),
		}
		for _, data := range rapid.SliceOfN(rapid.SliceOfN(rapid.Byte(), 0, 40), 0, 4).Draw(t, "small") {
			r.addSmall(Sum(data), data)
		}
		key := Key{rapid.Byte().Draw(t, "key")}
		data, err := EncodeRecord(key, r)
		if err != nil {
			t.Fatal(err)
		}
		got, err := DecodeRecord(key, data, maxRecord)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(r, got); diff != "" {
			t.Fatalf("-want +got:\n%s", diff)
		}
		if _, err := DecodeRecord(Key{0, 1}, data, maxRecord); err == nil {
			t.Fatal("decoded for another key")
		}
		i := rapid.IntRange(0, len(data)-1).Draw(t, "flip")
		data[i] ^= 1 << rapid.IntRange(0, 7).Draw(t, "bit")
		if _, err := DecodeRecord(key, data, maxRecord); err == nil {
			t.Fatalf("decoded with byte %d changed", i)
		}
	})
}

// Bytes with a correct checksum decode to a record that can be encoded again, or are refused.
func FuzzDecodeRecord(f *testing.F) {
	seed := &Record{Small: map[Digest][]byte{Sum([]byte("x")): []byte("x"), Sum(nil): {}}, Host: "h", Outputs: []Output{
		{Path: "a", Kind: File, Digest: Digest{1}, Size: 3, Mode: 0o644},
		{Path: "b", Kind: Link, Target: "a"},
		{Path: "c", Kind: Dir, Mode: 0o755},
	}}
	for _, r := range []*Record{seed, {}} {
		var w pack.Writer
		writeRecord(&w, r)
		f.Add(w.Payload())
	}
	f.Add([]byte(strings.Repeat("\xff", 100)))
	f.Fuzz(func(t *testing.T, fields []byte) {
		data := append([]byte(recordMagic), fields...)
		sum := recordSum(Key{}, data)
		r, err := DecodeRecord(Key{}, append(data, sum[:]...), maxRecord)
		if err != nil {
			return
		}
		if checkNesting(r.Outputs) != nil || r.LogSize < 0 || len(r.Host) > maxHost {
			return
		}
		again, err := EncodeRecord(Key{}, r)
		if err != nil {
			t.Fatalf("decoded, but cannot be encoded: %v", err)
		}
		if r2, err := DecodeRecord(Key{}, again, maxRecord); err != nil || !cmp.Equal(r, r2) {
			t.Fatalf("differs when encoded and decoded again: %v", err)
		}
	})
}

func FuzzDecodeForeign(f *testing.F) {
	f.Add([]byte(recordMagic))
	f.Fuzz(func(t *testing.T, data []byte) {
		if r, err := DecodeRecord(Key{}, data, maxRecord); err == nil {
			again, err := EncodeRecord(Key{}, r)
			if err != nil || !bytes.Equal(again, data) {
				t.Errorf("decoded bytes that nobody has encoded: %v", err)
			}
		}
	})
}

func TestCheckPath(t *testing.T) {
	for _, p := range []string{"a", "a/b", ".a", "..a/b...", "a b\n\xff", "git", ".gitignore", "a/.bento", ".github/x"} {
		if err := CheckPath(p); err != nil {
			t.Errorf("%q: %v", p, err)
		}
	}
	for _, p := range []string{"", ".", "..", "/a", "a/", "a//b", "./a", "a/.", "a/../b", "../a", ".git", "a/.git/b", ".GIT/x", ".bento/index", "a\x00", strings.Repeat("a/", 3000)} {
		if err := CheckPath(p); err == nil {
			t.Errorf("%q: no error", p)
		}
	}
}

func TestCheckTarget(t *testing.T) {
	tests := []struct {
		path, target string
		ok           bool
	}{
		{"a/b", "c", true},
		{"a/b", "../c", true},
		{"a/b", "..", true},
		{"a/b", "../..", false},
		{"a/b", "../../ws/c", false},
		{"a/b", "c/../../..", false},
		{"a/b", "/ws/c", true},
		{"a/b", "/ws", true},
		{"a/b", "/wsx", false},
		{"a/b", "/ws/../etc", false},
		{"a/b", "/etc/passwd", false},
		{"a/b", "", false},
		{"a/b", "c\x00", false},
		{"b", "..b", true},
	}
	for _, tt := range tests {
		if err := CheckTarget("/ws", tt.path, tt.target); (err == nil) != tt.ok {
			t.Errorf("%q -> %q: %v, want ok = %v", tt.path, tt.target, err, tt.ok)
		}
	}
}

func TestDigestText(t *testing.T) {
	d := Sum([]byte("x"))
	text, err := d.MarshalText()
	if err != nil || string(text) != d.String() {
		t.Errorf("%q, %v", text, err)
	}
	var back Digest
	if err := back.UnmarshalText(text); err != nil || back != d {
		t.Errorf("%v, %v", back, err)
	}
	for _, s := range []string{"", "abc", strings.Repeat("g", 64), strings.Repeat("a", 65)} {
		if _, err := ParseKey(s); err == nil {
			t.Errorf("%q: no error", s)
		}
	}
}

func sorted(s []string) []string { return slices.Sorted(slices.Values(s)) }

func mode32(v uint32) fs.FileMode { return fs.FileMode(v) }
