package golang_test

import (
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/adapters/adaptertest"
	"github.com/bentobuild/bento/adapters/golang"
	"github.com/bentobuild/bento/adapters/snapshot"
)

func TestRequiredToolchain(t *testing.T) {
	root := adaptertest.Project(t, `
-- mod/go.mod --
module mod
// comment
go 1.22 // from here
toolchain go1.23.4
-- bare/go.mod --
module bare
-- bare/.tool-versions --
golang 1.21.3
-- none/go.mod --
module none
-- ws/go.work --
go 1.25
use ./m
-- ws/m/go.mod --
module m
go 1.24.3
`)
	local, download := golang.New(snapshot.Options{Env: adaptertest.Env("GOWORK=")}), golang.New(snapshot.Options{Env: adaptertest.Env("GOWORK="), AllowDownload: true})
	for _, tt := range []struct {
		a    *golang.Adapter
		dir  string
		want *adapters.Toolchain
	}{
		{local, "mod", &adapters.Toolchain{Version: "1.22", File: "mod/go.mod", Line: 3, Strict: true}},
		{download, "mod", &adapters.Toolchain{Version: "1.23.4", File: "mod/go.mod", Line: 4}},
		{local, "bare", &adapters.Toolchain{Version: "1.21.3", File: "bare/.tool-versions", Line: 1}},
		{local, "none", nil},
		{local, "ws/m", &adapters.Toolchain{Version: "1.25", File: "ws/go.work", Line: 1, Strict: true}},
	} {
		got, err := tt.a.RequiredToolchain(t.Context(), filepath.Join(root, tt.dir))
		if err != nil {
			t.Fatal(err)
		}
		if got != nil {
			got.File = adaptertest.Relative(root, got.File)
		}
		if tt.want != nil {
			tt.want.Tool = "go"
		}
		if d := cmp.Diff(tt.want, got); d != "" {
			t.Errorf("%s: %s", tt.dir, d)
		}
	}
}

func TestCheckPin(t *testing.T) {
	a := golang.New(snapshot.Options{Env: adaptertest.Env()})
	for _, tt := range []struct {
		file, want, have string
		ok               bool
	}{
		{"/w/go.mod", "1.22", "go1.26.8", true},
		{"/w/go.mod", "1.26.8", "go1.26.8", true},
		{"/w/go.mod", "1.26.9", "go1.26.8", false},
		{"/w/go.work", "1.99", "go1.26.8", false},
		{"/w/go.mod", "1.27rc2", "go1.27rc1", false},
		{"/w/go.mod", "1.27", "go1.27rc1", true},
		{"/w/go.mod", "1.22", "go1.22.1-vendor X:exp", true},
		{"/w/go.mod", "1.99", "devel go1.100-abcdef Mon Jan 1", true},
		{"/w/.tool-versions", "1.26", "go1.26.8", true},
		{"/w/.tool-versions", "1.26.7", "go1.26.8", false},
		{"/w/bento.toml", "1.2", "go1.26.8", false},
		{"/w/bento.toml", "go1.26.8", "go1.26.8", true},
		{"/w/bento.toml", ">=1.25, <2", "go1.26.8", true},
		{"/w/bento.toml", "^1.27", "go1.26.8", false},
		{"/w/bento.toml", "nonsense", "go1.26.8", false},
	} {
		got := a.CheckPin(adapters.Toolchain{Tool: "go", Version: tt.want, File: tt.file}, "CC=gcc\nGOVERSION="+tt.have+"\n")
		if got.OK != tt.ok || !got.OK && (got.Hint == "" || got.Found == "") {
			t.Errorf("%s %s with %s: %+v", filepath.Base(tt.file), tt.want, tt.have, got)
		}
	}
}
