package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/sha512"
	"crypto/x509"
	"debug/elf"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"maps"
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
		{"archive", byScript}, {"npm", byNPM}, {"pnpm", byPNPM}, {"yarn", byYarn}, {"bun", byBun}, {"pip", byPip}, {"uv", byUV}, {"deb", byDeb}, {"image", byImage},
	} {
		t.Run(door.name, func(t *testing.T) { works(t, door.open(t, out)) })
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

// byScript installs with scripts/install.sh, as the release has it, from a directory laid out as the downloads are.
func byScript(t *testing.T, out string) string {
	adaptertest.Need(t, "curl")
	dir := t.TempDir()
	downloads := layOut(t, out)
	cmd := command(dir, "sh", filepath.Join(out, "install.sh"))
	cmd.Env = append(cmd.Env, "BENTO_RELEASES=file://"+downloads, "BENTO_INSTALL_DIR="+dir)
	if text, err := cmd.CombinedOutput(); err != nil || !strings.Contains(string(text), "bento "+testVersion+" is in "+dir) {
		t.Fatalf("%v\n%s", err, text)
	}
	return filepath.Join(dir, "bento")
}

// layOut returns a directory with the release in a directory of its version.
func layOut(t *testing.T, out string) string {
	t.Helper()
	downloads := t.TempDir()
	for _, e := range slices.Sorted(maps.Keys(sumsOf(t, out))) {
		put(t, filepath.Join(downloads, "v"+testVersion, e), read(t, filepath.Join(out, e)), 0o644)
	}
	return downloads
}

// refusesAnotherArchive changes a byte of the archive: the script installs nothing.
func refusesAnotherArchive(t *testing.T, out string) {
	adaptertest.Need(t, "curl")
	dir, downloads := t.TempDir(), layOut(t, out)
	archive := one(t, filepath.Join(downloads, "v"+testVersion), "bento-*.tar.gz")
	data := read(t, archive)
	data[len(data)/2] ^= 1
	put(t, archive, data, 0o644)
	cmd := command(dir, "sh", filepath.Join(out, "install.sh"))
	cmd.Env = append(cmd.Env, "BENTO_RELEASES=file://"+downloads, "BENTO_INSTALL_DIR="+dir)
	text, err := cmd.CombinedOutput()
	if err == nil || !strings.Contains(string(text), "nothing was installed") {
		t.Errorf("%v\n%s", err, text)
	}
	if _, err := os.Stat(filepath.Join(dir, "bento")); err == nil {
		t.Error("it was installed")
	}
}

// registry serves the npm packages of a release, as a registry of npm does.
func registry(t *testing.T, out string) string {
	t.Helper()
	packages := make(map[string]map[string]any) // by name: the versions
	tarballs := make(map[string][]byte)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		name := strings.TrimPrefix(r.URL.Path, "/")
		if data := tarballs[name]; data != nil {
			_, _ = w.Write(data)
			return
		}
		versions := packages[name]
		if versions == nil {
			http.NotFound(w, r)
			return
		}
		_ = json.NewEncoder(w).Encode(map[string]any{"name": name, "dist-tags": map[string]string{"latest": testVersion}, "versions": versions})
	}))
	t.Cleanup(server.Close)
	found, err := filepath.Glob(filepath.Join(out, "*.tgz"))
	if err != nil || len(found) != 2 {
		t.Fatalf("found packages %v, %v; want two", found, err)
	}
	for _, path := range found {
		data := read(t, path)
		var m map[string]any
		if err := json.Unmarshal(untar(t, unzip(t, data))["package/package.json"], &m); err != nil {
			t.Fatal(err)
		}
		sum := sha512.Sum512(data)
		m["dist"] = map[string]any{
			"tarball": server.URL + "/" + filepath.Base(path), "shasum": fmt.Sprintf("%x", sha1.Sum(data)),
			"integrity": "sha512-" + base64.StdEncoding.EncodeToString(sum[:]),
		}
		packages[m["name"].(string)] = map[string]any{testVersion: m}
		tarballs[filepath.Base(path)] = data
	}
	return server.URL
}

// byManager installs with a package manager of npm's packages, in a new project.
func byManager(t *testing.T, out string, add ...string) string {
	dir := t.TempDir()
	put(t, filepath.Join(dir, "package.json"), []byte(`{"name":"x","private":true}`), 0o644)
	url := registry(t, out)
	put(t, filepath.Join(dir, ".npmrc"), []byte("registry="+url+"/\nminimum-release-age=0\n"), 0o644)
	put(t, filepath.Join(dir, ".yarnrc.yml"), []byte("npmRegistryServer: \""+url+"\"\nunsafeHttpWhitelist: [\"127.0.0.1\"]\nenableTelemetry: false\nnpmMinimalAgeGate: 0\n"), 0o644)
	must(t, dir, append(add, npmName+"@"+testVersion)...)
	return filepath.Join(dir, "node_modules/.bin/bento")
}

