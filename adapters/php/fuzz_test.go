package php_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/bentobuild/bento/adapters/adaptertest"
)

func FuzzPin(f *testing.F) {
	for _, seed := range []string{"8.2\n", "php-8.2.1\r\n", "\ufeff8", "system", "^8.2 || ~7", "8.2.36"} {
		f.Add([]byte(seed))
	}
	a := newPHP()
	f.Fuzz(func(t *testing.T, data []byte) {
		dir := t.TempDir()
		adaptertest.Write(t, filepath.Join(dir, "composer.json"), "{}")
		adaptertest.Write(t, filepath.Join(dir, ".php-version"), string(data))
		pin, err := a.RequiredToolchain(t.Context(), dir)
		if err != nil {
			t.Fatal(err)
		}
		if pin == nil {
			return
		}
		if pin.Line != 1 || pin.Version == "" || pin.Version != strings.TrimSpace(pin.Version) || strings.Contains(pin.Version, "\n") {
			t.Fatalf("%+v", pin)
		}
		if v := a.CheckPin(*pin, "php 8.2.36\nx"); v.Found != "8.2.36" || v.OK == (v.Hint != "") {
			t.Fatalf("%+v", v)
		}
	})
}
