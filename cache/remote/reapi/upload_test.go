package reapi

import (
	"bytes"
	"context"
	"errors"
	"io"
	"strings"
	"sync/atomic"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	grpcstatus "google.golang.org/grpc/status"

	"github.com/bentobuild/bento/cache/remote"
	"github.com/bentobuild/bento/cache/remote/remotetest"
)

// large is a blob that is sent alone, compressed or not.
func large(zstd bool) []byte {
	if !zstd {
		return noise(3, 9<<20)
	}
	var b bytes.Buffer // compresses to about half
	for i := range uint64(90) {
		b.Write(noise(i, 50<<10))
		b.Write(lines(50 << 10))
	}
	return b.Bytes()
}

func send(ctx context.Context, c *Client, blobs remotetest.Contents) (map[remote.Digest]bool, error) {
	return blobs.Send(ctx, c)
}

// total returns how many bytes came for all uploads, and their number.
func (f *fake) total() (sum int64, n int) {
	for _, got := range f.resources() {
		sum += got
		n++
	}
	return sum, n
}

// TestUploadContinues: after a failure in the middle, the rest is sent, by this process or by the next one of the
// sender, and no byte twice.
func TestUploadContinues(t *testing.T) {
	t.Parallel()
	for _, zstd := range []bool{false, true} {
		for _, next := range []bool{false, true} {
			blobs := make(remotetest.Contents)
			d := blobs.Add(large(zstd))
			whole, _ := (&fake{zstd: zstd}).uploaded(t, blobs)

			var broken atomic.Bool
			ctx, kill := context.WithCancel(t.Context())
			f := &fake{zstd: zstd, written: func(_ string, size int64) error {
				if size < 2<<20 || broken.Swap(true) {
					return nil
				}
				if next {
					kill()
				}
				return grpcstatus.Error(codes.Unavailable, "going away")
			}}
			address := f.start(t)
			sender := func(o *Options) { o.Sender = "a clone" }
			sent, err := send(ctx, client(t, address, sender), blobs)
			if next {
				if err == nil {
					t.Error("the first process is not interrupted")
				}
				sent, err = send(t.Context(), client(t, address, sender), blobs)
			}
			if err != nil || !sent[d] || f.blobs[text(d)] == nil {
				t.Fatalf("zstd %v, next %v: %v, %v", zstd, next, sent, err)
			}
			if sum, n := f.total(); sum != whole || n != 1 {
				t.Errorf("zstd %v, next %v: %d bytes in %d uploads, expected %d in 1", zstd, next, sum, n, whole)
			}
		}
	}
}

// uploaded returns how many bytes a server gets for blobs.
func (f *fake) uploaded(t *testing.T, blobs remotetest.Contents) (int64, int) {
	t.Helper()
	if _, err := send(t.Context(), client(t, f.start(t)), blobs); err != nil {
		t.Fatal(err)
	}
	return f.total()
}

// TestUploadOfOthers: what the server has of an upload need not be what this process would have sent: then all is sent
// under another name. Another sender has another name from the beginning.
func TestUploadOfOthers(t *testing.T) {
	t.Parallel()
	blobs := make(remotetest.Contents)
	d := blobs.Add(large(false))
	f := &fake{}
	address := f.start(t)
	c := client(t, address, func(o *Options) { o.Sender = "a clone" })
	f.uploads[c.resource(uploadName(c.sender, d, false), false, d)] = noise(77, 1<<20)
	if sent, err := send(t.Context(), c, blobs); err != nil || !sent[d] {
		t.Fatalf("%v, %v", sent, err)
	}
	if other := client(t, address); uploadName(other.sender, d, false) == uploadName(c.sender, d, false) {
		t.Error("two senders have one name")
	}
	if again := client(t, address, func(o *Options) { o.Sender = "a clone" }); uploadName(again.sender, d, false) != uploadName(c.sender, d, false) {
		t.Error("one sender has two names")
	}
}

// TestUploadThere: a blob that the server has by now is not sent.
func TestUploadThere(t *testing.T) {
	t.Parallel()
	for _, zstd := range []bool{false, true} {
		f := &fake{zstd: zstd}
		c := client(t, f.start(t))
		blobs := make(remotetest.Contents)
		for _, n := range []int{resumable - 1, 30 << 20} { // of which the server is asked, or not
			blobs.Add(noise(1, n))
			blobs.Add(lines(n))
		}
		for d, data := range blobs {
			if f.put(data) != d {
				t.Fatal("another digest")
			}
		}
		if sent, err := send(t.Context(), c, blobs); err != nil || len(sent) != len(blobs) {
			t.Errorf("zstd %v: %d are sent, %v", zstd, len(sent), err)
		}
		if sum, _ := f.total(); sum != 0 {
			t.Errorf("zstd %v: %d bytes are sent", zstd, sum)
		}
	}
}

