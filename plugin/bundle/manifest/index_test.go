package manifest

import (
	"fmt"
	"strings"
	"testing"
)

var digest = strings.Repeat("a", 64)

// real and document return the two forms of an index.
func real() string {
	return fmt.Sprintf(`{"plugins": [{"id": "a", "category": "x", "latest": "0.10.0", "versions": [
		{"version": "0.2.0", "download_url": "a2", "sha256": %[1]q, "min_runtime_api": 2, "max_runtime_api": 2, "dependencies": []},
		{"version": "0.10.0", "download_url": "a10", "sha256": %[1]q, "min_runtime_api": 1, "max_runtime_api": 2},
		{"version": "0.11.0", "download_url": "a11", "sha256": %[1]q, "min_runtime_api": 3, "max_runtime_api": 3}]}]}`, digest)
}

func document() string {
	return fmt.Sprintf(`{"id": "b", "name": "B", "license": "MIT", "categories": ["x"], "keywords": [], "versions": [
		{"version": "1.2.0", "min_runtime_api": 2, "max_runtime_api": 2, "sha256": %q, "download_url": "b", "size_bytes": 245760, "published_at": "2026-03-01T12:00:00Z"}]}`, digest)
}

func TestIndex(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ index, ref, want string }{
		{real(), "a", "0.10.0 a10 0"},
		{real(), "a@0.2", "0.2.0 a2 0"},
		{real(), "a@0.11", "plugin runtime API compatibility failed: current=2, supported=3..=3"},
		{real(), "a@9", `no version of a that fulfils "9", found "0.11.0", "0.10.0", "0.2.0"`},
		{real(), "b", `the index has no package "b"`},
		{document(), "b", "1.2.0 b 245760"},
		{"[" + document() + "]", "b@1", "1.2.0 b 245760"},
		{strings.Replace(document(), `"b"`, `"../b"`, 1), "b", "is not valid"},
		{strings.Replace(document(), `"1.2.0"`, `"../1"`, 1), "b", `version "../1" is not valid`},
		{strings.Replace(document(), digest, "abc", 1), "b", "sha256 must be a 64-char hex digest"},
		{strings.Replace(document(), "245760", "-1", 1), "b", "size_bytes is no number of bytes"},
		{strings.Replace(document(), `"download_url": "b"`, `"x": 1`, 1), "b", "download_url is missing"},
		{strings.Replace(real(), "0.10.0\", \"download", "0.2.0\", \"download", 1), "a", "version 0.2.0 of a occurs twice"},
		{"[" + document() + "," + document() + "]", "b", `plugin id "b" occurs twice`},
		{"7", "a", "expected an object or a list"},
		{`{"plugins": {}}`, "a", "expected a list"},
	} {
		got := func() string {
			ix, err := ReadIndex("index.json", []byte(c.index))
			if err != nil {
				return fullText(err)
			}
			id, want, err := ParseReference(c.ref)
			if err != nil {
				t.Fatal(err)
			}
			r, err := ix.Choose(id, want)
			if err != nil {
				return fullText(err)
			}
			return fmt.Sprintln(r.Version, r.URL, r.Size)
		}()
		if !strings.Contains(got, c.want) {
			t.Errorf("%s of %.60s: got %q, want %q", c.ref, c.index, got, c.want)
		}
	}
}

// FuzzIndex: an accepted index has releases whose names may be directories.
func FuzzIndex(f *testing.F) {
	f.Add([]byte(real()))
	f.Add([]byte(document()))
	f.Fuzz(func(t *testing.T, data []byte) {
		ix, err := ReadIndex("index.json", data)
		if err != nil {
			return
		}
		for id := range ix {
			if r, err := ix.Choose(id, Requirement{}); err == nil && (r.ID != id || !ValidID(id) || !ValidVersion(r.Version) || r.Size < 0 || len(r.SHA256) != 64) {
				t.Errorf("accepted: %+v", r)
			}
		}
	})
}
