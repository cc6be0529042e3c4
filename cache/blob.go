package cache

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"

	"github.com/klauspost/compress/s2"
	"github.com/klauspost/compress/zstd"
	"github.com/zeebo/blake3"

	"github.com/bentobuild/bento/internal/rawfile"
)

// A compressed blob has a name with this suffix. The file is zMagic, the size of the blob in 8 bytes
// (little endian), and one zstd frame. For a small blob, below sampleSize, it is sMagic, the size, and one
// S2 block, which takes a third more space and a tenth of the time.
const (
	compressed = ".z"
	zMagic     = "bentoz\x00\x01"
	sMagic     = "bentoz\x00\x02"
	zHeader    = len(zMagic) + 8
)

const (
	sampleSize = 128 << 10 // of a large blob so many bytes are compressed first, to decide about the rest
	blockSize  = 4 << 10   // least size of a file on the disk; no compression saves less
	maxHashed  = 4 << 20   // largest blob that is compressed in memory
	maxWindow  = 8 << 20   // largest window of a compressed blob that is read
	maxBlock   = 160 << 10 // more than s2.MaxEncodedLen(sampleSize)
)

// DigestError reports that the content of a blob does not match its digest.
type DigestError struct{ Want, Got Digest }

func (e *DigestError) Error() string {
	return fmt.Sprintf("blob %s: its content has the digest %s", e.Want, e.Got)
}

// Hashed reads bytes whose digest is known, so that Add does not compute it again. The bytes do not
// change while it is used.
type Hashed struct {
	bytes.Reader
	data []byte
	sum  Digest
}

// Hash returns a reader of data, which does not change while it is read, with its digest.
func Hash(data []byte) *Hashed {
	h := &Hashed{data: data, sum: Sum(data)}
	h.Reset(data)
	return h
}

// Sum returns the digest of all bytes.
func (h *Hashed) Sum() Digest { return h.sum }

// Add implements Store. If the digest of the content is not d, it returns a *DigestError and stores
// nothing. If the store has the blob already, Add does not read r, and notes a use of the blob. After the
// first damaged entry in this process it verifies the stored blob first.
func (s *Disk) Add(d Digest, r io.Reader) error {
	if s.touchBlob(d) && (!s.damaged.Load() || s.isWhole(d)) {
		return nil
	}
	switch h, ok := r.(*Hashed); {
	case ok && len(h.data) < sampleSize:
		return s.addSmall(d, h)
	case ok && len(h.data) <= maxHashed:
		return s.addHashed(d, h)
	}
	head, ok := s.samples.Get().(*[sampleSize]byte)
	if !ok {
		head = new([sampleSize]byte)
	}
	defer s.samples.Put(head)
	n, err := io.ReadFull(r, head[:])
	switch {
	case errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF):
		return s.addSmall(d, Hash(head[:n]))
	case err != nil:
		return err
	}
	return s.addLarge(d, head[:], r)
}

// touchBlob sets the last use of a blob to now, if permitted, so that a running Prune keeps it, and reports
// whether it exists.
func (s *Disk) touchBlob(d Digest) bool {
	now := s.now()
	return s.touch(blobs, d, "", now) || s.touch(blobs, d, compressed, now)
}

// isWhole reads a blob and removes it when it is damaged.
func (s *Disk) isWhole(d Digest) bool {
	b, err := s.Open(d)
	if err != nil {
		return false
	}
	defer b.Close()
	_, err = io.Copy(io.Discard, b)
	return err == nil
}

// HasBlob reports whether the store has a blob, without reading it.
func (s *Disk) HasBlob(d Digest) bool {
	info, err := s.stat(blobs, d, "")
	if errors.Is(err, fs.ErrNotExist) {
		info, err = s.stat(blobs, d, compressed)
	}
	return err == nil && info.Mode.IsRegular()
}

// addSmall stores a blob from memory.
func (s *Disk) addSmall(d Digest, h *Hashed) error {
	if h.sum != d {
		return &DigestError{Want: d, Got: h.sum}
	}
	data := h.data
	f, err := s.create()
	if err != nil {
		return err
	}
	room, ok := s.blocks.Get().(*[zHeader + maxBlock]byte)
	if !ok {
		room = new([zHeader + maxBlock]byte)
	}
	defer s.blocks.Put(room)
	suffix := ""
	if len(data) > blockSize {
		head := appendHeader(room[:0], sMagic, int64(len(data)))
		if z := s2.Encode(room[len(head):], data); pays(len(data), len(z)) {
			suffix, data = compressed, room[:len(head)+len(z)]
		}
	}
	_, err = f.Write(data)
	return s.publish(f, place{blobs, d, suffix}, s.now(), err)
}

// addHashed stores a larger blob from memory, which it compresses once.
func (s *Disk) addHashed(d Digest, h *Hashed) error {
	if h.sum != d {
		return &DigestError{Want: d, Got: h.sum}
	}
	enc := s.encoder()
	z := enc.EncodeAll(h.data, appendHeader(make([]byte, 0, len(h.data)/2), zMagic, int64(len(h.data))))
	s.encoders.Put(enc)
	data, suffix := h.data, ""
	if pays(len(data), len(z)-zHeader) {
		data, suffix = z, compressed
	}
	f, err := s.create()
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	return s.publish(f, place{blobs, d, suffix}, s.now(), err)
}

