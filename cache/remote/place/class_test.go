package place

import (
	"encoding/binary"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// program returns an ELF program that names a loader.
func program(loader string, order binary.AppendByteOrder, wide bool) []byte {
	b := make([]byte, 64)
	copy(b, "\x7fELF\x01\x01")
	if wide {
		b[4] = 2
	}
	if order == binary.AppendByteOrder(binary.BigEndian) {
		b[5] = 2
	}
	bytesOrder := order.(binary.ByteOrder)
	header := make([]byte, 56)
	bytesOrder.PutUint32(header, 3)
	if wide {
		bytesOrder.PutUint64(b[32:], 64)
		bytesOrder.PutUint16(b[54:], 56)
		bytesOrder.PutUint16(b[56:], 2)
		bytesOrder.PutUint64(header[8:], 64+2*56)
		bytesOrder.PutUint64(header[32:], uint64(len(loader)+1))
	} else {
		bytesOrder.PutUint32(b[28:], 64)
		bytesOrder.PutUint16(b[42:], 56)
		bytesOrder.PutUint16(b[44:], 2)
		bytesOrder.PutUint32(header[4:], 64+2*56)
		bytesOrder.PutUint32(header[16:], uint32(len(loader)+1))
	}
	return append(append(append(b, make([]byte, 56)...), header...), loader+"\x00"...)
}

func system(t *testing.T, files map[string]string) string {
	t.Helper()
	root := t.TempDir()
	for name, data := range files {
		at := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
			t.Fatal(err)
		}
		if target, link := strings.CutPrefix(data, "-> "); link {
			if err := os.Symlink(target, at); err != nil {
				t.Fatal(err)
			}
		} else if err := os.WriteFile(at, []byte(data), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

func TestClass(t *testing.T) {
	const glibc = "\x00junkGNU C Library (Debian GLIBC 2.36-9+deb12u13) stable release version 2.36.\nCopyright\x00"
	amd := func(loader string) string { return string(program(loader, binary.LittleEndian, true)) }
	for name, tt := range map[string]struct {
		files map[string]string
		want  string
	}{
		"debian": {map[string]string{
			"usr/lib/os-release": "PRETTY_NAME=\"Debian\"\nID=debian\nVERSION_ID=\"12\"\n", "etc/os-release": "-> ../usr/lib/os-release",
			"bin/sh": "-> dash", "bin/dash": amd("/lib64/ld-linux-x86-64.so.2"), "lib64/ld-linux-x86-64.so.2": "-> ../lib/x86_64-linux-gnu/ld-linux-x86-64.so.2",
			"lib/x86_64-linux-gnu/ld-linux-x86-64.so.2": "x", "lib/x86_64-linux-gnu/libc.so.6": glibc,
			"lib/ld-musl-x86_64.so.1": "a second one, which no program of the system uses",
		}, "linux/amd64 debian-12 glibc-2.36"},
		"alpine": {map[string]string{
			"etc/os-release": "ID=alpine\nVERSION_ID=3.20.3\n", "bin/sh": amd("/lib/ld-musl-x86_64.so.1"),
			"lib/ld-musl-x86_64.so.1": "\x001.x\x00 \x001.2.5\x00", "lib64/ld-linux-x86-64.so.2": "of gcompat",
		}, "linux/amd64 alpine-3.20.3 musl-1.2.5"},
		"big endian, 32 bits": {map[string]string{
			"etc/os-release": "ID=old\n", "bin/sh": string(program("/lib/ld.so.1", binary.BigEndian, false)), "lib/libc.so.6": glibc,
		}, "linux/amd64 old glibc-2.36"},
		"static shell": {map[string]string{"bin/sh": "\x7fELF", "lib/ld-musl-aarch64.so.1": "\x001.2.4\x00"}, "linux/amd64 musl-1.2.4"},
		"nothing":      {nil, "linux/amd64 no-libc"},
		"hostile": {map[string]string{
			"etc/os-release": "ID=a b\x1b[31m\nVERSION_ID=" + strings.Repeat("9", 100_000), "bin/sh": amd(strings.Repeat("/x", 3000)),
		}, "linux/amd64 ab31m-" + strings.Repeat("9", 64) + " no-libc"},
	} {
		if got := classOf(system(t, tt.files), "linux", "amd64"); got != tt.want {
			t.Errorf("%s: %q, want %q", name, got, tt.want)
		}
	}
	mac := system(t, map[string]string{"System/Library/CoreServices/SystemVersion.plist": "<dict><key>ProductVersion</key>\n\t<string>14.5</string></dict>"})
	if got := classOf(mac, "darwin", "arm64"); got != "darwin/arm64 macos-14" {
		t.Errorf("macOS: %q", got)
	}
}

func TestClassOfThisMachine(t *testing.T) {
	got := Class()
	if !strings.HasPrefix(got, runtime.GOOS+"/"+runtime.GOARCH) || got != Class() || len(got) > 200 {
		t.Errorf("%q", got)
	}
}

func TestCheckClass(t *testing.T) {
	for s, ok := range map[string]bool{Class(): true, "ci image 7": true, "": false, "a\nb": false, "a\x00b": false, "é": false, strings.Repeat("x", 129): false} {
		if err := CheckClass(s); (err == nil) != ok {
			t.Errorf("%q: %v", s, err)
		}
	}
}

func FuzzInterpreter(f *testing.F) {
	f.Add(program("/lib64/ld-linux-x86-64.so.2", binary.LittleEndian, true))
	f.Add(program("/lib/ld.so.1", binary.BigEndian, false))
	f.Fuzz(func(t *testing.T, data []byte) {
		if got := interpreter(data); len(got) > 4096 {
			t.Errorf("%d bytes", len(got))
		}
	})
}

func TestContained(t *testing.T) {
	one, other := [32]byte{1}, [32]byte{2}
	if got, want := Contained("", one), "linux/"+runtime.GOARCH+" image 01"+strings.Repeat("0", 62); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	seen := map[string]bool{Class(): true}
	for _, class := range []string{Contained("", one), Contained("", other), Contained("own", one), Contained("own", other)} {
		if seen[class] {
			t.Errorf("%q twice", class)
		}
		seen[class] = true
	}
}
