package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"aead.dev/minisign"
	"github.com/google/go-cmp/cmp"

	"github.com/bentobuild/bento/adapters/adaptertest"
)

const testVersion = "9.8.7"

// makeRelease builds the release for this machine's platform from the checkout in dir.
func makeRelease(t *testing.T, dir string, args ...string) (out string) {
	t.Helper()
	out = filepath.Join(t.TempDir(), "dist")
	t.Chdir(dir)
	args = append([]string{"-version", testVersion, "-out", out, "-platforms", runtime.GOOS + "/" + runtime.GOARCH}, args...)
	if err := run(t.Context(), args, io.Discard); err != nil {
		t.Fatal(err)
	}
	return out
}

// TestRelease builds a release twice, from two checkouts, and installs it through every door, each time into a new
// directory.
func TestRelease(t *testing.T) {
	if testing.Short() {
		t.Skip("it builds bento")
	}
	adaptertest.Need(t, "go", "git")
	t.Setenv("SOURCE_DATE_EPOCH", "1700000000")
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	source := filepath.Dir(filepath.Dir(here))
	minisignKey, ecdsaKey, checkSignatures := signingKeys(t)
	out := makeRelease(t, source, "-minisign", minisignKey, "-cosign", ecdsaKey)
	again := makeRelease(t, cloneOf(t, source))

	if diff := cmp.Diff(sumsOf(t, out, ".minisig", ".sig"), sumsOf(t, again)); diff != "" {
		t.Errorf("another checkout makes another release (-first +second):\n%s", diff)
	}
	checkSignatures(t, out)
	for _, door := range []struct {
		name string
		open func(t *testing.T, out string) (bento string)
	}{
		{"archive", byScript}, {"npm", byNPM}, {"pnpm", byPNPM}, {"yarn", byYarn}, {"bun", byBun}, {"pip", byPip}, {"pipx", byPipx}, {"uv", byUV}, {"deb", byDeb}, {"image", byImage}, {"container", byContainer},
	} {
		t.Run(door.name, func(t *testing.T) {
			start := time.Now()
			bento := door.open(t, out)
			firstGreen(t, source, bento, start)
			works(t, bento)
		})
	}
	t.Run("update", func(t *testing.T) { updates(t, out) })
	t.Run("checksum", func(t *testing.T) { refusesAnotherArchive(t, out) })
	t.Run("materials", func(t *testing.T) { listsModules(t, out) })
}

// TestVersions refuses what is no version of a release.
func TestVersions(t *testing.T) {
	for _, version := range []string{"", "1", "1.2", "01.2.3", "1.2.3-rc1", "1.2.3\n", "../1.2.3"} {
		if err := run(t.Context(), []string{"-version", version, "-out", t.TempDir()}, io.Discard); err == nil || !strings.Contains(err.Error(), "MAJOR.MINOR.PATCH") {
			t.Errorf("-version %q: %v, want an error that shows the form", version, err)
		}
	}
	for _, list := range []string{"", "linux", "windows/amd64", "linux/386", "linux/amd64,linux/amd64"} {
		if _, err := parsePlatforms(list); err == nil {
			t.Errorf("-platforms %q was accepted", list)
		}
	}
}

// cloneOf copies what git has of a checkout, with its changes, to another directory.
func cloneOf(t *testing.T, source string) string {
	t.Helper()
	dir := t.TempDir()
	list, err := exec.Command("git", "-C", source, "ls-files", "-z", "--cached", "--others", "--exclude-standard").Output()
	if err != nil {
		t.Fatal(err)
	}
	for name := range strings.SplitSeq(strings.TrimSuffix(string(list), "\x00"), "\x00") {
		fi, err := os.Lstat(filepath.Join(source, name))
		if err != nil || !fi.Mode().IsRegular() {
			continue // deleted, or a link, which no package has
		}
		data, err := os.ReadFile(filepath.Join(source, name))
		if err != nil {
			t.Fatal(err)
		}
		put(t, filepath.Join(dir, name), data, fi.Mode().Perm())
	}
	return dir
}

func put(t *testing.T, path string, data []byte, mode os.FileMode) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, data, mode); err != nil {
		t.Fatal(err)
	}
}

