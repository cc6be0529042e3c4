package requirements

import (
	"encoding/binary"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/google/go-cmp/cmp"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/adapters/snapshot"
	"github.com/bentobuild/bento/diagnostics"
)

func TestParse(t *testing.T) {
	for text, want := range map[string]Requirement{
		"six": {Name: "six"},
		"Flask_Login[async, x] >=1.0,<2 ; python_version < '3.9'": {Name: "flask-login", Spec: ">=1.0,<2"},
		"zope.interface (>=5)":             {Name: "zope-interface", Spec: ">=5"},
		"lib @ file:///opt/lib#egg=lib":    {Name: "lib", Path: "/opt/lib"},
		"lib@file:../my%20lib":             {Name: "lib", Path: "/w/my lib"},
		"lib @ https://x/y.whl":            {Name: "lib"},
		"lib @ {root:uri}/../lib":          {Name: "lib"},
		"./lib[extra]":                     {Path: "/w/app/lib"},
		"../lib ; sys_platform == 'linux'": {Path: "/w/lib"},
		"libs/one.whl":                     {Path: "/w/app/libs/one.whl"},
		".":                                {Path: "/w/app"},
		"/opt/x":                           {Path: "/opt/x"},
		"git+https://x/y@main#egg=y":       {},
		"https://x/y.whl":                  {},
		"${DIR}/lib":                       {},
		"":                                 {},
		"-.-":                              {},
	} {
		got := Parse(text, "/w/app")
		want.Text = text
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%q: %s", text, diff)
		}
	}
	if !(Requirement{Path: "/a/x.tar.gz"}).IsArchive() || (Requirement{Path: "/a/x"}).IsArchive() {
		t.Error("archives are not told apart")
	}
}

func TestRead(t *testing.T) {
	root := t.TempDir()
	for name, text := range map[string]string{
		"app/requirements.txt": "# comment\r\n-r ../shared/base.txt\n--requirement=more.txt\n-cconstraints.txt\n--index-url https://x/simple\n" +
			"\nsix==1.16.0 \\\n  --hash=sha256:aa \\\n  --hash=sha256:bb # why\n-e ../lib # ours\n--editable ./own[x]\nurl#fragment\n-r https://x/r.txt\n",
		"shared/base.txt":     "-r ../app/requirements.txt\nattrs>=20; python_version<'4' # x\n",
		"app/more.txt":        "\xef\xbb\xbfpytest\\\n>=7\n",
		"app/constraints.txt": "urllib3<2\n-c nested.txt\n",
		"app/nested.txt":      "idna<3",
	} {
		path := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	in := func(name string) string { return filepath.Join(root, name) }
	f := snapshot.NewFiles(in("app"))
	got, err := Read(f, "requirements.txt")
	if err != nil {
		t.Fatal(err)
	}
	want := &Set{
		Hashed: true,
		Files:  []string{in("app/requirements.txt"), in("shared/base.txt"), in("app/more.txt"), in("app/constraints.txt"), in("app/nested.txt")},
		Requirements: []Requirement{
			{Text: "attrs>=20; python_version<'4'", Name: "attrs", Spec: ">=20", File: in("shared/base.txt"), Line: 2},
			{Text: "pytest>=7", Name: "pytest", Spec: ">=7", File: in("app/more.txt"), Line: 1},
			{Text: "six==1.16.0", Name: "six", Spec: "==1.16.0", Hashed: true, File: in("app/requirements.txt"), Line: 7},
			{Text: "../lib", Path: in("lib"), Editable: true, File: in("app/requirements.txt"), Line: 10},
			{Text: "./own[x]", Path: in("app/own"), Editable: true, File: in("app/requirements.txt"), Line: 11},
			{Text: "url#fragment", Name: "url", Spec: "#fragment", File: in("app/requirements.txt"), Line: 12},
		},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if !got.Has("pytest") || got.Has("urllib3") || (*Set)(nil).Has("x") {
		t.Error("Has is wrong")
	}
	if none, err := Read(f, "none.txt"); none != nil || err != nil || f.Reads()[in("app/none.txt")].Kind == adapters.Unseen {
		t.Errorf("no file: %v, %v", none, err)
	}
}

func TestReadTellsMissingInclude(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "requirements.txt")
	if err := os.WriteFile(path, []byte("six\n\n-r dev.txt\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	_, err := Read(snapshot.NewFiles(dir), path)
	var problems diagnostics.Problems
	if !errors.As(err, &problems) || err.Error() != path+":3: the included file \"dev.txt\" does not exist" {
		t.Errorf("got %v", err)
	}
}

func TestReadUTF16(t *testing.T) {
	dir := t.TempDir()
	for name, order := range map[string]binary.AppendByteOrder{"le.txt": binary.LittleEndian, "be.txt": binary.BigEndian} {
		var data []byte
		for _, u := range utf16.Encode([]rune("\uFEFFsix==1\r\npytest\r\n")) {
			data = order.AppendUint16(data, u)
		}
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o644); err != nil {
			t.Fatal(err)
		}
		got, err := Read(snapshot.NewFiles(dir), name)
		if err != nil || len(got.Requirements) != 2 || !got.Has("pytest") {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
}

func FuzzRead(f *testing.F) {
	f.Add([]byte("-r a.txt\nsix==1 \\\n --hash=sha256:00\n-e ./x[y] ; z\n"))
	f.Add([]byte("\xff\xfes\x00i\x00x\x00"))
	f.Add([]byte("lib @ file:../x%zz#egg\n--editable=.\n\\\n#\\\n-c"))
	f.Fuzz(func(t *testing.T, data []byte) {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, "r.txt"), data, 0o644); err != nil {
			t.Fatal(err)
		}
		set, err := Read(snapshot.NewFiles(dir), "r.txt")
		if err != nil {
			return
		}
		lines := 1 + strings.Count(decode(data), "\n")
		for _, r := range set.Requirements {
			if r.Line < 1 || r.Line > lines {
				t.Fatalf("line %d of %d", r.Line, lines)
			}
			if r.Path != "" && !filepath.IsAbs(r.Path) {
				t.Fatalf("path %q", r.Path)
			}
		}
	})
}
