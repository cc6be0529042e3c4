package cache

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"time"

	"github.com/zeebo/blake3"

	"github.com/bentobuild/bento/internal/pack"
)

// An encoded record is recordMagic, the fields in the order of writeRecord, and a checksum over
// the key and all bytes before it. Numbers are varints; a string follows its length. A change of
// the format changes recordMagic and the directory of the store.
const (
	recordMagic = "bentor\x00\x03"
	maxRecord   = 64 << 20 // in bytes, without the checksum
	sumSize     = 32       // of the checksum, in bytes
	minOutput   = 4        // least size of an encoded output in bytes
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
	var w pack.Writer
	w.Raw([]byte(recordMagic))
	writeRecord(&w, r)
	b := w.Payload()
	if len(b) > maxRecord {
		return nil, fmt.Errorf("record of %d outputs: more than %d bytes", len(r.Outputs), maxRecord)
	}
	sum := recordSum(key, b)
	return append(b, sum[:]...), nil
}

func writeRecord(w *pack.Writer, r *Record) {
	w.Int(int64(r.Exit))
	w.Raw(r.Log[:])
	w.Int(r.LogSize)
	w.Raw(r.Pack[:])
	w.Raw(r.Ingredients[:])
	w.Int(r.Created.UnixNano())
	w.Int(int64(r.Duration))
	w.String(r.Host)
	w.Uint(uint64(len(r.Outputs)))
	for i := range r.Outputs {
		writeOutput(w, &r.Outputs[i])
	}
	w.Uint(uint64(len(r.Small)))
	for _, d := range r.sortedSmall() {
		w.String(string(r.Small[d]))
	}
}

func writeOutput(w *pack.Writer, o *Output) {
	w.Byte(byte(o.Kind))
	w.String(o.Path)
	w.Uint(uint64(o.Mode))
	switch o.Kind {
	case File:
		w.Raw(o.Digest[:])
		w.Uint(uint64(o.Size))
	case Link:
		w.String(o.Target)
	}
}

// recordSum returns the checksum of a record. It covers the key, so a record under another key is damaged.
func recordSum(key Key, b []byte) [32]byte {
	const domain = "bento cache record v1\x00"
	all := make([]byte, 0, len(domain)+len(key)+len(b))
	all = append(append(append(all, domain...), key[:]...), b...)
	return blake3.Sum256(all)
}

// DecodeRecord decodes the bytes that EncodeRecord returned for key. It returns an error for any other bytes, and for
// a record of more than maxOutputs outputs. It uses no more memory than a small multiple of their size.
func DecodeRecord(key Key, data []byte, maxOutputs uint64) (*Record, error) {
	if len(data) > maxRecord+sumSize || len(data) < len(recordMagic)+sumSize || string(data[:len(recordMagic)]) != recordMagic {
		return nil, errRecord
	}
	body, sum := data[:len(data)-sumSize], data[len(data)-sumSize:]
	if want := recordSum(key, body); !bytes.Equal(sum, want[:]) {
		return nil, errors.New("the checksum of the record does not match")
	}
	fields := pack.NewReader(body[len(recordMagic):])
	r, err := readRecord(fields, maxOutputs)
	if err != nil || fields.End() != nil {
		return nil, errRecord
	}
	return r, checkOutputs(r.Outputs)
}

func readRecord(d *pack.Reader, maxOutputs uint64) (*Record, error) {
	r := &Record{}
	r.Exit = int(d.Int())
	r.Log = readDigest(d)
	r.LogSize = d.Int()
	r.Pack = readDigest(d)
	r.Ingredients = readDigest(d)
	r.Created = time.Unix(0, d.Int()).UTC()
	r.Duration = time.Duration(d.Int())
	r.Host = d.String()
	switch n := d.Count(minOutput); {
	case n > maxOutputs:
		return nil, errRecord
	case n > 0:
		r.Outputs = make([]Output, n)
	}
	for i := range r.Outputs {
		readOutput(d, &r.Outputs[i])
	}
	size := 0
	for range d.Count(1) {
		data := d.Raw(d.Uint())
		if size += len(data); len(data) > maxSmall || size > maxSmallAll {
			return nil, errRecord
		}
		r.addSmall(Sum(data), data)
	}
	return r, nil
}

func readOutput(d *pack.Reader, o *Output) {
	o.Kind = Kind(d.Byte())
	o.Path = d.String()
	o.Mode = fs.FileMode(d.Uint())
	switch o.Kind {
	case File:
		o.Digest = readDigest(d)
		o.Size = int64(d.Uint())
	case Link:
		o.Target = d.String()
	}
}

func readDigest(d *pack.Reader) (sum Digest) {
	copy(sum[:], d.Raw(uint64(len(sum))))
	return sum
}
