package turborepo

import (
	"archive/tar"
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"

	"github.com/bentobuild/bento/cache"
	"github.com/bentobuild/bento/cache/remote"
	"github.com/bentobuild/bento/cache/remote/remotetest"
)

// made returns an artifact with its identity, and the entries of its tar.
func made(t testing.TB, o remote.Options, disk *cache.Disk, scope string) (id remote.ID, packed []byte, sealed []byte, r *cache.Record) {
	t.Helper()
	id = remote.ID{Key: remotetest.Key(), Class: o.Class, Scope: scope}
	r = remote.Public(remotetest.Result(t, disk, id.Key, remotetest.Noise(9000), bytes.Repeat([]byte("line\n"), 90_000)), false)
	sealed, err := remote.Seal(&remote.Envelope{ID: id, Record: r}, o.Signer)
	if err != nil {
		t.Fatal(err)
	}
	return id, pack(t, disk, r, sealed), sealed, r
}

func pack(t testing.TB, disk *cache.Disk, r *cache.Record, sealed []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := write(&b, r, sealed, func(d cache.Digest) (io.ReadCloser, error) { return remote.Content(r, disk, d) }); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// zipped compresses what f writes.
func zipped(t testing.TB, f func(w *tar.Writer, raw io.Writer)) []byte {
	t.Helper()
	var b bytes.Buffer
	z, err := zstd.NewWriter(&b, zstd.WithEncoderConcurrency(1))
	if err != nil {
		t.Fatal(err)
	}
	w := tar.NewWriter(z)
	f(w, z)
	_ = w.Flush()
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// changed is an artifact whose entries after the first are changed by f, which may return nil to leave one out.
func changed(t testing.TB, packed []byte, f func(i int, h *tar.Header, data []byte) ([]byte, bool), more ...*tar.Header) []byte {
	t.Helper()
	z, err := zstd.NewReader(bytes.NewReader(packed))
	if err != nil {
		t.Fatal(err)
	}
	defer z.Close()
	return zipped(t, func(w *tar.Writer, _ io.Writer) {
		r := tar.NewReader(z)
		for i := 0; ; i++ {
			h, err := r.Next()
			if err == io.EOF {
				break
			}
			data, _ := io.ReadAll(r)
			if i > 0 {
				keep := false
				if data, keep = f(i, h, data); !keep {
					continue
				}
			}
			h.Size = int64(len(data))
			if h.Typeflag != tar.TypeReg {
				h.Size, data = 0, nil
			}
			if err := w.WriteHeader(h); err != nil {
				t.Fatal(err)
			}
			_, _ = w.Write(data)
		}
		for _, h := range more {
			if err := w.WriteHeader(h); err != nil {
				t.Fatal(err)
			}
		}
		_ = w.Close()
	})
}

func first(w *tar.Writer, sealed []byte) {
	_ = w.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: recordName, Size: int64(len(sealed))})
	_, _ = w.Write(sealed)
}

// zeros writes n bytes that compress to nearly none.
func zeros(w io.Writer, n int64) {
	block := make([]byte, 1<<20)
	for ; n > 0; n -= int64(len(block)) {
		_, _ = w.Write(block)
	}
}

// paxHeader is a header before a header, of a KiB.
func paxHeader() []byte {
	b := make([]byte, 1024)
	copy(b, "pax")
	copy(b[100:], "0000644\x000000000\x000000000\x0000000000022\x0000000000000\x00        ")
	b[156] = tar.TypeXHeader
	copy(b[257:], "ustar\x0000")
	sum := 0
	for _, c := range b[:512] {
		sum += int(c)
	}
	copy(b[148:], []byte(strings.ToLower("0"+oct(sum)+"\x00 ")))
	copy(b[512:], "18 comment=123456\n")
	return b
}

func oct(n int) string {
	digits := ""
	for i := 0; i < 5; i++ {
		digits, n = string(rune('0'+n&7))+digits, n>>3
	}
	return digits
}

