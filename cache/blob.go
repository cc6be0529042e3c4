package cache

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"time"

	"github.com/klauspost/compress/zstd"
	"github.com/zeebo/blake3"
)

// A compressed blob has this suffix. It is zMagic, its size in 8 bytes (little
// endian), and one zstd frame.
const (
	compressed = ".z"
	zMagic     = "bentoz\x00\x01"
	zHeader    = len(zMagic) + 8
)

const (
	sampleSize = 128 << 10 // of a blob is compressed to see whether it pays
	blockSize  = 4 << 10   // what a file takes at least, so that nothing below pays
	maxWindow  = 8 << 20   // memory that reading a compressed blob may take
)

// DigestError says that a blob is not what its digest says.
type DigestError struct{ Want, Got Digest }

func (e *DigestError) Error() string {
	return fmt.Sprintf("blob %s: its content has the digest %s", e.Want, e.Got)
}

// Add implements Store.
func (s *Disk) Add(d Digest, r io.Reader) error {
	path := s.path(blobsDir, d)
	if s.has(path) {
		return nil
	}
	head, ok := s.samples.Get().(*[sampleSize]byte)
	if !ok {
		head = new([sampleSize]byte)
	}
	defer s.samples.Put(head)
	n, err := io.ReadFull(r, head[:])
	switch {
	case errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF):
		return s.addSmall(d, path, head[:n])
	case err != nil:
		return err
	}
	return s.addLarge(d, path, head[:], r)
}

// has tells whether a blob is there, and marks it as used.
func (s *Disk) has(path string) bool {
	_, ok := s.statBlob(path)
	return ok && s.stamp(path, time.Now())
}

func (s *Disk) statBlob(path string) (fs.FileInfo, bool) {
	fi, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		fi, err = os.Lstat(path + compressed)
	}
	return fi, err == nil
}

// addSmall stores a blob that is in memory.
func (s *Disk) addSmall(d Digest, path string, data []byte) error {
	if got := Sum(data); got != d {
		return &DigestError{Want: d, Got: got}
	}
	f, err := s.create()
	if err != nil {
		return err
	}
	if z, pays := s.compress(data); pays {
		path, data = path+compressed, append(appendHeader(nil, int64(len(data))), z...)
	}
	_, err = f.Write(data)
	return s.publish(f, path, err)
}

// addLarge stores a blob of which head was read.
func (s *Disk) addLarge(d Digest, path string, head []byte, r io.Reader) error {
	f, err := s.create()
	if err != nil {
		return err
	}
	h := blake3.New()
	all := io.TeeReader(io.MultiReader(bytes.NewReader(head), r), h)
	if _, pays := s.compress(head); pays {
		path += compressed
		err = s.writeCompressed(f, all)
	} else {
		_, err = io.Copy(f, all)
	}
	if got := hashed(h); err == nil && got != d {
		err = &DigestError{Want: d, Got: got}
	}
	return s.publish(f, path, err)
}

// writeCompressed writes the frame, and then the header with the size.
func (s *Disk) writeCompressed(f *os.File, r io.Reader) error {
	if _, err := f.Write(make([]byte, zHeader)); err != nil {
		return err
	}
	enc := s.encoder()
	defer s.encoders.Put(enc)
	enc.Reset(f)
	size, err := io.Copy(enc, r)
	if e := enc.Close(); err == nil {
		err = e
	}
	if err == nil {
		_, err = f.WriteAt(appendHeader(nil, size), 0)
	}
	return err
}

// compress tells whether compressing data saves a tenth and a block of the disk.
func (s *Disk) compress(data []byte) (z []byte, pays bool) {
	if len(data) <= blockSize {
		return nil, false
	}
	enc := s.encoder()
	defer s.encoders.Put(enc)
	z = enc.EncodeAll(data, make([]byte, 0, len(data)))
	saved := len(data) - len(z) - zHeader
	return z, saved > len(data)/10 && saved >= blockSize/2
}

