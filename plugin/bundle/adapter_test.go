package bundle

import (
	"bytes"
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bentobuild/bento/plugin/bundle/archive"
	"github.com/bentobuild/bento/plugin/bundle/manifest"
)

// adapterFiles returns the files of an adapter's package. The text more has further members of the
// manifest.
func adapterFiles(id, version, more string) []archive.File {
	text := fmt.Sprintf(`{"id": %q, "version": %q, "protocol_version": 1, "program": "bento-adapter-%s"%s}`, id, version, id, more)
	return []archive.File{
		{Name: manifest.AdapterFile, Data: []byte(text)},
		{Name: "bento-adapter-" + id, Data: []byte("#!/bin/sh\n# " + version + "\n"), Exec: true},
	}
}

func TestAdapterPackage(t *testing.T) {
	t.Parallel()
	good := func() []archive.File { return adapterFiles("a", "1.0.0", "") }
	for _, c := range []struct {
		name  string
		files []archive.File
		want  string
	}{
		{"good", good(), ""},
		{"with a licence", append(good(), archive.File{Name: "LICENSE"}, archive.File{Name: "README.md"}), ""},
		{"in a directory", []archive.File{{Name: "top/" + manifest.AdapterFile, Data: good()[0].Data}, {Name: "top/bento-adapter-a"}}, ""},
		{"no program", good()[:1], `"bento-adapter-a" is missing`},
		{"two programs", append(good(), archive.File{Name: "lib/helper.py"}), `entry "lib/helper.py": expected only`},
		{"a licence in a directory", append(good(), archive.File{Name: "LICENSE/x"}), "expected only"},
		{"another program", []archive.File{{Name: manifest.AdapterFile, Data: bytes.Replace(good()[0].Data, []byte("bento-adapter-a"), []byte("../sh"), 1)}}, `program "../sh": expected`},
		{"an id with a dot", []archive.File{{Name: manifest.AdapterFile, Data: bytes.Replace(good()[0].Data, []byte(`"a"`), []byte(`"a.b"`), 1)}}, `id "a.b" is not valid`},
		{"another protocol", []archive.File{{Name: manifest.AdapterFile, Data: bytes.Replace(good()[0].Data, []byte(": 1,"), []byte(": 2,"), 1)}}, "protocol_version: expected 1"},
		{"no protocol", []archive.File{{Name: manifest.AdapterFile, Data: bytes.Replace(good()[0].Data, []byte("protocol_version"), []byte("protocol"), 1)}}, "protocol_version is missing"},
		{"a platform that is none", adapterFiles("a", "1", `, "platform": "linux"`), `platform "linux" is not valid`},
	} {
		_, err := Load(c.files)
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: got %v, want %q", c.name, err, c.want)
		}
	}
	tools := newStore(t)
	_, err := tools.Add(context.Background(), load(t, good()), AddOptions{})
	wantErr(t, err, "a 1.0.0 is the package of an adapter, expected that of a tool")
	plugins := &Store{Dir: filepath.Join(t.TempDir(), "plugins"), Plugins: true}
	_, err = plugins.Add(context.Background(), load(t, module("a", "1.0.0", "")), AddOptions{})
	wantErr(t, err, "a 1.0.0 is the package of a tool, expected that of an adapter")
}