// hostile returns artifacts that may not become results of id.
func hostile(t *testing.T, o remote.Options, disk *cache.Disk) (remote.ID, map[string][]byte) {
	t.Helper()
	id, packed, sealed, r := made(t, o, disk, "trunk")
	_, elsewhere, _, _ := made(t, o, disk, "trunk")
	_, otherScope, _, _ := made(t, o, disk, "pr-7")
	forged, err := remote.Seal(&remote.Envelope{ID: id, Record: r}, remotetest.NewSigner(t, "ci"))
	if err != nil {
		t.Fatal(err)
	}
	same := func(_ int, _ *tar.Header, data []byte) ([]byte, bool) { return data, true }
	return id, map[string][]byte{
		"nothing":       {},
		"no zstd":       []byte("no artifact"),
		"truncated":     packed[:len(packed)/2],
		"another key":   elsewhere,
		"another scope": otherScope,
		"forged":        pack(t, disk, r, forged),
		"changed bytes": changed(t, packed, func(_ int, _ *tar.Header, data []byte) ([]byte, bool) {
			for i := range min(1, len(data)) {
				data[i]++
			}
			return data, true
		}),
		"without one":     changed(t, packed, func(i int, _ *tar.Header, data []byte) ([]byte, bool) { return data, i != 2 }),
		"without its end": changed(t, packed, func(i int, _ *tar.Header, data []byte) ([]byte, bool) { return data, i < 3 }),
		"longer":          changed(t, packed, func(i int, _ *tar.Header, data []byte) ([]byte, bool) { return append(data, 'x'), true }),
		"renamed":         changed(t, packed, func(i int, h *tar.Header, data []byte) ([]byte, bool) { h.Name = "../" + h.Name; return data, true }),
		"a link": changed(t, packed, func(i int, h *tar.Header, data []byte) ([]byte, bool) {
			h.Typeflag, h.Linkname = tar.TypeSymlink, "/etc/passwd"
			return data, true
		}),
		"one more": changed(t, packed, same, &tar.Header{Typeflag: tar.TypeReg, Name: "more"}),
		"long record": zipped(t, func(w *tar.Writer, _ io.Writer) {
			_ = w.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: recordName, Size: 1 << 40})
		}),
		"of turbo": zipped(t, func(w *tar.Writer, _ io.Writer) {
			_ = w.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: "pkg/.turbo/turbo-build.log", Size: 1})
			_, _ = w.Write([]byte("x"))
		}),
		"zeros": zipped(t, func(_ *tar.Writer, raw io.Writer) { zeros(raw, 1<<28) }),
		"zeros for a record": zipped(t, func(w *tar.Writer, _ io.Writer) {
			_ = w.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: recordName, Size: 30 << 20})
			zeros(w, 30<<20)
		}),
		"zeros for a file": zipped(t, func(w *tar.Writer, raw io.Writer) {
			first(w, sealed)
			_ = w.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: r.Outputs[0].Path, Mode: 0o644, Size: 1 << 28})
			zeros(w, 1<<28)
		}),
		"headers": zipped(t, func(w *tar.Writer, raw io.Writer) {
			first(w, sealed)
			_ = w.Flush()
			for range 200_000 {
				_, _ = raw.Write(paxHeader())
			}
		}),
	}
}

// TestHostileArtifacts: nothing that a server stores becomes a result unless it is exactly that.
func TestHostileArtifacts(t *testing.T) {
	t.Parallel()
	o, disk := options(t), remotetest.NewDisk(t)
	id, all := hostile(t, o, disk)
	s, address := newShelf(t)
	for name, data := range all {
		s.mu.Lock()
		s.data["/up/v8/artifacts/"+nameOf(id)] = data
		s.mu.Unlock()
		there, store := remotetest.NewDisk(t), open(t, address, "", "", o)
		_, err := remotetest.Get(t.Context(), store, there, id.Key)
		if !errors.Is(err, remote.ErrMiss) {
			t.Errorf("%s: %v, want a miss", name, err)
		}
		if _, err := there.Lookup(id.Key); !errors.Is(err, cache.ErrMiss) {
			t.Errorf("%s: the disk has a result: %v", name, err)
		}
		store.Close()
	}
}