// sumsOf returns the digest of each file of a directory, without those that end in without.
func sumsOf(t *testing.T, dir string, without ...string) map[string]string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	sums := make(map[string]string)
	for _, e := range entries {
		if !slices.ContainsFunc(without, func(end string) bool { return strings.HasSuffix(e.Name(), end) }) {
			sums[e.Name()] = digest(read(t, filepath.Join(dir, e.Name())))
		}
	}
	return sums
}

func read(t *testing.T, path string) []byte {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// one returns the one result that matches a pattern.
func one(t *testing.T, out, pattern string) string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(out, pattern))
	if err != nil || len(found) != 1 {
		t.Fatalf("%s: found %v, %v; want one file", pattern, found, err)
	}
	return found[0]
}

// works runs a workspace with an installed bento, without Go on PATH.
func works(t *testing.T, bento string) {
	t.Helper()
	if got := must(t, t.TempDir(), bento, "version"); got != "bento "+testVersion+"\n" {
		t.Errorf("bento version printed %q", got)
	}
	dir := t.TempDir()
	put(t, filepath.Join(dir, "bento.toml"), nil, 0o644)
	put(t, filepath.Join(dir, "a/dish.toml"), []byte("language = \"none\"\n[tasks.build]\nrun = \"echo made > o\"\noutputs = [\"o\"]\n"), 0o644)
	must(t, dir, bento, "ci")
	if err := os.Remove(filepath.Join(dir, "a/o")); err != nil {
		t.Fatal(err)
	}
	if got := must(t, dir, bento, "ci"); !strings.Contains(got, "1 hit") || string(read(t, filepath.Join(dir, "a/o"))) != "made\n" {
		t.Errorf("the second run was no hit with its output:\n%s", got)
	}
}

// must runs a command in dir with a home of its own, and returns what it prints on stdout.
func must(t *testing.T, dir string, args ...string) string {
	t.Helper()
	var out, errs bytes.Buffer
	cmd := command(dir, args...)
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil {
		t.Fatalf("%s: %v\n%s%s", strings.Join(args, " "), err, &out, &errs)
	}
	return out.String()
}

func command(dir string, args ...string) *exec.Cmd {
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Dir = dir
	home := filepath.Join(dir, ".home")
	cmd.Env = append(slices.DeleteFunc(os.Environ(), func(s string) bool { return strings.HasPrefix(s, "XDG_") || strings.HasPrefix(s, "BENTO_") }),
		"HOME="+home, "BENTO_CACHE_DIR="+filepath.Join(home, "cache"), "NO_COLOR=1", "CI=", "GITHUB_ACTIONS=")
	return cmd
}