// addLarge stores a blob whose first bytes, head, were read already.
func (s *Disk) addLarge(d Digest, head []byte, r io.Reader) error {
	f, err := s.create()
	if err != nil {
		return err
	}
	h := blake3.New()
	all := io.TeeReader(io.MultiReader(bytes.NewReader(head), r), h)
	suffix := ""
	if s.compresses(head) {
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

// writeCompressed writes the frame, then the header with the size.
func (s *Disk) writeCompressed(f *rawfile.File, r io.Reader) error {
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
		_, err = f.WriteAt(appendHeader(nil, zMagic, size), 0)
	}
	return err
}

// compresses reports whether zstd saves enough of data.
func (s *Disk) compresses(data []byte) bool {
	enc := s.encoder()
	defer s.encoders.Put(enc)
	return pays(len(data), len(enc.EncodeAll(data, make([]byte, 0, len(data)))))
}

// pays reports whether compression saves a tenth and half a block of the disk.
func pays(size, packed int) bool {
	saved := size - packed - zHeader
	return saved > size/10 && saved >= blockSize/2
}

func (s *Disk) encoder() *zstd.Encoder {
	if enc, ok := s.encoders.Get().(*zstd.Encoder); ok {
		return enc
	}
	enc, _ := zstd.NewWriter(nil, // no error is possible with these options
		zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderConcurrency(1),
		zstd.WithEncoderCRC(false), zstd.WithWindowSize(1<<20))
	return enc
}

func (s *Disk) decoder() *zstd.Decoder {
	if dec, ok := s.decoders.Get().(*zstd.Decoder); ok {
		return dec
	}
	dec, _ := zstd.NewReader(nil, // no error is possible with these options
		zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true),
		zstd.WithDecoderMaxMemory(maxWindow), zstd.WithDecoderMaxWindow(maxWindow))
	return dec
}

func appendHeader(b []byte, magic string, size int64) []byte {
	return binary.LittleEndian.AppendUint64(append(b, magic...), uint64(size))
}

func hashed(h *blake3.Hasher) (sum Digest) {
	h.Sum(sum[:0])
	return sum
}

// Open implements Store. The reader is a *Blob.
func (s *Disk) Open(d Digest) (io.ReadCloser, error) {
	f, _, err := s.openFile(blobs, d, "")
	if err == nil {
		return &Blob{store: s, digest: d, file: f, src: f, left: math.MaxInt64}, nil
	}
	if !errors.Is(err, ErrMiss) {
		return nil, err
	}
	f, _, err = s.openFile(blobs, d, compressed)
	if err != nil {
		return nil, err
	}
	b := &Blob{store: s, digest: d, file: f, suffix: compressed}
	if err := b.inflate(); err != nil {
		f.Close()
		return nil, b.Damaged(err)
	}
	return b, nil
}

// Blob reads a blob. Its last Read returns io.EOF when the content matches the digest, or else a
// *DamageError.
type Blob struct {
	store  *Disk
	digest Digest
	file   *rawfile.File
	suffix string // of the file name
	src    io.Reader
	left   int64          // bytes left to read
	dec    *zstd.Decoder  // of a compressed blob
	hash   *blake3.Hasher // of the bytes read so far
	blind  bool           // the caller compares the digest
	err    error          // result of the last Read
}

// File returns the file, or nil when it is compressed.
func (b *Blob) File() *rawfile.File {
	if b.suffix != "" {
		return nil
	}
	return b.file
}

// Size returns the size of the blob, or 0 when it is unknown.
func (b *Blob) Size() int64 {
	if b.suffix == "" {
		return 0
	}
	return b.left
}

// Unverified leaves the verification to the caller, which hashes the bytes and calls Damaged on a
// mismatch. It is called before the first Read.
func (b *Blob) Unverified() { b.blind = true }

// Damaged removes the blob and returns a *DamageError.
func (b *Blob) Damaged(cause error) error { return b.store.drop(blobs, b.digest, b.suffix, cause) }

func (b *Blob) inflate() error {
	head := make([]byte, zHeader)
	if _, err := io.ReadFull(b.file, head); err != nil {
		return err
	}
	size := binary.LittleEndian.Uint64(head[len(zMagic):])
	switch magic := string(head[:len(zMagic)]); {
	case magic == sMagic && size < sampleSize:
		return b.unpack(int(size))
	case magic != zMagic || size > math.MaxInt64:
		return errors.New("not a compressed blob")
	}
	dec := b.store.decoder()
	if err := dec.Reset(b.file); err != nil {
		return err
	}
	b.dec, b.src, b.left = dec, dec, int64(size)
	return nil
}

// unpack reads a blob of one S2 block into memory.
func (b *Blob) unpack(size int) error {
	block, err := io.ReadAll(io.LimitReader(b.file, maxBlock+1))
	if err != nil {
		return err
	}
	if n, err := s2.DecodedLen(block); err != nil || n != size {
		return errors.New("its block has another size than its header says")
	}
	data, err := s2.Decode(make([]byte, size), block)
	b.src, b.left = bytes.NewReader(data), int64(size)
	return err
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
		b.err = b.Damaged(errors.New("its content is longer than its header says"))
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
	if b.suffix != "" && b.left != 0 {
		return b.Damaged(errors.New("its content is shorter than its header says"))
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
		b.store.decoders.Put(b.dec)
		b.dec = nil
	}
	b.err = fs.ErrClosed
	return b.file.Close()
}