// TestUploadFull: a blob that the server does not take does not keep it from the others.
func TestUploadFull(t *testing.T) {
	t.Parallel()
	f := &fake{maxBlob: 5 << 20, written: func(name string, _ int64) error {
		if strings.HasSuffix(name, "/2000000") {
			return grpcstatus.Error(codes.ResourceExhausted, "no room")
		}
		return nil
	}}
	c := client(t, f.start(t))
	blobs := make(remotetest.Contents)
	full, tooLarge := blobs.Add(noise(1, 2_000_000)), blobs.Add(noise(2, 6<<20))
	wrong := remote.Sum([]byte("not this"))
	blobs[wrong] = []byte("but that")
	fits := []remote.Digest{blobs.Add(noise(3, 3_000_000)), blobs.Add(noise(4, 100)), blobs.Add(noise(5, 200))}
	sent, err := send(t.Context(), c, blobs)
	if !errors.Is(err, remote.ErrFull) || sent[full] || sent[tooLarge] || sent[wrong] {
		t.Errorf("%v, %v", sent, err)
	}
	for _, d := range fits {
		if !sent[d] {
			t.Errorf("%s is not sent", text(d))
		}
	}
}

// TestBatchTooLarge: a server whose messages are smaller than others' gets blobs one by one.
func TestBatchTooLarge(t *testing.T) {
	t.Parallel()
	f := &fake{}
	c := client(t, f.start(t, grpc.MaxRecvMsgSize(300<<10)))
	blobs := make(remotetest.Contents)
	for i := range uint64(5) {
		blobs.Add(noise(i, 200<<10))
	}
	if sent, err := send(t.Context(), c, blobs); err != nil || len(sent) != len(blobs) {
		t.Errorf("%d, %v", len(sent), err)
	}
	full := &fake{written: func(string, int64) error { return grpcstatus.Error(codes.ResourceExhausted, "no room") }}
	for i := range uint64(40) {
		blobs.Add(noise(100+i, 1100<<10))
	}
	if sent, err := send(t.Context(), client(t, full.start(t)), blobs); !errors.Is(err, remote.ErrFull) || len(sent) != 5 {
		t.Errorf("%d, %v", len(sent), err)
	}
	if n := full.count("Write"); n > maxRefused+1 {
		t.Errorf("%d blobs are sent to a full server", n)
	}
}

// TestUploadOfAChangedFile: a file that has changed, or cannot be read, ends its upload with its own error.
func TestUploadOfAChangedFile(t *testing.T) {
	t.Parallel()
	f := &fake{}
	c := client(t, f.start(t))
	data := noise(1, 6<<20)
	d, broken := remote.Sum(data), errors.New("a bad sector")
	for name, open := range map[string]func(remote.Digest) (io.ReadSeekCloser, error){
		"shorter": remotetest.Contents{d: data[:5<<20]}.Open,
		"broken":  func(remote.Digest) (io.ReadSeekCloser, error) { return breaking{bytes.NewReader(data), broken}, nil },
	} {
		err := c.Send(t.Context(), []remote.Digest{d}, open, func(remote.Digest) { t.Error("sent") })
		if name == "broken" && !errors.Is(err, broken) {
			t.Errorf("%s: %v", name, err)
		}
		if name == "shorter" {
			contains(t, err, "has 1048576 bytes less")
		}
	}
}

// breaking fails in its last third.
type breaking struct {
	*bytes.Reader
	err error
}

func (b breaking) Read(p []byte) (int, error) {
	if b.Len() < int(b.Size())/3 {
		return 0, b.err
	}
	return b.Reader.Read(p)
}

func (breaking) Close() error { return nil }

// TestCompression: what cannot be compressed, or is small, is sent as it is.
func TestCompression(t *testing.T) {
	t.Parallel()
	f := &fake{zstd: true}
	c := client(t, f.start(t))
	blobs := make(remotetest.Contents)
	blobs.Add(noise(1, 3<<20))
	blobs.Add(lines(3<<20 + 1))
	if _, err := send(t.Context(), c, blobs); err != nil {
		t.Fatal(err)
	}
	for name, n := range f.resources() {
		if compressed := strings.Contains(name, "compressed-blobs"); compressed != strings.HasSuffix(name, "/3145729") || compressed && n > 100_000 {
			t.Errorf("%s: %d bytes", name, n)
		}
	}
	var p pool
	for n, want := range map[int]bool{minCompressed - 1: false, minCompressed: true, 1 << 20: true} {
		if _, ok := p.compress(lines(n)); ok != want {
			t.Errorf("%d bytes: compressed %v", n, ok)
		}
		if _, ok := p.compress(noise(1, n)); ok {
			t.Errorf("%d bytes of noise: compressed", n)
		}
	}
}

// TestBatchIsSmall: a batch needs memory for its blobs, not for the largest one: a thousand may be under way at once.
func TestBatchIsSmall(t *testing.T) {
	t.Parallel()
	blobs := make(remotetest.Contents)
	b := batch{client: &Client{}, caps: &capabilities{batch: 4 << 20}, open: blobs.Open, room: 4 << 20}
	for i := range uint64(3) {
		if err := b.add(t.Context(), blobs.Add(noise(i, 100)), nil); err != nil {
			t.Fatal(err)
		}
	}
	if len(b.blobs) != 3 || cap(b.frame) > 4<<10 {
		t.Errorf("a frame of %d bytes for %d blobs of 100", cap(b.frame), len(b.blobs))
	}
}