func (s *Disk) encoder() *zstd.Encoder {
	if enc, ok := s.encoders.Get().(*zstd.Encoder); ok {
		return enc
	}
	enc, _ := zstd.NewWriter(nil, // these options are never in error
		zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderConcurrency(1),
		zstd.WithEncoderCRC(false), zstd.WithWindowSize(1<<20))
	return enc
}

func (s *Disk) decoder() *zstd.Decoder {
	if dec, ok := s.decoders.Get().(*zstd.Decoder); ok {
		return dec
	}
	dec, _ := zstd.NewReader(nil, // as above
		zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true),
		zstd.WithDecoderMaxMemory(maxWindow), zstd.WithDecoderMaxWindow(maxWindow))
	return dec
}

func appendHeader(b []byte, size int64) []byte {
	return binary.LittleEndian.AppendUint64(append(b, zMagic...), uint64(size))
}

func hashed(h *blake3.Hasher) (d Digest) {
	h.Sum(d[:0])
	return d
}

// Open implements Store.
func (s *Disk) Open(d Digest) (io.ReadCloser, error) {
	b, err := s.open(d)
	if err != nil {
		return nil, err
	}
	b.hash = blake3.New()
	return b, nil
}

// open gives a reader that leaves comparing the digest to its caller.
func (s *Disk) open(d Digest) (*blobReader, error) {
	path := s.path(blobsDir, d)
	f, err := os.Open(path)
	if err == nil {
		return &blobReader{store: s, digest: d, file: f, src: f, left: math.MaxInt64}, nil
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	f, err = os.Open(path + compressed)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, ErrMiss
	}
	if err != nil {
		return nil, err
	}
	b := &blobReader{store: s, digest: d, file: f}
	if err := b.inflate(); err != nil {
		f.Close()
		return nil, s.drop(f.Name(), err)
	}
	return b, nil
}

// blobReader reads a blob and finds out at its end whether it is the right one.
type blobReader struct {
	store  *Disk
	digest Digest
	file   *os.File
	src    io.Reader
	left   int64          // bytes that may still come
	dec    *zstd.Decoder  // of a compressed blob
	hash   *blake3.Hasher // nil: the caller compares
	err    error          // once it has ended
}

func (b *blobReader) inflate() error {
	head := make([]byte, zHeader)
	if _, err := io.ReadFull(b.file, head); err != nil {
		return err
	}
	size := binary.LittleEndian.Uint64(head[len(zMagic):])
	if string(head[:len(zMagic)]) != zMagic || size > math.MaxInt64 {
		return errors.New("not a compressed blob")
	}
	dec := b.store.decoder()
	if err := dec.Reset(b.file); err != nil {
		return err
	}
	b.dec, b.src, b.left = dec, dec, int64(size)
	return nil
}

// Read implements io.Reader.
func (b *blobReader) Read(p []byte) (int, error) {
	if b.err != nil {
		return 0, b.err
	}
	n, err := b.src.Read(p)
	b.left -= int64(n)
	if b.hash != nil {
		b.hash.Write(p[:n])
	}
	switch {
	case b.left < 0:
		b.err = b.damaged(errors.New("it is longer than it says"))
		return 0, b.err
	case err == io.EOF:
		b.err = b.end()
	case err != nil && b.dec != nil:
		b.err = b.damaged(err)
	case err != nil:
		b.err = err
	}
	return n, b.err
}

func (b *blobReader) end() error {
	if b.dec != nil && b.left != 0 {
		return b.damaged(errors.New("it is shorter than it says"))
	}
	if b.hash != nil {
		return b.check(hashed(b.hash))
	}
	return io.EOF
}

// check gives io.EOF when what was read has the right digest.
func (b *blobReader) check(got Digest) error {
	if got != b.digest {
		return b.damaged(&DigestError{Want: b.digest, Got: got})
	}
	return io.EOF
}

func (b *blobReader) damaged(cause error) error { return b.store.drop(b.file.Name(), cause) }

// Close implements io.Closer.
func (b *blobReader) Close() error {
	if b.dec != nil {
		_ = b.dec.Reset(nil)
		b.store.decoders.Put(b.dec)
		b.dec = nil
	}
	b.err = fs.ErrClosed
	return b.file.Close()
}
