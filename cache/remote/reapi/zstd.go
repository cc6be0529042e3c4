package reapi

import (
	"bytes"
	"fmt"
	"io"
	"sync"

	"github.com/klauspost/compress/zstd"
)

const (
	minCompressed = 1 << 10  // bytes of the smallest blob that is worth compressing
	sampled       = 64 << 10 // bytes that show whether a blob can be compressed
	window        = 1 << 20  // bytes of the encoder's window
	maxWindow     = 8 << 20  // bytes of a window that a decoder must support, by RFC 8878
)

// pool keeps encoders and decoders, which take longer to make than to use.
type pool struct{ encoders, decoders sync.Pool }

func (p *pool) encoder() *zstd.Encoder {
	if e, ok := p.encoders.Get().(*zstd.Encoder); ok {
		return e
	}
	e, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderConcurrency(1), zstd.WithEncoderCRC(false), zstd.WithWindowSize(window))
	if err != nil {
		panic(err) // of options
	}
	return e
}

func (p *pool) decoder() *zstd.Decoder {
	if d, ok := p.decoders.Get().(*zstd.Decoder); ok {
		return d
	}
	d, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(maxWindow), zstd.WithDecoderMaxMemory(2*maxWindow))
	if err != nil {
		panic(err) // of options
	}
	return d
}

// compress returns data compressed, or false if that saves less than an eighth.
func (p *pool) compress(data []byte) ([]byte, bool) {
	if len(data) < minCompressed {
		return nil, false
	}
	e := p.encoder()
	defer p.encoders.Put(e)
	if len(data) > sampled && !saves(e.EncodeAll(data[:sampled], nil), sampled) {
		return nil, false
	}
	short := e.EncodeAll(data, make([]byte, 0, len(data)/2))
	return short, saves(short, len(data))
}

func saves(short []byte, size int) bool { return len(short) < size-size/8 }

// compressible reports whether the beginning of a blob can be compressed.
func (p *pool) compressible(start []byte) bool {
	_, ok := p.compress(start[:min(len(start), sampled)])
	return ok
}

// expand decompresses data to exactly size bytes. It needs memory for no more, whatever data says.
func (p *pool) expand(data []byte, size int64) ([]byte, error) {
	d := p.decoder()
	defer p.decoders.Put(d)
	defer func() { _ = d.Reset(nil) }()
	if err := d.Reset(bytes.NewReader(data)); err != nil {
		return nil, err
	}
	var out bytes.Buffer
	switch n, err := io.CopyN(&out, d, size+1); {
	case err == nil:
		return nil, fmt.Errorf("more than %d bytes, compressed", size)
	case err != io.EOF:
		return nil, err
	case n != size:
		return nil, fmt.Errorf("%d bytes, compressed; expected %d", n, size)
	}
	return out.Bytes(), nil
}

// compressing is a reader of what another reader has, compressed.
type compressing struct {
	source  io.Reader
	encoder *zstd.Encoder
	in      []byte
	out     bytes.Buffer
	ended   bool
}

func (p *pool) compressing(source io.Reader) *compressing {
	z := &compressing{source: source, encoder: p.encoder(), in: make([]byte, 128<<10)}
	z.encoder.Reset(&z.out)
	return z
}

func (z *compressing) Read(p []byte) (int, error) {
	for z.out.Len() == 0 {
		if z.ended {
			return 0, io.EOF
		}
		n, err := z.source.Read(z.in)
		if _, werr := z.encoder.Write(z.in[:n]); werr != nil {
			return 0, werr
		}
		switch {
		case err == io.EOF:
			z.ended = true
			if err := z.encoder.Close(); err != nil {
				return 0, err
			}
		case err != nil:
			return 0, err
		}
	}
	return z.out.Read(p)
}