// TestEndlessAnswers: what never ends is given up, also where it has no content.
func TestEndlessAnswers(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("it reads 100 MB")
	}
	frame := binary.LittleEndian.AppendUint32(nil, 0x184D2A50) // one to be skipped
	frame = append(binary.LittleEndian.AppendUint32(frame, 1<<16), make([]byte, 1<<16)...)
	var empty bytes.Buffer
	for range 1000 {
		z, _ := zstd.NewWriter(nil)
		empty.Write(z.EncodeAll(nil, nil))
	}
	for name, block := range map[string][]byte{"frames": frame, "empty frames": empty.Bytes(), "noise": remotetest.Noise(1 << 16)} {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			for r.Context().Err() == nil {
				if _, err := w.Write(block); err != nil {
					return
				}
			}
		}))
		store := open(t, s.URL, "", "", options(t))
		if _, err := remotetest.Get(t.Context(), store, remotetest.NewDisk(t), remotetest.Key()); err == nil {
			t.Errorf("%s: a result", name)
		}
		store.Close()
		s.Close()
	}
}

// TestCutOff: an answer that breaks off is a fault, not a lost result.
func TestCutOff(t *testing.T) {
	t.Parallel()
	o, disk := options(t), remotetest.NewDisk(t)
	id := remote.ID{Key: remotetest.Key(), Class: o.Class, Scope: "trunk"}
	r := remote.Public(remotetest.Result(t, disk, id.Key, remotetest.Noise(2<<20)), false)
	sealed, err := remote.Seal(&remote.Envelope{ID: id, Record: r}, o.Signer)
	if err != nil {
		t.Fatal(err)
	}
	packed := pack(t, disk, r, sealed)
	for _, at := range []int{0, 100, small - 1, 1 << 20} {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "3000000")
			_, _ = w.Write(packed[:at])
			panic(http.ErrAbortHandler)
		}))
		store := open(t, s.URL, "", "", o)
		if _, err := remotetest.Get(t.Context(), store, remotetest.NewDisk(t), id.Key); err == nil || errors.Is(err, remote.ErrMiss) {
			t.Errorf("after %d bytes: %v, want a fault", at, err)
		}
		store.Close()
		s.Close()
	}
}

// FuzzArtifact: any bytes are an artifact of the record that is signed for it, or no artifact; no reader of them panics.
func FuzzArtifact(f *testing.F) {
	ci := remotetest.NewSigner(f, "ci")
	o := remote.Options{Place: remote.Place{Class: "class"}, Trust: remote.Trust{Server: true}, Signer: ci}
	disk := remotetest.NewDisk(f)
	id, packed, _, _ := made(f, o, disk, "trunk")
	z, err := zstd.NewReader(nil)
	if err != nil {
		f.Fatal(err)
	}
	plain, err := z.DecodeAll(packed, nil)
	if err != nil {
		f.Fatal(err)
	}
	enc, err := zstd.NewWriter(nil)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(plain, true)
	f.Add(packed, false)
	f.Fuzz(func(t *testing.T, data []byte, zip bool) {
		if zip {
			data = enc.EncodeAll(data, nil)
		}
		a, err := newArtifact(bytes.NewReader(data))
		if err != nil {
			return
		}
		defer a.close()
		e, err := a.envelope(id, &o.Trust)
		if err != nil {
			return
		}
		_ = a.files(e.Record, func(d cache.Digest, size int64, content io.Reader) error {
			n, err := io.Copy(io.Discard, content)
			if n > size {
				t.Errorf("%d bytes, want at most %d", n, size)
			}
			return err
		})
	})
}

// turboTar returns the tar of an artifact.
func turboTar(t testing.TB, packed []byte) []byte {
	t.Helper()
	z, err := zstd.NewReader(nil)
	if err != nil {
		t.Fatal(err)
	}
	defer z.Close()
	plain, err := z.DecodeAll(packed, nil)
	if err != nil {
		t.Fatal(err)
	}
	return plain
}
