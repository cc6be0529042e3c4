package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
)

// platform is a system that bento is built for, in Go's words.
type platform struct{ os, arch string }

func (p platform) String() string { return p.os + "/" + p.arch }

// parsePlatforms returns the platforms of a comma-separated list.
func parsePlatforms(list string) ([]platform, error) {
	var all []platform
	for text := range strings.SplitSeq(list, ",") {
		system, arch, _ := strings.Cut(text, "/")
		p := platform{system, arch}
		if system != "linux" && system != "darwin" || arch != "amd64" && arch != "arm64" {
			return nil, fmt.Errorf("-platforms %q: expected linux or darwin, and amd64 or arm64, such as linux/amd64", text)
		}
		if slices.Contains(all, p) {
			return nil, fmt.Errorf("-platforms: %s is there twice", p)
		}
		all = append(all, p)
	}
	return all, nil
}

// build is the program for one platform.
type build struct {
	platform
	program []byte
}

// compile builds the program for every platform. It is static, and holds neither paths of this machine nor
// the state of the repository.
func (r *release) compile(ctx context.Context) error {
	for _, p := range r.platforms {
		program, err := r.goBuild(ctx, p)
		if err != nil {
			return err
		}
		r.builds = append(r.builds, build{p, program})
	}
	return nil
}

func (r *release) goBuild(ctx context.Context, p platform) ([]byte, error) {
	to := filepath.Join(r.work, "bento-"+p.os+"-"+p.arch)
	cmd := exec.CommandContext(ctx, "go", "build", "-trimpath", "-buildvcs=false", "-ldflags=-s -w -buildid= -X main.released="+r.version, "-o", to, "./cmd/bento")
	cmd.Dir = r.source
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOFLAGS=", "GOOS="+p.os, "GOARCH="+p.arch, "GOAMD64=v1", "GOARM64=v8.0")
	if out, err := cmd.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("build for %s: %w\n%s", p, err, out)
	}
	return os.ReadFile(to)
}

// document makes the completions and the manual pages, with the program for this machine.
func (r *release) document(ctx context.Context) error {
	here := platform{runtime.GOOS, runtime.GOARCH}
	if !slices.Contains(r.platforms, here) {
		if _, err := r.goBuild(ctx, here); err != nil {
			return err
		}
	}
	bento := filepath.Join(r.work, "bento-"+here.os+"-"+here.arch)
	for _, c := range []struct{ shell, path string }{
		{"bash", "completions/bento.bash"}, {"zsh", "completions/_bento"}, {"fish", "completions/bento.fish"},
	} {
		out, err := exec.CommandContext(ctx, bento, "completion", c.shell).Output()
		if err != nil {
			return fmt.Errorf("completion of %s: %w", c.shell, err)
		}
		r.pages = append(r.pages, file{path: c.path, data: out})
	}
	dir := filepath.Join(r.work, "man")
	if out, err := exec.CommandContext(ctx, bento, "man", dir).CombinedOutput(); err != nil {
		return fmt.Errorf("manual pages: %w\n%s", err, bytes.TrimSpace(out))
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		data, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			return err
		}
		r.pages = append(r.pages, file{path: "man/man1/" + e.Name(), data: data})
	}
	return nil
}

// text returns a file of the checkout.
func (r *release) text(name string) ([]byte, error) {
	return os.ReadFile(filepath.Join(r.source, name))
}