func byNPM(t *testing.T, out string) string {
	adaptertest.Need(t, "node", "npm")
	return byManager(t, out, "npm", "install", "--no-audit", "--no-fund")
}

func byPNPM(t *testing.T, out string) string {
	adaptertest.Need(t, "node", "pnpm")
	return byManager(t, out, "pnpm", "add")
}

// byYarn runs bento through yarn: with Plug'n'Play there is no node_modules.
func byYarn(t *testing.T, out string) string {
	adaptertest.Need(t, "node", "yarn")
	shim := byManager(t, out, "yarn", "add")
	dir := filepath.Dir(filepath.Dir(filepath.Dir(shim)))
	put(t, shim, []byte("#!/bin/sh\nexport YARN_IGNORE_PATH=1 HOME='"+dir+"/.home'\nwhere=$PWD; cd '"+dir+"' && exec yarn run bento -C \"$where\" \"$@\"\n"), 0o755)
	return shim
}

func byBun(t *testing.T, out string) string {
	adaptertest.Need(t, "node", "bun")
	return byManager(t, out, "bun", "add")
}

func byPip(t *testing.T, out string) string {
	adaptertest.Need(t, "python3")
	dir := t.TempDir()
	must(t, dir, "python3", "-m", "venv", "env")
	must(t, dir, "env/bin/python", "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-index", "--find-links", out, pypiName+"=="+testVersion)
	return filepath.Join(dir, "env/bin/bento")
}

func byUV(t *testing.T, out string) string {
	adaptertest.Need(t, "python3", "uv")
	dir := t.TempDir()
	cmd := command(dir, "uv", "tool", "install", "--quiet", "--no-index", "--find-links", out, pypiName+"=="+testVersion)
	cmd.Env = append(cmd.Env, "UV_TOOL_DIR="+dir+"/tools", "UV_TOOL_BIN_DIR="+dir+"/bin", "UV_CACHE_DIR="+dir+"/cache")
	if text, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	return filepath.Join(dir, "bin/bento")
}

// byDeb installs the package below a directory with a database of its own.
func byDeb(t *testing.T, out string) string {
	if runtime.GOOS != "linux" {
		t.Skip("Debian packages are for Linux")
	}
	adaptertest.Need(t, "dpkg")
	dir := t.TempDir()
	for _, name := range []string{"admin/status", "admin/available", "admin/info/format"} {
		text := ""
		if strings.HasSuffix(name, "format") {
			text = "1\n"
		}
		put(t, filepath.Join(dir, name), []byte(text), 0o644)
	}
	put(t, filepath.Join(dir, "admin/updates/.keep"), nil, 0o644)
	if err := os.Remove(filepath.Join(dir, "admin/updates/.keep")); err != nil {
		t.Fatal(err)
	}
	put(t, filepath.Join(dir, "root/.keep"), nil, 0o644)
	must(t, dir, "dpkg", "--admindir="+dir+"/admin", "--instdir="+dir+"/root", "--log="+dir+"/log", "--force-not-root", "--force-bad-path", "--install", one(t, out, "*.deb"))
	if page := unzip(t, read(t, filepath.Join(dir, "root/usr/share/man/man1/bento-run.1.gz"))); !bytes.HasPrefix(page, []byte(".TH ")) {
		t.Errorf("the manual page begins with %.40q", page)
	}
	return filepath.Join(dir, "root/usr/bin/bento")
}

// byImage checks the image's digests and takes its program, which must need no other file to start.
func byImage(t *testing.T, out string) string {
	if runtime.GOOS != "linux" {
		t.Skip("images are for Linux")
	}
	files := untar(t, read(t, one(t, out, "*-image.tar")))
	follow := func(b blob) (data []byte) {
		data = files["blobs/sha256/"+strings.TrimPrefix(b.Digest, "sha256:")]
		if sum := sha256.Sum256(data); b.Digest != fmt.Sprintf("sha256:%x", sum) || b.Size != len(data) {
			t.Fatalf("blob %s has %d bytes, want %d", b.Digest, len(data), b.Size)
		}
		return data
	}
	var doc struct {
		Manifests, Layers []blob
		Config            json.RawMessage
	}
	for data := files["index.json"]; doc.Layers == nil; data = follow(doc.Manifests[0]) {
		if err := json.Unmarshal(data, &doc); err != nil || len(doc.Layers) == 0 && len(doc.Manifests) != 1 {
			t.Fatalf("%v in %s", err, data)
		}
		if len(doc.Layers) > 0 {
			break
		}
	}
	program := untar(t, unzip(t, follow(doc.Layers[0])))["bento"]
	path := filepath.Join(t.TempDir(), "bento")
	put(t, path, program, 0o755)
	parsed, err := elf.NewFile(bytes.NewReader(program))
	if err != nil {
		t.Fatal(err)
	}
	if slices.ContainsFunc(parsed.Progs, func(p *elf.Prog) bool { return p.Type == elf.PT_INTERP }) {
		t.Error("the program needs an interpreter, which the image does not have")
	}
	return path
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
