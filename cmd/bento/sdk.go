package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"golang.org/x/mod/modfile"

	"github.com/bentobuild/bento/internal/clone"
	"github.com/bentobuild/bento/internal/pattern"
	"github.com/bentobuild/bento/plugin/scaffold"
)

// sdkModule is the module of the SDK for Go.
const sdkModule = "github.com/bentobuild/bento"

// plainVersion matches the version of a release.
var plainVersion = pattern.New(`^(0|[1-9][0-9]*)\.(0|[1-9][0-9]*)\.(0|[1-9][0-9]*)$`)

const sdkUsage = "the `VERSION` of the SDK for Go, or the directory of a checkout; default this one"

// sdk returns the SDK of a new project in language. named is a version, the directory of a checkout, or "" for
// what this bento was built from.
func (s *session) sdk(language, named string) (scaffold.SDK, error) {
	if language != "go" {
		if named != "" {
			return scaffold.SDK{}, usageError("--sdk is for --lang go alone", "leave it out: the other languages need no SDK")
		}
		return scaffold.SDK{}, nil
	}
	version := publishedVersion()
	if named != "" {
		version = ""
		if v := trimV(named); plainVersion.MatchString(v) {
			version = v
		}
	}
	if version != "" {
		return scaffold.SDK{Module: "require " + sdkModule + " v" + version}, nil
	}
	dir := named
	if dir == "" {
		if dir = checkout(); dir == "" {
			return scaffold.SDK{}, notFound("unknown_sdk", "this is a development build of bento outside of its checkout: no version of the SDK belongs to it",
				"name a released version or a checkout: --sdk 0.2.0, --sdk ../bento")
		}
	}
	dir, err := filepath.Abs(dir)
	if err == nil && !isCheckout(dir) {
		err = errors.New("it has no go.mod of " + sdkModule)
	}
	if err != nil {
		return scaffold.SDK{}, notFound("unknown_sdk", fmt.Sprintf("--sdk %q is neither a version nor a checkout of bento: %v", named, err),
			"name a released version or a checkout: --sdk 0.2.0, --sdk ../bento")
	}
	sum, err := clone.At(dir).Read("go.sum", 1<<20)
	return scaffold.SDK{
		Module: "require " + sdkModule + " v0.0.0\n\nreplace " + sdkModule + " => " + modfile.AutoQuote(dir),
		Sum:    string(sum),
	}, err
}

// checkout returns the checkout that this program was built in, "" if it lies in none.
func checkout() string {
	path, err := executable()
	if err == nil {
		path, err = filepath.EvalSymlinks(path)
	}
	if err != nil {
		return ""
	}
	for dir := filepath.Dir(path); ; dir = filepath.Dir(dir) {
		if isCheckout(dir) {
			return dir
		}
		if dir == filepath.Dir(dir) {
			return ""
		}
	}
}

// isCheckout reports whether dir has the module of the SDK.
func isCheckout(dir string) bool {
	data, err := clone.At(dir).Read("go.mod", 1<<20)
	return err == nil && modfile.ModulePath(data) == sdkModule && isDir(filepath.Join(dir, "plugin"))
}

func isDir(path string) bool {
	fi, err := os.Stat(path)
	return err == nil && fi.IsDir()
}
