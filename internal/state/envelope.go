package state

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/zeebo/blake3"

	"github.com/bentobuild/bento/internal/crash"
)

// MaxSize bounds the payload of one state file in bytes.
const MaxSize = 1 << 30

// ErrAbsent says that there is no state file to use: none, or one that is damaged,
// of another version, or not ours. It is also fs.ErrNotExist.
var ErrAbsent = fmt.Errorf("no usable state: %w", fs.ErrNotExist)

// An envelope is magic, version, payload length (little endian), a checksum over
// all of them, the file's name and the payload, and then the payload.
const (
	magic      = "bento\x00st"
	sumAt      = len(magic) + 4 + 8
	headerSize = sumAt + 32
)

// Load gives the payload that Store wrote under name. The error is ErrAbsent when
// there is none of that version, or the I/O error that kept it from being read.
func (d *Dir) Load(name string, version uint32) ([]byte, error) {
	if err := checkName(name); err != nil {
		return nil, err
	}
	data, err := readRegular(d.Path(name))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, ErrAbsent
	}
	if err != nil {
		return nil, err
	}
	payload, err := open(name, version, data)
	if err != nil {
		return nil, fmt.Errorf("state file %q: %s: %w", name, err, ErrAbsent)
	}
	return payload, nil
}

// Store replaces the file name by payload: readers see the old file or the new
// one. It is not synced to the disk; a file that a power cut leaves half written
// is absent.
func (d *Dir) Store(name string, version uint32, payload []byte) error {
	if err := checkName(name); err != nil {
		return err
	}
	if len(payload) > MaxSize {
		return fmt.Errorf("state file %q: %d bytes, more than the %d a state file may have", name, len(payload), MaxSize)
	}
	path := d.Path(name)
	head := seal(name, version, payload)
	err := d.replace(path, head, payload)
	if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := d.makeSelf(); err != nil {
		return err
	}
	crash.Point()
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		return err
	}
	return d.replace(path, head, payload)
}

func (d *Dir) replace(path string, parts ...[]byte) error {
	if fi, err := os.Lstat(d.path); err != nil || !fi.IsDir() {
		return fs.ErrNotExist // makeSelf says what is wrong
	}
	return write(path, 0o666, parts...)
}

func seal(name string, version uint32, payload []byte) []byte {
	head := make([]byte, 0, headerSize)
	head = append(head, magic...)
	head = binary.LittleEndian.AppendUint32(head, version)
	head = binary.LittleEndian.AppendUint64(head, uint64(len(payload)))
	return append(head, sum(head, name, payload)...)
}

// open checks an envelope and gives its payload, which shares data's memory.
func open(name string, version uint32, data []byte) ([]byte, error) {
	if len(data) < headerSize || string(data[:len(magic)]) != magic {
		return nil, errors.New("not a state file")
	}
	head, payload := data[:headerSize], data[headerSize:]
	if v := binary.LittleEndian.Uint32(head[len(magic):]); v != version {
		return nil, fmt.Errorf("version %d, expected %d", v, version)
	}
	if n := binary.LittleEndian.Uint64(head[len(magic)+4:]); n != uint64(len(payload)) {
		return nil, fmt.Errorf("%d bytes, expected %d", len(payload), n)
	}
	if !bytes.Equal(head[sumAt:], sum(head[:sumAt], name, payload)) {
		return nil, errors.New("checksum does not fit")
	}
	return payload, nil
}

// sum covers the name too, so that a file copied over another is not taken for it.
func sum(head []byte, name string, payload []byte) []byte {
	h := blake3.NewDeriveKey("bento state file v1")
	h.Write(head)
	h.Write(binary.LittleEndian.AppendUint64(nil, uint64(len(name))))
	h.WriteString(name)
	h.Write(payload)
	return h.Sum(nil)
}

// readRegular reads a file whole; what is not a regular file is not there.
func readRegular(path string) ([]byte, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|nonblock, 0) // a FIFO must not hold us
	if err != nil {
		return nil, err
	}
	defer f.Close()
	fi, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if !fi.Mode().IsRegular() || fi.Size() > MaxSize+int64(headerSize) {
		return nil, fs.ErrNotExist
	}
	data := make([]byte, fi.Size())
	populate(data)
	if _, err := io.ReadFull(f, data); err != nil {
		return nil, fmt.Errorf("read %q: %w", path, err)
	}
	return data, nil
}
