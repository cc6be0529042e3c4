package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// containerfile installs in the layer of the manifests, which has no source, and builds in that of the files.
const containerfile = `FROM scratch
ENV PATH=GOBIN:/usr/bin:/bin HOME=/tmp GOCACHE=GOCACHE_DIR GOFLAGS=-buildvcs=false CGO_ENABLED=0
WORKDIR /w
COPY json/ .
RUN ["/bin/sh", "-c", "test ! -e api/main.go && cd api && go mod download"]
COPY full/ .
RUN ["/bin/sh", "-c", "test ! -e other/o.go && cd api && go build -o /served . && /served"]
`

// TestPruneInImage: a container tool builds an image of the two layers of bento prune --docker, and takes the first one from
// its cache after a change of a source. The steps use the programs of this machine, so no image is fetched. buildah is
// optional: scripts/toolchains does not install it.
func TestPruneInImage(t *testing.T) {
	if testing.Short() {
		t.Skip("it builds images")
	}
	t.Parallel()
	buildah, err := exec.LookPath("buildah")
	if err != nil || os.Geteuid() != 0 || runtime.GOOS != "linux" {
		t.Skip("buildah is not installed, or this is not root")
	}
	needTool(t, "go")
	root, store := t.TempDir(), t.TempDir()
	write(t, root, "bento.toml", "")
	write(t, root, "api/go.mod", "module example.com/api\n\ngo 1.21\n")
	write(t, root, "other/go.mod", "module example.com/other\n\ngo 1.21\n")
	write(t, root, "other/o.go", "package other\n")
	goVar := func(name string) string {
		out, err := exec.Command("go", "env", name).Output()
		if err != nil {
			t.Fatal(err)
		}
		return strings.TrimSpace(string(out))
	}
	file := strings.NewReplacer("GOBIN", filepath.Join(goVar("GOROOT"), "bin"), "GOCACHE_DIR", goVar("GOCACHE")).Replace(containerfile)
	write(t, store, "Containerfile", file)
	args := []string{"--root=" + store + "/root", "--runroot=" + store + "/run", "--storage-driver=vfs", "build", "--layers", "--isolation=chroot"}
	shared := []string{"/usr", "/bin", "/lib", "/lib64", goVar("GOROOT"), goVar("GOCACHE")}
	for _, dir := range shared {
		if _, err := os.Stat(dir); err == nil {
			args = append(args, "--volume="+dir+":"+dir)
		}
	}
	write(t, store, "try/Containerfile", "FROM scratch\nRUN [\"/bin/true\"]\n")
	if text, err := exec.Command(buildah, append(slices.Clone(args), store+"/try")...).CombinedOutput(); err != nil {
		t.Skipf("buildah builds no image here: %v\n%s", err, text)
	}
	build := func(says string) string {
		t.Helper()
		write(t, root, "api/main.go", "package main\n\nfunc main() { println(\""+says+"\") }\n")
		out := filepath.Join(t.TempDir(), "out")
		prune := exec.Command(builtBento(t), "prune", "api", "--docker", out)
		prune.Dir, prune.Env = root, append(os.Environ(), "BENTO_CACHE_DIR="+filepath.Join(store, "cache"))
		if text, err := prune.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
		text, err := exec.Command(buildah, append(slices.Clone(args), "--file="+store+"/Containerfile", out)...).CombinedOutput()
		if err != nil || !strings.Contains(string(text), "\n"+says+"\n") {
			t.Fatalf("%v\n%s", err, text)
		}
		return string(text)
	}
	build("first")
	// After the second step of the manifests' layer, nothing comes from the cache.
	if text := build("second"); strings.Count(text, "Using cache") != 4 {
		t.Errorf("a change of a source builds other layers than that of the files:\n%s", text)
	}
}
