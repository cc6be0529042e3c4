package place

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"

	"github.com/bentobuild/bento/internal/rawfile"
)

// Class returns the class of this machine, such as "linux/amd64 debian-12 glibc-2.36". Machines of one class have results in
// common. It reads a few files of the system and starts no process.
func Class() string { return classOf("/", runtime.GOOS, runtime.GOARCH) }

func classOf(root, system, processor string) string {
	parts := []string{system + "/" + processor}
	switch system {
	case "linux":
		if name := osRelease(root); name != "" {
			parts = append(parts, name)
		}
		parts = append(parts, libc(root))
	case "darwin":
		if version := macVersion(root); version != "" {
			parts = append(parts, "macos-"+version)
		}
	}
	return strings.Join(parts, " ")
}

// Contained returns the class of results that are made in a container, such as "linux/amd64 image 9f86…": what they depend on
// is in the image, so machines of any class share them. The image is that of a digest. own is the class that the user has
// named for the machine, "" for none: such a machine shares with those of the same name.
func Contained(own string, image [32]byte) string {
	return strings.TrimPrefix(own+" ", " ") + fmt.Sprintf("linux/%s image %x", runtime.GOARCH, image)
}

// CheckClass returns an error for a text that is no class: one that remote_class must not have.
func CheckClass(s string) error {
	ok := s != "" && len(s) <= 128
	for _, c := range []byte(s) {
		ok = ok && ' ' <= c && c <= '~'
	}
	if !ok {
		return fmt.Errorf("remote_class %q: want 1 to 128 printable ASCII characters", s)
	}
	return nil
}

// Bounds of the files that are read, in bytes.
const (
	maxText    = 64 << 10
	maxLibrary = 16 << 20
)

// read returns the first bytes of a regular file below root. It follows links: distributions link these files.
func read(root, name string, limit int64) ([]byte, error) {
	place, err := filepath.EvalSymlinks(filepath.Join(root, name))
	if err != nil {
		return nil, err
	}
	f, err := rawfile.Open(place)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil || !info.Mode.IsRegular() {
		return nil, errNoFile
	}
	return io.ReadAll(io.LimitReader(f, limit))
}

// osRelease returns ID and VERSION_ID of the distribution, "" if it has no ID.
func osRelease(root string) string {
	data, err := read(root, "/etc/os-release", maxText)
	if err != nil {
		if data, err = read(root, "/usr/lib/os-release", maxText); err != nil {
			return ""
		}
	}
	var id, version string
	for line := range strings.Lines(string(data)) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), "=")
		value = word(strings.Trim(value, `"'`))
		switch name {
		case "ID":
			id = value
		case "VERSION_ID":
			version = value
		}
	}
	if id != "" && version != "" {
		return id + "-" + version
	}
	return id
}

// word keeps what a class may have.
func word(s string) string {
	keep := func(r rune) rune {
		if r == '.' || r == '-' || r == '_' || '0' <= r && r <= '9' || 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' {
			return r
		}
		return -1
	}
	s = strings.Map(keep, s)
	return s[:min(len(s), 64)]
}

// libc returns the C library of the system with its version: that of the loader which the shell names.
func libc(root string) string {
	shell, err := read(root, "/bin/sh", maxText)
	loader := ""
	if err == nil {
		loader = interpreter(shell)
	}
	if loader == "" { // a static shell
		for _, pattern := range []string{"lib/ld-musl-*.so.1", "lib64/ld-linux*.so.*", "lib/ld-linux*.so.*"} {
			if found, _ := filepath.Glob(filepath.Join(root, pattern)); len(found) > 0 {
				loader = strings.TrimPrefix(found[0], filepath.Clean(root))
				break
			}
		}
	}
	switch {
	case loader == "":
		return "no-libc"
	case strings.Contains(filepath.Base(loader), "musl"):
		return "musl" + version(root, []string{loader}, "\x001.", `^\x00(1\.\d{1,3}\.\d{1,3})\x00`)
	}
	return "glibc" + version(root, libraries(root, loader), "GNU C Library ", `^[^\n]{0,200}version (\d{1,3}\.\d{1,3})`)
}

// libraries returns where the C library of a loader may be.
func libraries(root, loader string) []string {
	const name = "libc.so.6"
	var list []string
	if place, err := filepath.EvalSymlinks(filepath.Join(root, loader)); err == nil {
		if below, err := filepath.Rel(filepath.Clean(root), place); err == nil {
			list = append(list, filepath.Join("/", filepath.Dir(below), name))
		}
	}
	list = append(list, filepath.Join(filepath.Dir(loader), name))
	more, _ := filepath.Glob(filepath.Join(root, "lib/*-linux-gnu*", name))
	for _, m := range more {
		list = append(list, strings.TrimPrefix(m, filepath.Clean(root)))
	}
	return append(list, "/lib64/"+name, "/usr/lib64/"+name, "/lib/"+name, "/usr/lib/"+name)
}

// version returns "-" and what the pattern finds at mark in the first of the files that has it, "" for none.
func version(root string, names []string, mark, pattern string) string {
	find := regexp.MustCompile(pattern)
	for _, name := range names {
		data, err := read(root, name, maxLibrary)
		for at := bytes.Index(data, []byte(mark)); err == nil && at >= 0; {
			data = data[at:]
			if m := find.FindSubmatch(data[:min(len(data), 256)]); m != nil {
				return "-" + string(m[1])
			}
			if at = bytes.Index(data[1:], []byte(mark)); at >= 0 {
				at++
			}
		}
	}
	return ""
}

// interpreter returns the loader that an ELF program names, "" for none: its program header of type PT_INTERP.
func interpreter(program []byte) string {
	if len(program) < 64 || !bytes.HasPrefix(program, []byte("\x7fELF")) {
		return ""
	}
	var order binary.ByteOrder = binary.LittleEndian
	if program[5] == 2 {
		order = binary.BigEndian
	}
	wide := program[4] == 2
	number := func(at, size uint64) uint64 {
		if at > uint64(len(program)) || uint64(len(program))-at < size {
			return 0
		}
		switch field := program[at:]; size {
		case 2:
			return uint64(order.Uint16(field))
		case 4:
			return uint64(order.Uint32(field))
		default:
			return order.Uint64(field)
		}
	}
	table, size, count, offset, length, width := number(32, 8), number(54, 2), number(56, 2), uint64(8), uint64(32), uint64(8)
	if !wide {
		table, size, count, offset, length, width = number(28, 4), number(42, 2), number(44, 2), 4, 16, 4
	}
	for i := range count {
		header := table + i*size
		if number(header, 4) != 3 {
			continue
		}
		from, n := number(header+offset, width), number(header+length, width)
		if from > uint64(len(program)) || n > 4096 || uint64(len(program))-from < n {
			return ""
		}
		return string(bytes.TrimRight(program[from:from+n], "\x00"))
	}
	return ""
}

// macVersion returns the first number of the version of macOS.
func macVersion(root string) string {
	data, err := read(root, "/System/Library/CoreServices/SystemVersion.plist", maxText)
	if err != nil {
		return ""
	}
	if m := regexp.MustCompile(`<key>ProductVersion</key>\s*<string>(\d{1,4})[.<]`).FindSubmatch(data); m != nil {
		return string(m[1])
	}
	return ""
}
