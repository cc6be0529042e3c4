package composer_test

import (
	"errors"
	"testing"

	"github.com/bentobuild/bento/adapters/php/composer"
	"github.com/bentobuild/bento/diagnostics"
)

func FuzzParseManifest(f *testing.F) {
	for _, seed := range []string{
		`{"name": "a/b", "require": {"php": "^8"}, "repositories": [{"type": "path", "url": "../*"}], "scripts": {"x": ["y"]}}`,
		`{"repositories": {"a": {"type": "path"}}, "config": {"bin-dir": "{$vendor-dir}/b", "platform": {"php": 1}}}`,
		`{"autoload": {"psr-4": {"A\\": ["../x", 1]}, "files": ["/x"]}, "require": []}`, `[]`, "\ufeff{}", "{\"name\": \"\\ud800\"}",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		m, err := composer.ParseManifest("/w/composer.json", data)
		var problems diagnostics.Problems
		if err != nil && (!errors.As(err, &problems) || problems[0].Line < 1) {
			t.Errorf("%v: no place", err)
		}
		if err == nil && (m.VendorDir == "" || m.BinDir == "") {
			t.Errorf("%+v", m)
		}
	})
}

func FuzzParseLock(f *testing.F) {
	f.Add([]byte(`{"packages": [{"name": "a/b", "dist": {"type": "path", "url": ".."}, "require": {"c": "1"}}], "packages-dev": []}`))
	f.Add([]byte(`{"packages": [1], "packages-dev": {}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		l, err := composer.ParseLock("/w/composer.lock", data)
		if err != nil {
			t.Fatal(err)
		}
		if digest, why := l.Digest(); (digest == "") == (why == "") {
			t.Errorf("%q and %q", digest, why)
		}
	})
}
