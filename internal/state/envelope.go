package state

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"

	"github.com/bentobuild/bento/internal/owndir"
)

// MaxSize is the largest payload of one state file in bytes.
const MaxSize = 1 << 30

// ErrAbsent is the error of an unusable state file: it is missing, damaged, of another version, or of
// an untrusted owner. It is also fs.ErrNotExist.
var ErrAbsent = fmt.Errorf("no usable state: %w", fs.ErrNotExist)

// An envelope is magic, version, payload length (little endian), a checksum over these, the file's
// name and the payload, and then the payload.
const (
	magic      = "bento\x00s2"
	sumAt      = len(magic) + 4 + 8
	headerSize = sumAt + crc32.Size
)

// Load returns the payload that Store wrote under name. It returns ErrAbsent if there is no usable
// file of that version, or the I/O error of reading it.
func (d *Dir) Load(name string, version uint32) ([]byte, error) {
	return d.loadAs(name, version, 0)
}

// loadAs is Load of a file. It returns ErrAbsent if the mode has one of the bits without.
func (d *Dir) loadAs(name string, version uint32, without fs.FileMode) ([]byte, error) {
	dir, base, err := d.at(name, false)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, ErrAbsent
	}
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	return load(dir, base, name, version, without)
}

// LoadPrivate is Load of a file from StorePrivate. It returns ErrAbsent for a file that other users
// may read.
func (d *Dir) LoadPrivate(name string, version uint32) ([]byte, error) {
	return d.loadAs(name, version, 0o077)
}

// load is loadAs of the file base in dir.
func load(dir *owndir.Dir, base, name string, version uint32, without fs.FileMode) ([]byte, error) {
	data, err := readRegular(dir, base, without)
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

// Store replaces the file name by a payload, which may be in parts. Readers see the old file or the
// new one. Store does not sync to the disk: a file that a power cut truncates is absent.
func (d *Dir) Store(name string, version uint32, payload ...[]byte) error {
	if size := sizeOf(payload); size > MaxSize {
		return fmt.Errorf("state file %q: %d bytes, expected at most %d", name, size, MaxSize)
	}
	dir, base, err := d.at(name, true)
	if err != nil {
		return err
	}
	defer dir.Close()
	return store(dir, base, name, version, payload...)
}

func sizeOf(parts [][]byte) (n int) {
	for _, p := range parts {
		n += len(p)
	}
	return n
}

// StorePrivate is Store of a file that only the user may read.
func (d *Dir) StorePrivate(name string, version uint32, payload []byte) error {
	dir, base, err := d.at(name, true)
	if err != nil {
		return err
	}
	defer dir.Close()
	return dir.ReplaceAs(base, 0o600, seal(name, version, payload), payload)
}

// store is Store of the file base in dir.
func store(dir *owndir.Dir, base, name string, version uint32, payload ...[]byte) error {
	return dir.Replace(base, append([][]byte{seal(name, version, payload...)}, payload...)...)
}

func seal(name string, version uint32, payload ...[]byte) []byte {
	head := make([]byte, 0, headerSize)
	head = append(head, magic...)
	head = binary.LittleEndian.AppendUint32(head, version)
	head = binary.LittleEndian.AppendUint64(head, uint64(sizeOf(payload)))
	return binary.LittleEndian.AppendUint32(head, sum(head, name, payload...))
}

// open checks an envelope and returns its payload, which shares data's memory.
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
	if binary.LittleEndian.Uint32(head[sumAt:]) != sum(head[:sumAt], name, payload) {
		return nil, errors.New("the checksum does not match")
	}
	return payload, nil
}

// sum includes the name, so that a copy under another name is invalid. A checksum is enough against damage; a digest
// of the index takes a twentieth of a run of hits.
func sum(head []byte, name string, payload ...[]byte) uint32 {
	all := crc32.ChecksumIEEE(head)
	all = crc32.Update(all, crc32.IEEETable, binary.LittleEndian.AppendUint64(nil, uint64(len(name))))
	all = crc32.Update(all, crc32.IEEETable, []byte(name))
	for _, part := range payload {
		all = crc32.Update(all, crc32.IEEETable, part)
	}
	return all
}

// readRegular reads a whole file. It returns ErrAbsent for a file that is not regular or has one of
// the mode bits without.
func readRegular(dir *owndir.Dir, name string, without fs.FileMode) ([]byte, error) {
	f, info, err := dir.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if _, owned := info.Owner(); owned && info.Mode.Perm()&without != 0 {
		return nil, fs.ErrNotExist
	}
	if info.Size > MaxSize+int64(headerSize) {
		return nil, fs.ErrNotExist
	}
	data := make([]byte, info.Size)
	populate(data)
	if _, err := io.ReadFull(f, data); err != nil {
		return nil, fmt.Errorf("read %q: %w", f.Name(), err)
	}
	return data, nil
}