// updates replaces an installed program by the next version, which is a script, and refuses one that npm has
// installed. A workspace for the next version refuses this one.
func updates(t *testing.T, out string) {
	const next = "9.8.8"
	downloads, bento := layOut(t, out), byScript(t, out)
	name := "bento-" + next + "-" + runtime.GOOS + "-" + runtime.GOARCH
	archive, err := tarGz(name+"/", []file{{path: "bento", data: []byte("#!/bin/sh\necho bento " + next + "\n"), program: true}}, time.Unix(0, 0))
	if err != nil {
		t.Fatal(err)
	}
	sums := fmt.Appendf(nil, "%x  %s.tar.gz\n", sha256.Sum256(archive), name)
	put(t, filepath.Join(downloads, "v"+next, name+".tar.gz"), archive, 0o644)
	put(t, filepath.Join(downloads, "v"+next, sumsName), sums, 0o644)
	put(t, filepath.Join(downloads, "latest/download", sumsName), sums, 0o644)
	files := http.FileServer(http.Dir(downloads))
	server := httptest.NewServer(http.StripPrefix("/releases", http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		r.URL.Path = strings.TrimPrefix(r.URL.Path, "/download")
		if strings.HasPrefix(r.URL.Path, "/latest") {
			r.URL.Path = "/latest/download/" + sumsName
		}
		files.ServeHTTP(w, r)
	})))
	t.Cleanup(server.Close)
	run := func(bento string, args ...string) (string, error) {
		cmd := command(filepath.Dir(bento), append([]string{bento}, args...)...)
		cmd.Env = append(cmd.Env, "BENTO_RELEASES="+server.URL+"/releases/download")
		text, err := cmd.CombinedOutput()
		return string(text), err
	}
	put(t, filepath.Join(filepath.Dir(bento), "w/bento.toml"), []byte("[workspace]\nversion = \">=9.8.8\"\n"), 0o644)
	if text, err := run(bento, "-C", "w", "plan"); err == nil || !strings.Contains(text, "bento.toml:2:11") || !strings.Contains(text, "this is bento "+testVersion) {
		t.Errorf("a workspace for the next version: %v\n%s", err, text)
	}
	if text, err := run(bento, "version", "--check"); err != nil || !strings.Contains(text, "the newest is "+next) {
		t.Errorf("version --check: %v\n%s", err, text)
	}
	if text, err := run(bento, "self", "update", "--version", testVersion); err != nil || !strings.Contains(text, "that version already") {
		t.Errorf("self update to the same version: %v\n%s", err, text)
	}
	managed := filepath.Join(t.TempDir(), "node_modules/bento-build-linux-x64/bento")
	put(t, managed, read(t, bento), 0o755)
	if text, err := run(managed, "self", "update"); err == nil || !strings.Contains(text, "npm install bento-build@latest") {
		t.Errorf("self update of npm's program: %v\n%s", err, text)
	}
	if text, err := run(bento, "self", "update"); err != nil || !strings.Contains(text, "replaced by "+next) {
		t.Errorf("self update: %v\n%s", err, text)
	}
	if got := must(t, t.TempDir(), bento, "version"); got != "bento "+next+"\n" {
		t.Errorf("after the update bento version printed %q", got)
	}
}

// listsModules compares the bill of materials with go.mod in a sample.
func listsModules(t *testing.T, out string) {
	var doc struct{ Components []component }
	if err := json.Unmarshal(read(t, one(t, out, "*.cdx.json")), &doc); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"github.com/spf13/cobra", "github.com/zeebo/blake3", "stdlib"} {
		if !slices.ContainsFunc(doc.Components, func(c component) bool { return c.Name == want && c.Version != "" }) {
			t.Errorf("%s is not in the bill of materials", want)
		}
	}
}

// signingKeys makes a pair of each kind, and returns the files of the private ones and what checks the signatures.
func signingKeys(t *testing.T) (minisignFile, ecdsaFile string, check func(t *testing.T, out string)) {
	t.Helper()
	dir := t.TempDir()
	public, private, err := minisign.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	const password = "correct horse"
	t.Setenv("BENTO_MINISIGN_PASSWORD", password)
	sealed, err := minisign.EncryptKey(password, private)
	if err != nil {
		t.Fatal(err)
	}
	put(t, filepath.Join(dir, "minisign.key"), sealed, 0o600)
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	put(t, filepath.Join(dir, "ec.pem"), pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der}), 0o600)
	return filepath.Join(dir, "minisign.key"), filepath.Join(dir, "ec.pem"), func(t *testing.T, out string) {
		data := read(t, filepath.Join(out, sumsName))
		if !minisign.Verify(public, data, read(t, filepath.Join(out, sumsName+".minisig"))) {
			t.Error("minisign does not verify the checksums")
		}
		sig, err := base64.StdEncoding.DecodeString(strings.TrimSpace(string(read(t, filepath.Join(out, sumsName+".sig")))))
		digest := sha256.Sum256(data)
		if err != nil || !ecdsa.VerifyASN1(&key.PublicKey, digest[:], sig) {
			t.Error("the ECDSA signature is not one of the checksums")
		}
	}
}

func unzip(t *testing.T, data []byte) []byte {
	t.Helper()
	r, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	plain, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	return plain
}

func untar(t *testing.T, data []byte) map[string][]byte {
	t.Helper()
	files := make(map[string][]byte)
	for r := tar.NewReader(bytes.NewReader(data)); ; {
		h, err := r.Next()
		if err == io.EOF {
			return files
		}
		if err != nil {
			t.Fatal(err)
		}
		if files[h.Name], err = io.ReadAll(r); err != nil {
			t.Fatal(err)
		}
	}
}
