package archive

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// tarOf returns a tar with these headers; a regular file has Size bytes.
func tarOf(t testing.TB, headers ...tar.Header) []byte {
	t.Helper()
	var out bytes.Buffer
	w := tar.NewWriter(&out)
	for _, h := range headers {
		if h.Typeflag == tar.TypeXGlobalHeader {
			h = tar.Header{Typeflag: h.Typeflag, PAXRecords: h.PAXRecords}
		} else if h.Mode == 0 {
			h.Mode = 0o644
		}
		if err := w.WriteHeader(&h); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write(bytes.Repeat([]byte("x"), int(h.Size))); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func regular(name string) tar.Header { return tar.Header{Typeflag: tar.TypeReg, Name: name, Size: 1} }

func folder(name string) tar.Header { return tar.Header{Typeflag: tar.TypeDir, Name: name} }

func TestTar(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("d/", 100) + "f" // needs a PAX record
	run := regular("./bin/run")
	run.Mode = 0o755
	got, err := Read(tarOf(t, tar.Header{Typeflag: tar.TypeDir, Name: "./"}, tar.Header{Typeflag: tar.TypeDir, Name: "./bin/"}, run, regular(long)), Limits{})
	if err != nil {
		t.Fatal(err)
	}
	want := []File{{"bin/run", []byte("x"), true}, {long, []byte("x"), false}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// TestHostileTar: each archive is refused with the expected reason.
func TestHostileTar(t *testing.T) {
	t.Parallel()
	small := Limits{Packed: 1 << 20, Expanded: 3, Entries: 3}
	big := regular("big")
	big.Size = 4
	for _, c := range []struct {
		name    string
		headers []tar.Header
		want    string
	}{
		{"absolute", []tar.Header{regular("/etc/passwd")}, "an absolute name"},
		{"dot dot", []tar.Header{regular("a/../../b")}, `the element ".."`},
		{"dot", []tar.Header{regular("a/./b")}, `the element "."`},
		{"only dots", []tar.Header{regular("..")}, `the element ".."`},
		{"backslash", []tar.Header{regular(`a\..\b`)}, `contains "\"`},
		{"drive", []tar.Header{regular(`c:x`)}, `or ":"`},
		{"control", []tar.Header{regular("a\nb")}, "not printable"},
		{"not UTF-8", []tar.Header{regular("a\xff")}, "not UTF-8"},
		{"empty element", []tar.Header{regular("a//b")}, `the element ""`},
		{"trailing dot", []tar.Header{regular("a.")}, "ends with a dot"},
		{"reserved", []tar.Header{regular(".Bento-package.json")}, "reserved for bento"},
		{"long", []tar.Header{regular(strings.Repeat("a", 256))}, "an element of 256 bytes"},
		{"symbolic link", []tar.Header{{Typeflag: tar.TypeSymlink, Name: "l", Linkname: "/etc"}}, "a symbolic link"},
		{"hard link", []tar.Header{{Typeflag: tar.TypeLink, Name: "l", Linkname: "/etc/passwd"}}, "a hard link"},
		{"device", []tar.Header{{Typeflag: tar.TypeChar, Name: "d"}}, "a device"},
		{"pipe", []tar.Header{{Typeflag: tar.TypeFifo, Name: "p"}}, "a named pipe"},
		{"global record", []tar.Header{{Typeflag: tar.TypeXGlobalHeader, PAXRecords: map[string]string{"path": "/x"}}}, "an entry of type 'g'"},
		{"twice", []tar.Header{regular("a"), regular("a")}, "occurs twice"},
		{"case", []tar.Header{regular("a"), regular("A")}, "only in case"},
		{"case of a directory", []tar.Header{regular("d/a"), regular("D/b")}, "only in case"},
		{"file and directory", []tar.Header{regular("a"), regular("a/b")}, "both a file and a directory"},
		{"directory and file", []tar.Header{regular("a/b"), regular("a")}, "twice"},
		{"large", []tar.Header{big}, "more than 3 bytes"},
		{"many", []tar.Header{folder("a/"), folder("b/"), folder("c/"), folder("d/")}, "more than 3 entries"},
		{"none", nil, "no files"},
	} {
		if _, err := Read(tarOf(t, c.headers...), small); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %q", c.name, err, c.want)
		}
	}
	for _, c := range []struct{ name, data, want string }{
		{"gzip", "\x1f\x8b\x08", "compressed, expected an uncompressed tar"},
		{"text", strings.Repeat("hello", 200), "neither a tar nor a zip"},
		{"cut", string(tarOf(t, regular("a"))[:512]), "a"},
		{"large", strings.Repeat("x", 1<<20+1), "more than 1048576 bytes"},
	} {
		if _, err := Read([]byte(c.data), small); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %q", c.name, err, c.want)
		}
	}
}

// TestSparse: a sparse file in the format of GNU tar 1.0, which expands to 1 TiB of zeros, is refused.
func TestSparse(t *testing.T) {
	t.Parallel()
	record := func(kv string) string {
		return string(rune('0'+(len(kv)+4)/10)) + string(rune('0'+(len(kv)+4)%10)) + " " + kv + "\n"
	}
	records := record("GNU.sparse.major=1") + record("GNU.sparse.minor=0") + record("GNU.sparse.name=a") + record("GNU.sparse.realsize=1099511627776")
	pax := tarOf(t, tar.Header{Typeflag: tar.TypeReg, Name: "PaxHeaders.0/a", Size: int64(len(records))})
	copy(pax[512:], records)
	pax[156] = tar.TypeXHeader
	file := tarOf(t, tar.Header{Typeflag: tar.TypeReg, Name: "GNUSparseFile.0/a", Size: 512})
	copy(file[512:], "0\n"+strings.Repeat("\x00", 510))
	resum(pax)
	if _, err := Read(append(pax[:1024], file...), Limits{}); err == nil || !strings.Contains(err.Error(), "sparse") {
		t.Errorf("got %v, want a refused sparse file", err)
	}
}

// resum corrects the checksum of a header.
func resum(h []byte) {
	copy(h[148:156], "        ")
	n := 0
	for _, b := range h[:512] {
		n += int(b)
	}
	copy(h[148:156], []byte{'0' + byte(n>>15&7), '0' + byte(n>>12&7), '0' + byte(n>>9&7), '0' + byte(n>>6&7), '0' + byte(n>>3&7), '0' + byte(n&7), 0, ' '})
}

type zipped struct {
	name, data string
	mode       fs.FileMode
}

func zipOf(t testing.TB, files ...zipped) []byte {
	t.Helper()
	var out bytes.Buffer
	w := zip.NewWriter(&out)
	for _, f := range files {
		h := &zip.FileHeader{Name: f.name, Method: zip.Deflate}
		h.SetMode(f.mode)
		e, err := w.CreateHeader(h)
		if err == nil && !f.mode.IsDir() {
			_, err = e.Write([]byte(f.data))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func TestZip(t *testing.T) {
	t.Parallel()
	got, err := Read(zipOf(t, zipped{"d/", "", fs.ModeDir | 0o755}, zipped{"d/run", "x", 0o755}, zipped{"a", "y", 0o644}), Limits{})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]File{{"a", []byte("y"), false}, {"d/run", []byte("x"), true}}, got); diff != "" {
		t.Error(diff)
	}
	for _, c := range []struct {
		name  string
		files []zipped
		want  string
	}{
		{"bomb", []zipped{{"a", strings.Repeat("0", 40<<20), 0o644}}, "more than 33554432 bytes"},
		{"two halves of a bomb", []zipped{{"a", strings.Repeat("0", 20<<20), 0o644}, {"b", strings.Repeat("0", 20<<20), 0o644}}, "more than 33554432 bytes"},
		{"link", []zipped{{"a", "/etc/passwd", fs.ModeSymlink | 0o777}}, "a symbolic link"},
		{"device", []zipped{{"a", "", fs.ModeDevice | 0o600}}, "a special file"},
		{"dot dot", []zipped{{"../a", "x", 0o644}}, `the element ".."`},
		{"absolute", []zipped{{"/a", "x", 0o644}}, "an absolute name"},
		{"case", []zipped{{"a", "x", 0o644}, {"A", "x", 0o644}}, "only in case"},
	} {
		if _, err := Read(zipOf(t, c.files...), Limits{}); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %q", c.name, err, c.want)
		}
	}
	many := make([]zipped, 4097)
	for i := range many {
		many[i] = zipped{strings.Repeat("a", i/200+1) + string(rune('À'+i%200)), "", 0o644}
	}
	if _, err := Read(zipOf(t, many...), Limits{}); err == nil || !strings.Contains(err.Error(), "more than 4096 entries") {
		t.Errorf("4097 entries: %v", err)
	}
}

func TestReadDir(t *testing.T) {
	t.Parallel()
	write := func(dir, name string) {
		t.Helper()
		if err := os.MkdirAll(filepath.Join(dir, filepath.Dir(name)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte("x"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	dir := t.TempDir()
	write(dir, ".git/config")
	write(dir, "d/a")
	got, err := ReadDir(dir, Limits{})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]File{{"d/a", []byte("x"), false}}, got); diff != "" {
		t.Error(diff)
	}
	for name, make := range map[string]func(path string) error{
		"link":      func(path string) error { return os.Symlink("/etc/passwd", path) },
		"directory": func(path string) error { return os.Symlink("/etc", path) },
		"pipe":      func(path string) error { return syscall.Mkfifo(path, 0o600) },
	} {
		dir := t.TempDir()
		if err := make(filepath.Join(dir, "x")); err != nil {
			t.Fatal(err)
		}
		if _, err := ReadDir(dir, Limits{}); err == nil || !strings.Contains(err.Error(), "a link or a special file") {
			t.Errorf("%s: %v", name, err)
		}
	}
	write(dir, "b")
	if _, err := ReadDir(dir, Limits{Expanded: 1}); err == nil || !strings.Contains(err.Error(), "more than 1 bytes") {
		t.Errorf("too large: %v", err)
	}
}

func TestRooted(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		names, want string
	}{
		{"m a", "m a"}, {"d/m d/a", "m a"}, {"README d/m d/e/a", "m e/a"}, {"d/m e/m", ""}, {"a b", ""}, {"d/e/m", ""},
	} {
		var files []File
		for _, n := range strings.Fields(c.names) {
			files = append(files, File{Name: n})
		}
		var got []string
		for _, f := range Rooted(files, "m") {
			got = append(got, f.Name)
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%s: got %v, want %s", c.names, got, c.want)
		}
	}
}
