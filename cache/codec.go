package cache

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"time"

	"github.com/zeebo/blake3"

	"github.com/bentobuild/bento/cache/diskstore"
)

// An encoded record is recordMagic, the fields in the order of appendRecord, and a checksum over
// the key and all bytes before it. Numbers are varints; a string follows its length. A change of
// the format changes recordMagic and the directory of the store.
const (
	recordMagic = "bentor\x00\x03"
	maxRecord   = diskstore.MaxRecord - 32 // in bytes, without the checksum
	minOutput   = 4                        // least size of an encoded output in bytes
	maxHost     = 255
)

var errRecord = errors.New("incomplete or damaged record")

// EncodeRecord returns the bytes of a record under key. It returns an error for a record that
// breaks the rules of Record and Output.
func EncodeRecord(key Key, r *Record) ([]byte, error) {
	if err := CheckOutputs(r.Outputs); err != nil {
		return nil, err
	}
	if len(r.Host) > maxHost || r.LogSize < 0 {
		return nil, errors.New("record: its host or log size is out of bounds")
	}
	if size := r.smallSize(); size > maxSmallAll {
		return nil, fmt.Errorf("record: %d bytes of small blobs, more than %d", size, maxSmallAll)
	}
	b := appendRecord([]byte(recordMagic), r)
	if len(b) > maxRecord {
		return nil, fmt.Errorf("record of %d outputs: more than %d bytes", len(r.Outputs), maxRecord)
	}
	sum := recordSum(key, b)
	return append(b, sum[:]...), nil
}

func appendRecord(b []byte, r *Record) []byte {
	b = binary.AppendVarint(b, int64(r.Exit))
	b = append(b, r.Log[:]...)
	b = binary.AppendVarint(b, r.LogSize)
	b = append(b, r.Recording[:]...)
	b = append(b, r.Ingredients[:]...)
	b = binary.AppendVarint(b, r.Created.UnixNano())
	b = binary.AppendVarint(b, int64(r.Duration))
	b = appendString(b, r.Host)
	b = binary.AppendUvarint(b, uint64(len(r.Outputs)))
	for i := range r.Outputs {
		b = appendOutput(b, &r.Outputs[i])
	}
	b = binary.AppendUvarint(b, uint64(len(r.Small)))
	for _, d := range r.sortedSmall() {
		b = appendString(b, string(r.Small[d]))
	}
	return b
}

func appendOutput(b []byte, o *Output) []byte {
	b = append(b, byte(o.Kind))
	b = appendString(b, o.Path)
	b = binary.AppendUvarint(b, uint64(o.Mode))
	switch o.Kind {
	case File:
		b = append(b, o.Digest[:]...)
		b = binary.AppendUvarint(b, uint64(o.Size))
	case Link:
		b = appendString(b, o.Target)
	}
	return b
}

func appendString(b []byte, s string) []byte {
	return append(binary.AppendUvarint(b, uint64(len(s))), s...)
}

// recordSum returns the checksum of a record. It covers the key: a record under another key counts
// as damaged.
func recordSum(key Key, b []byte) [32]byte {
	const domain = "bento cache record v1\x00"
	all := make([]byte, 0, len(domain)+len(key)+len(b))
	all = append(append(append(all, domain...), key[:]...), b...)
	return blake3.Sum256(all)
}

// decodeRecord decodes the bytes that EncodeRecord returned for key. It returns an error for any
// other bytes, and uses no more memory than a small multiple of their size.
func decodeRecord(key Key, data []byte) (*Record, error) {
	if len(data) > maxRecord+32 || len(data) < len(recordMagic)+32 || string(data[:len(recordMagic)]) != recordMagic {
		return nil, errRecord
	}
	body, sum := data[:len(data)-32], data[len(data)-32:]
	if want := recordSum(key, body); !bytes.Equal(sum, want[:]) {
		return nil, errors.New("the checksum of the record does not match")
	}
	d := &decoder{rest: body[len(recordMagic):]}
	r := d.record()
	if d.bad || len(d.rest) != 0 {
		return nil, errRecord
	}
	return r, checkOutputs(r.Outputs)
}

// decoder reads fields. After the first missing field all fields are zero.
type decoder struct {
	rest []byte
	bad  bool
}

func (d *decoder) record() *Record {
	r := &Record{}
	r.Exit = int(d.varint())
	r.Log = d.digest()
	r.LogSize = d.varint()
	r.Recording = d.digest()
	r.Ingredients = d.digest()
	r.Created = time.Unix(0, d.varint()).UTC()
	r.Duration = time.Duration(d.varint())
	r.Host = d.string()
	if n := d.count(minOutput); n > 0 {
		r.Outputs = make([]Output, n)
	}
	for i := range r.Outputs {
		d.output(&r.Outputs[i])
	}
	d.small(r)
	return r
}

func (d *decoder) small(r *Record) {
	size := 0
	for range d.count(1) {
		data := d.bytes(d.count(1))
		if size += len(data); len(data) > maxSmall || size > maxSmallAll {
			d.bad = true
		}
		if d.bad {
			return
		}
		r.addSmall(Sum(data), data)
	}
}

func (d *decoder) output(o *Output) {
	o.Kind = Kind(d.bytes(1)[0])
	o.Path = d.string()
	o.Mode = fs.FileMode(d.uvarint())
	switch o.Kind {
	case File:
		o.Digest = d.digest()
		o.Size = int64(d.uvarint())
	case Link:
		o.Target = d.string()
	}
}

// bytes returns the next n bytes, or one zero byte when fewer are left.
func (d *decoder) bytes(n int) []byte {
	if d.bad || n > len(d.rest) {
		d.bad = true
		return make([]byte, 1)
	}
	field := d.rest[:n]
	d.rest = d.rest[n:]
	return field
}

func (d *decoder) uvarint() uint64 {
	v, n := binary.Uvarint(d.rest)
	if n <= 0 || d.bad {
		d.bad = true
		return 0
	}
	d.rest = d.rest[n:]
	return v
}

func (d *decoder) varint() int64 {
	v, n := binary.Varint(d.rest)
	if n <= 0 || d.bad {
		d.bad = true
		return 0
	}
	d.rest = d.rest[n:]
	return v
}

// count reads the number of items that follow, each of at least size bytes.
func (d *decoder) count(size int) int {
	n := d.uvarint()
	if n > uint64(len(d.rest)/size) {
		d.bad = true
		return 0
	}
	return int(n)
}

func (d *decoder) string() string {
	n := d.count(1)
	if d.bad {
		return ""
	}
	return string(d.bytes(n))
}

func (d *decoder) digest() (sum Digest) {
	copy(sum[:], d.bytes(len(sum)))
	return sum
}
