// Command release builds everything that a version of bento is published as: archives, packages for npm,
// PyPI and Debian, an image, entries for Homebrew, mise and aqua, a bill of materials, checksums and
// signatures. It publishes nothing. The same source and version always give the same bytes.
//
//	go run ./internal/release -version 0.2.0 -out dist
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Args[1:], os.Stdout); err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(1)
	}
}

// release is one version that is being built.
type release struct {
	version   string
	out       string    // the directory of the results, absolute
	work      string    // a temporary directory
	source    string    // the checkout
	date      time.Time // of every file in every archive
	platforms []platform
	names     []string // the files in out
	builds    []build
	pages     []file // completions and manual pages
	keys      keys
}

// plainVersion matches a version that npm, PyPI, Debian and Go write alike.
var plainVersion = regexp.MustCompile(`^(0|[1-9][0-9]*)\.(0|[1-9][0-9]*)\.(0|[1-9][0-9]*)$`)

func run(ctx context.Context, args []string, list io.Writer) error {
	set := flag.NewFlagSet("release", flag.ContinueOnError)
	version := set.String("version", "", "the `version`, such as 0.2.0")
	out := set.String("out", "dist", "the new `directory` of the results")
	targets := set.String("platforms", "linux/amd64,linux/arm64,darwin/amd64,darwin/arm64", "a `list` of GOOS/GOARCH")
	r := &release{}
	set.StringVar(&r.keys.minisign, "minisign", "", "sign with the minisign key in `FILE`, whose password is $BENTO_MINISIGN_PASSWORD")
	set.StringVar(&r.keys.ecdsa, "cosign", "", "sign with the P-256 key in `FILE` (PEM), as cosign sign-blob does")
	if err := set.Parse(args); err != nil {
		return err
	}
	if r.version = strings.TrimPrefix(*version, "v"); !plainVersion.MatchString(r.version) {
		return fmt.Errorf("-version %q: expected MAJOR.MINOR.PATCH: make release VERSION=0.2.0", *version)
	}
	if err := r.prepare(ctx, *out, *targets); err != nil {
		return err
	}
	defer os.RemoveAll(r.work)
	for _, step := range []func(context.Context) error{
		r.compile, r.document, r.archives, r.npm, r.wheels, r.debs, r.image, r.materials, r.script, r.sums, r.entries, r.sign,
	} {
		if err := step(ctx); err != nil {
			return err
		}
	}
	slices.Sort(r.names)
	for _, name := range r.names {
		fmt.Fprintln(list, name)
	}
	return nil
}

// prepare makes the directories and reads the date of the source.
func (r *release) prepare(ctx context.Context, out, targets string) (err error) {
	if r.platforms, err = parsePlatforms(targets); err != nil {
		return err
	}
	top, err := exec.CommandContext(ctx, "go", "list", "-m", "-f", "{{.Dir}}").Output()
	if err != nil {
		return fmt.Errorf("find the module: %w", err)
	}
	r.source = strings.TrimSpace(string(top))
	if r.date, err = sourceDate(ctx); err != nil {
		return err
	}
	if r.out, err = filepath.Abs(out); err != nil {
		return err
	}
	if old, err := os.ReadDir(r.out); err == nil && len(old) > 0 {
		return fmt.Errorf("%q is not empty: name a new directory with -out, or remove it", r.out)
	}
	if err := os.MkdirAll(r.out, 0o755); err != nil {
		return err
	}
	r.work, err = os.MkdirTemp("", "bento-release-")
	return err
}

// sourceDate returns the time of the last commit, or that of $SOURCE_DATE_EPOCH, in seconds.
func sourceDate(ctx context.Context) (time.Time, error) {
	text := os.Getenv("SOURCE_DATE_EPOCH")
	if text == "" {
		out, err := exec.CommandContext(ctx, "git", "log", "-1", "--format=%ct").Output()
		if err != nil {
			return time.Time{}, errors.New("no commit has a date here: set SOURCE_DATE_EPOCH")
		}
		text = strings.TrimSpace(string(out))
	}
	seconds, err := strconv.ParseInt(text, 10, 64)
	if err != nil || seconds < 0 {
		return time.Time{}, fmt.Errorf("SOURCE_DATE_EPOCH %q: expected seconds since 1970", text)
	}
	return time.Unix(seconds, 0).UTC(), nil
}

// write writes a result.
func (r *release) write(name string, data []byte) error {
	r.names = append(r.names, name)
	return os.WriteFile(filepath.Join(r.out, name), data, 0o644)
}
