package main

import (
	"bytes"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/sha512"
	"debug/elf"
	"encoding/base64"
	"encoding/json"
	"fmt"
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

	"github.com/bentobuild/bento/adapters/adaptertest"
	"github.com/bentobuild/bento/internal/testrun"
)

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

// byPipx is optional: pip install pipx installs it. pipx itself wants pip from the registry.
func byPipx(t *testing.T, out string) string {
	if _, err := exec.LookPath("pipx"); err != nil {
		t.Skip("pipx is not installed")
	}
	dir := t.TempDir()
	cmd := command(dir, "pipx", "install", "--quiet", "--pip-args=--find-links "+out, pypiName+"=="+testVersion)
	cmd.Env = append(cmd.Env, "PIPX_HOME="+dir+"/home", "PIPX_BIN_DIR="+dir+"/bin", "PIPX_MAN_DIR="+dir+"/man")
	if text, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	return filepath.Join(dir, "bin/bento")
}

// byContainer runs the image in a container that has the programs of this machine: the image has none but bento. It is
// optional: scripts/toolchains does not install podman.
func byContainer(t *testing.T, out string) string {
	podman, err := exec.LookPath("podman")
	if err != nil || os.Geteuid() != 0 {
		t.Skip("podman is not installed, or this is not root")
	}
	dir := t.TempDir()
	engine := []string{podman, "--root=" + dir + "/root", "--runroot=" + dir + "/run", "--storage-driver=vfs", "--cgroup-manager=cgroupfs", "--events-backend=file"}
	if _, err := exec.LookPath("runc"); err == nil {
		engine = append(engine, "--runtime=runc")
	}
	t.Cleanup(func() { // podman cleans up behind a container by a process of its own, which writes to dir
		_ = command(dir, append(slices.Clone(engine), "system", "reset", "--force")...).Run()
		for end := time.Now().Add(time.Minute); time.Now().Before(end); {
			if len(testrun.Left("cmdline", func(line []byte) bool { return bytes.Contains(line, []byte(dir)) })) == 0 {
				break
			}
		}
	})
	load := command(dir, append(slices.Clone(engine), "load", "--quiet", "--input", one(t, out, "*-image.tar"))...)
	text, err := load.CombinedOutput()
	if err != nil {
		t.Skipf("podman loads no image here: %v\n%s", err, text)
	}
	_, image, ok := strings.Cut(strings.TrimSpace(string(text)), ": ")
	if !ok {
		t.Fatalf("podman load printed %q", text)
	}
	if !strings.HasPrefix(image, imageName+":") {
		t.Errorf("podman names the image %q", image)
	}
	line := append(slices.Clone(engine), "run", "--rm", "--network=none", "--no-hosts", "--ulimit=nofile=1024:1024", "--ulimit=nproc=4096:4096", "--env-host", "--env=TMPDIR="+os.TempDir()) // podman has a TMPDIR of its own
	shared := []string{"/usr", "/bin", "/lib", "/lib64", os.TempDir(), goEnv(t, "GOROOT"), goEnv(t, "GOCACHE")}
	slices.Sort(shared)
	for _, path := range slices.Compact(shared) {
		if real, err := filepath.EvalSymlinks(path); err == nil {
			line = append(line, "--volume="+real+":"+path)
		}
	}
	run := "#!/bin/sh\nexec '" + strings.Join(line, "' '") + "' --workdir=\"$PWD\" '" + image + "' \"$@\"\n"
	path := filepath.Join(dir, "bento")
	put(t, path, []byte(run), 0o755)
	if text, err := command(dir, path, "version").CombinedOutput(); err != nil {
		t.Skipf("podman runs no container here: %v\n%s", err, text)
	}
	return path
}

// goEnv returns a variable of the go command, which the environment of tests does not set.
func goEnv(t *testing.T, name string) string {
	t.Helper()
	out, err := exec.Command("go", "env", name).Output()
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(out))
}

// firstGreen runs a dish of examples/polyglot in a new directory, and logs the time since start, when nothing was installed.
func firstGreen(t *testing.T, source, bento string, start time.Time) {
	t.Helper()
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS(filepath.Join(source, "examples/polyglot"))); err != nil {
		t.Fatal(err)
	}
	cmd := command(dir, bento, "ci", "--dish", "api")
	cmd.Env = append(cmd.Env, "GOCACHE="+goEnv(t, "GOCACHE"))
	text, err := cmd.CombinedOutput()
	if err != nil || !strings.Contains(string(text), "api:test") || !strings.Contains(string(text), " 0 failed, 0 skipped") {
		t.Fatalf("%v\n%s", err, text)
	}
	t.Logf("%.1f s from nothing to the first green run", time.Since(start).Seconds())
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
	if index := string(files["index.json"]); !strings.Contains(index, `"org.opencontainers.image.ref.name":"`+imageName+":") {
		t.Errorf("the image has no name in %s", index)
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
