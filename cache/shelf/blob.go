package shelf

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"

	"github.com/klauspost/compress/zstd"
	"github.com/zeebo/blake3"

	"github.com/bentobuild/bento/internal/rawfile"
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
type DigestError struct{ Want, Got [32]byte }

func (e *DigestError) Error() string {
	return fmt.Sprintf("blob %x: its content has the digest %x", e.Want, e.Got)
}

// Add puts the blob that r holds on the shelf. Nothing is put there, and it is a
// *DigestError, when its digest is not d. If the blob is there already, r is not
// read and the blob counts as used; from the first damage that was found on, it is
// verified before.
func (s *Shelf) Add(d [32]byte, r io.Reader) error {
	if s.TouchBlob(d) && (!s.damaged.Load() || s.isWhole(d)) {
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
		return s.addSmall(d, head[:n])
	case err != nil:
		return err
	}
	return s.addLarge(d, head[:], r)
}

// TouchBlob stamps a blob as used, if that is allowed, and tells whether it is
// there.
func (s *Shelf) TouchBlob(d [32]byte) bool {
	now := s.now()
	return s.touch(blobs, d, "", now) || s.touch(blobs, d, compressed, now)
}

// isWhole reads a blob, which is removed when it is damaged.
func (s *Shelf) isWhole(d [32]byte) bool {
	b, err := s.Open(d)
	if err != nil {
		return false
	}
	defer b.Close()
	_, err = io.Copy(io.Discard, b)
	return err == nil
}

// HasBlob reports whether a blob is there.
func (s *Shelf) HasBlob(d [32]byte) bool {
	info, err := s.stat(blobs, d, "")
	if errors.Is(err, fs.ErrNotExist) {
		info, err = s.stat(blobs, d, compressed)
	}
	return err == nil && info.Mode.IsRegular()
}

// addSmall stores a blob that is in memory.
func (s *Shelf) addSmall(d [32]byte, data []byte) error {
	if got := blake3.Sum256(data); got != d {
		return &DigestError{Want: d, Got: got}
	}
	f, err := s.create()
	if err != nil {
		return err
	}
	suffix := ""
	if z, pays := s.compress(data); pays {
		suffix, data = compressed, append(appendHeader(nil, int64(len(data))), z...)
	}
	_, err = f.Write(data)
	return s.publish(f, place{blobs, d, suffix}, s.now(), err)
}

// addLarge stores a blob of which head was read.
func (s *Shelf) addLarge(d [32]byte, head []byte, r io.Reader) error {
	f, err := s.create()
	if err != nil {
		return err
	}
	h := blake3.New()
	all := io.TeeReader(io.MultiReader(bytes.NewReader(head), r), h)
	suffix := ""
	if _, pays := s.compress(head); pays {
		suffix = compressed
		err = s.writeCompressed(f.File, all)
	} else {
		_, err = io.Copy(f, all)
	}
	if got := hashed(h); err == nil && got != d {
		err = &DigestError{Want: d, Got: got}
	}
	return s.publish(f, place{blobs, d, suffix}, s.now(), err)
}

