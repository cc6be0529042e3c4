package golang_test

import (
	"archive/zip"
	"bytes"
	"maps"
	"slices"
	"testing"

	"github.com/bentobuild/bento/adapters/adaptertest"
)

// zipModule writes the archive of a module as a proxy serves it.
func zipModule(t *testing.T, path, prefix string, files map[string]string) {
	t.Helper()
	var buf bytes.Buffer
	w := zip.NewWriter(&buf)
	for _, name := range slices.Sorted(maps.Keys(files)) {
		f, err := w.Create(prefix + name)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := f.Write([]byte(files[name])); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	adaptertest.Write(t, path, buf.String())
}
