package cache

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"time"

	"github.com/zeebo/blake3"

	"github.com/bentobuild/bento/cache/shelf"
)

// A record is recordMagic, its fields in the order of appendRecord, and a checksum
// over its key and all of that. Numbers are varints, strings have their length in
// front. With another format the magic changes, and the directory of the store.
const (
	recordMagic = "bentor\x00\x03"
	maxRecord   = shelf.MaxRecord - 32 // bytes, before the checksum
	minOutput   = 4                    // bytes that an output takes at least
	maxHost     = 255
)

var errRecord = errors.New("not a whole record")

// EncodeRecord gives the bytes of a record under key. A record that breaks the
// rules of Record and Output is an error.
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

// recordSum covers the key too: a record under another key is damage.
func recordSum(key Key, b []byte) [32]byte {
	const domain = "bento cache record v1\x00"
	all := make([]byte, 0, len(domain)+len(key)+len(b))
	all = append(append(append(all, domain...), key[:]...), b...)
	return blake3.Sum256(all)
}

// DecodeRecord reads what EncodeRecord gave for key. It trusts nothing: any other
// bytes are an error, and cost no more memory than a small multiple of their size.
func DecodeRecord(key Key, data []byte) (*Record, error) {
	if len(data) > maxRecord+32 || len(data) < len(recordMagic)+32 || string(data[:len(recordMagic)]) != recordMagic {
		return nil, errRecord
	}
	body, sum := data[:len(data)-32], data[len(data)-32:]
	if want := recordSum(key, body); !bytes.Equal(sum, want[:]) {
		return nil, errors.New("the checksum of the record does not fit")
	}
	d := &decoder{rest: body[len(recordMagic):]}
	r := d.record()
	if d.bad || len(d.rest) != 0 {
		return nil, errRecord
	}
	return r, checkOutputs(r.Outputs)
}

// decoder reads fields. From the first that is not there on, all are zero.
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

// bytes gives n bytes, or one zero byte when they are not there.
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

// count reads how many items of at least size bytes follow.
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