// writeCompressed writes the frame, and then the header with the size.
func (s *Shelf) writeCompressed(f *rawfile.File, r io.Reader) error {
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
func (s *Shelf) compress(data []byte) (z []byte, pays bool) {
	if len(data) <= blockSize {
		return nil, false
	}
	enc := s.encoder()
	defer s.encoders.Put(enc)
	z = enc.EncodeAll(data, make([]byte, 0, len(data)))
	saved := len(data) - len(z) - zHeader
	return z, saved > len(data)/10 && saved >= blockSize/2
}

func (s *Shelf) encoder() *zstd.Encoder {
	if enc, ok := s.encoders.Get().(*zstd.Encoder); ok {
		return enc
	}
	enc, _ := zstd.NewWriter(nil, // these options are never in error
		zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderConcurrency(1),
		zstd.WithEncoderCRC(false), zstd.WithWindowSize(1<<20))
	return enc
}

func (s *Shelf) decoder() *zstd.Decoder {
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

func hashed(h *blake3.Hasher) (sum [32]byte) {
	h.Sum(sum[:0])
	return sum
}

// Open gives a blob, or ErrAbsent.
func (s *Shelf) Open(d [32]byte) (*Blob, error) {
	f, _, err := s.openFile(blobs, d, "")
	if err == nil {
		return &Blob{shelf: s, digest: d, file: f, src: f, left: math.MaxInt64}, nil
	}
	if !errors.Is(err, ErrAbsent) {
		return nil, err
	}
	f, _, err = s.openFile(blobs, d, compressed)
	if err != nil {
		return nil, err
	}
	b := &Blob{shelf: s, digest: d, file: f, suffix: compressed}
	if err := b.inflate(); err != nil {
		f.Close()
		return nil, b.Damaged(err)
	}
	return b, nil
}

// Blob reads a blob. Its last Read gives io.EOF when the content has the right
// digest, or else a *DamageError.
type Blob struct {
	shelf  *Shelf
	digest [32]byte
	file   *rawfile.File
	suffix string // of its name
	src    io.Reader
	left   int64          // bytes that may still come
	dec    *zstd.Decoder  // of a compressed blob
	hash   *blake3.Hasher // of what was read
	blind  bool           // the caller compares
	err    error          // once it has ended
}

// File gives the file, nil when it is compressed.
func (b *Blob) File() *rawfile.File {
	if b.dec != nil {
		return nil
	}
	return b.file
}

// Size gives how many bytes will come, as far as the blob tells: 0 when it does not.
func (b *Blob) Size() int64 {
	if b.dec == nil {
		return 0
	}
	return b.left
}

// Unverified leaves it to the caller to hash what is read, and to call Damaged if
// that is not right. It is called before the first Read.
func (b *Blob) Unverified() { b.blind = true }

// Damaged removes the blob and gives the error of it.
func (b *Blob) Damaged(cause error) error { return b.shelf.drop(blobs, b.digest, b.suffix, cause) }

func (b *Blob) inflate() error {
	head := make([]byte, zHeader)
	if _, err := io.ReadFull(b.file, head); err != nil {
		return err
	}
	size := binary.LittleEndian.Uint64(head[len(zMagic):])
	if string(head[:len(zMagic)]) != zMagic || size > math.MaxInt64 {
		return errors.New("not a compressed blob")
	}
	dec := b.shelf.decoder()
	if err := dec.Reset(b.file); err != nil {
		return err
	}
	b.dec, b.src, b.left = dec, dec, int64(size)
	return nil
}

// Read implements io.Reader.
func (b *Blob) Read(p []byte) (int, error) {
	if b.err != nil {
		return 0, b.err
	}
	n, err := b.src.Read(p)
	b.left -= int64(n)
	if !b.blind {
		b.hasher().Write(p[:n])
	}
	switch {
	case b.left < 0:
		b.err = b.Damaged(errors.New("it is longer than it says"))
		return 0, b.err
	case err == io.EOF:
		b.err = b.end()
	case err != nil && b.dec != nil:
		b.err = b.Damaged(err)
	case err != nil:
		b.err = err
	}
	return n, b.err
}

func (b *Blob) hasher() *blake3.Hasher {
	if b.hash == nil {
		b.hash = blake3.New()
	}
	return b.hash
}

func (b *Blob) end() error {
	if b.dec != nil && b.left != 0 {
		return b.Damaged(errors.New("it is shorter than it says"))
	}
	if b.blind {
		return io.EOF
	}
	if got := hashed(b.hasher()); got != b.digest {
		return b.Damaged(&DigestError{Want: b.digest, Got: got})
	}
	return io.EOF
}

// Close implements io.Closer.
func (b *Blob) Close() error {
	if b.dec != nil {
		_ = b.dec.Reset(nil)
		b.shelf.decoders.Put(b.dec)
		b.dec = nil
	}
	b.err = fs.ErrClosed
	return b.file.Close()
}
