package script

import (
	"errors"
	"path/filepath"
	"testing"

	"github.com/bentobuild/bento/diagnostics"
)

func seeds(f *testing.F) {
	for _, seed := range []string{
		"include 'a', \":b:c\"\nproject(':a').projectDir = file('../x')\nincludeBuild '../y'\n", "include(\"a\",)\n", "x = /a'/ + $/b/$ + '''c''' + \"\"\"${d(\"e\")}\"\"\"",
		"plugins { id 'java'; id(\"x\") apply false; alias(libs.plugins.a.b) }\nsubprojects { dependencies { api project(path: ':l') } }", "`a b` /* /* */",
		"java { toolchain { languageVersion = JavaLanguageVersion.of(17) } }\nsourceCompatibility = JavaVersion.VERSION_1_8", "\ufeff#!/x\n\\\n",
	} {
		f.Add([]byte(seed))
	}
}

func mustHavePlace(t *testing.T, err error) {
	t.Helper()
	var p diagnostics.Problems
	if !errors.As(err, &p) || len(p) == 0 || p[0].Line < 1 {
		t.Fatalf("%v: no place", err)
	}
}

func FuzzSettings(f *testing.F) {
	seeds(f)
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, name := range []string{"/w/settings.gradle", "/w/settings.gradle.kts"} {
			s, err := ParseSettings(name, data)
			if err != nil {
				mustHavePlace(t, err)
				continue
			}
			for path, p := range s.Projects {
				if path == "" || path[0] != ':' || !filepath.IsAbs(p.Dir) {
					t.Errorf("project %q in %q", path, p.Dir)
				}
			}
		}
	})
}

func FuzzBuild(f *testing.F) {
	seeds(f)
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, name := range []string{"/w/build.gradle", "/w/build.gradle.kts"} {
			if _, err := ParseBuild(name, data); err != nil {
				mustHavePlace(t, err)
			}
		}
	})
}

func FuzzCatalog(f *testing.F) {
	f.Add([]byte("[versions]\njava = 3.10\n[plugins]\na-b = { id = \"c\" }\nd = \"e:f\"\n"))
	f.Add([]byte("versions = 1\nplugins = [1]"))
	f.Fuzz(func(t *testing.T, data []byte) {
		if _, err := ParseCatalog("/w/libs.versions.toml", data); err != nil {
			var p diagnostics.Problems
			if !errors.As(err, &p) {
				t.Fatal(err)
			}
		}
	})
}
