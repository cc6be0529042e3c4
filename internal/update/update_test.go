package update

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// release serves version 1.2.3, whose program is a text. change may change what is served.
func release(t *testing.T, change func(files map[string][]byte)) Source {
	t.Helper()
	name := "bento-1.2.3-" + runtime.GOOS + "-" + runtime.GOARCH
	archive := pack(t, name+"/bento", "the new program")
	sums := fmt.Appendf(nil, "%064x  install.sh\n%x  %s.tar.gz\n", 0, sha256.Sum256(archive), name)
	files := map[string][]byte{
		"/releases/latest/download/SHA256SUMS":          sums,
		"/releases/download/v1.2.3/SHA256SUMS":          sums,
		"/releases/download/v1.2.3/" + name + ".tar.gz": archive,
		"/releases/download/v9.9.9/SHA256SUMS":          []byte("nothing\n"),
	}
	if change != nil {
		change(files)
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		data, ok := files[r.URL.Path]
		if !ok {
			http.NotFound(w, r)
			return
		}
		_, _ = w.Write(data)
	}))
	t.Cleanup(server.Close)
	return Source{URL: server.URL + "/releases/download/"}
}

func pack(t *testing.T, name, text string) []byte {
	t.Helper()
	var b bytes.Buffer
	zw := gzip.NewWriter(&b)
	w := tar.NewWriter(zw)
	if err := w.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: name, Mode: 0o755, Size: int64(len(text))}); err != nil {
		t.Fatal(err)
	}
	if _, err := w.Write([]byte(text)); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if err := zw.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestInstall(t *testing.T) {
	source := release(t, nil)
	version, err := source.Newest(t.Context())
	if err != nil || version != "1.2.3" {
		t.Fatalf("Newest returned %q, %v", version, err)
	}
	program := filepath.Join(t.TempDir(), "bento")
	write(t, program, "the old program")
	if err := source.Install(t.Context(), version, program); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(program)
	if err != nil || string(data) != "the new program" {
		t.Errorf("the program is %q, %v", data, err)
	}
	if fi, err := os.Stat(program); err != nil || fi.Mode().Perm() != 0o755 {
		t.Errorf("its mode is %v, %v", fi.Mode(), err)
	}
	onlyProgram(t, program)
}

// TestInstallRefuses changes what is served: the old program stays.
func TestInstallRefuses(t *testing.T) {
	name := "bento-1.2.3-" + runtime.GOOS + "-" + runtime.GOARCH + ".tar.gz"
	for _, tt := range []struct {
		about   string
		version string
		change  func(map[string][]byte)
		want    string
	}{
		{"no such version", "3.0.0", nil, "404"},
		{"no archive for this machine", "9.9.9", nil, "has no archive for"},
		{"another archive", "1.2.3", func(files map[string][]byte) {
			files["/releases/download/v1.2.3/"+name] = pack(t, "bento-1.2.3/bento", "evil")
		}, "nothing was changed"},
		{"an archive without the program", "1.2.3", func(files map[string][]byte) {
			data := pack(t, "elsewhere/bento", "x")
			files["/releases/download/v1.2.3/"+name] = data
			files["/releases/download/v1.2.3/SHA256SUMS"] = fmt.Appendf(nil, "%x  %s\n", sha256.Sum256(data), name)
		}, "it has no file"},
		{"no archive at all", "1.2.3", func(files map[string][]byte) {
			files["/releases/download/v1.2.3/"+name] = []byte("x")
			files["/releases/download/v1.2.3/SHA256SUMS"] = fmt.Appendf(nil, "%x  %s\n", sha256.Sum256([]byte("x")), name)
		}, "EOF"},
		{"endless checksums", "1.2.3", func(files map[string][]byte) {
			files["/releases/download/v1.2.3/SHA256SUMS"] = make([]byte, maxSums+1)
		}, "more than"},
	} {
		t.Run(tt.about, func(t *testing.T) {
			program := filepath.Join(t.TempDir(), "bento")
			write(t, program, "the old program")
			err := release(t, tt.change).Install(t.Context(), tt.version, program)
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("Install returned %v, want an error with %q", err, tt.want)
			}
			if data, _ := os.ReadFile(program); string(data) != "the old program" {
				t.Errorf("the program is %q", data)
			}
			onlyProgram(t, program)
		})
	}
}

// TestAddress: the network is asked by TLS alone, or on this machine.
func TestAddress(t *testing.T) {
	for text, ok := range map[string]bool{
		"": true, "https://mirror.example.com/bento": true, "http://127.0.0.1:8080/x": true, "http://[::1]/x": true,
		"http://example.com/": false, "ftp://example.com/": false, "file:///tmp": false, "x": false, "https://": false,
	} {
		if _, err := (Source{URL: text}).base(); (err == nil) != ok {
			t.Errorf("%q: %v, want accepted = %v", text, err, ok)
		}
	}
}

func TestManager(t *testing.T) {
	dir := t.TempDir()
	env := filepath.Join(dir, "env/lib/python3.12/site-packages/bento_build-1.2.3.dist-info")
	if err := os.MkdirAll(env, 0o755); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{
		"/w/node_modules/bento-build-linux-x64/bento": "npm", filepath.Join(dir, "env/bin/bento"): "pip",
		"/opt/homebrew/Cellar/bento/1.2.3/bin/bento": "brew", filepath.Join(dir, "bin/bento"): "",
	} {
		if got := Manager(path); want == "" && got != "" || !strings.Contains(got, want) {
			t.Errorf("Manager(%q) = %q, want %q", path, got, want)
		}
	}
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o755); err != nil {
		t.Fatal(err)
	}
}

// onlyProgram checks that no other file was left.
func onlyProgram(t *testing.T, program string) {
	t.Helper()
	entries, err := os.ReadDir(filepath.Dir(program))
	if err != nil || len(entries) != 1 {
		t.Errorf("the directory has %v, %v", entries, err)
	}
}

func FuzzChecksums(f *testing.F) {
	f.Add([]byte(fmt.Sprintf("%064x  install.sh\n", 1)))
	f.Add([]byte("x  y\n\n\x00"))
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, c := range checksums(data) {
			if len(c.sha256) != 64 || strings.ContainsAny(c.file, "\n") {
				t.Errorf("%q has the line %q", data, c)
			}
		}
	})
}
