package remote_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"io"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/zeebo/blake3"

	"github.com/bentobuild/bento/cache"
	"github.com/bentobuild/bento/cache/remote"
	"github.com/bentobuild/bento/cache/remote/remotetest"
)

// world is a server with one result of ci, and a reader.
type world struct {
	server *remotetest.Memory
	ci     *remote.Signer
	key    cache.Key
	record *cache.Record
	here   *cache.Disk // of the writer
}

func newWorld(t *testing.T, contents ...[]byte) *world {
	t.Helper()
	w := &world{server: remotetest.NewMemory(), ci: remotetest.NewSigner(t, "ci"), key: remotetest.Key(), here: remotetest.NewDisk(t)}
	w.record = remotetest.Result(t, w.here, w.key, contents...)
	w.send(t)
	return w
}

func (w *world) options() remote.Options {
	return remote.Options{
		Place:  remote.Place{Class: "linux", Read: []string{"trunk"}, Write: "trunk"},
		Trust:  remote.Trust{Keys: []remote.PublicKey{w.ci.Public()}},
		Signer: w.ci,
	}
}

func (w *world) send(t *testing.T) {
	t.Helper()
	store := remote.OverBackend(w.server, w.options())
	store.Send(t.Context(), w.here, []remote.Outgoing{{Key: w.key, Record: w.record}}, func(s remote.Sent) {
		if s.Err != nil {
			t.Fatal(s.Err)
		}
	})
}

// get finds and fetches the result into an empty disk, and fails the test if the disk then has another one.
func (w *world) get(t *testing.T, key cache.Key, change func(*remote.Options)) error {
	t.Helper()
	o := w.options()
	if change != nil {
		change(&o)
	}
	disk := remotetest.NewDisk(t)
	_, err := remotetest.Get(t.Context(), remote.OverBackend(w.server, o), disk, key)
	r, miss := disk.Lookup(key)
	switch {
	case err != nil && miss == nil:
		t.Errorf("%v, but the disk has a result", err)
	case err == nil:
		w.equal(t, disk, r)
	}
	return err
}

// equal checks that a disk has exactly what the writer has sent.
func (w *world) equal(t *testing.T, disk *cache.Disk, r *cache.Record) {
	t.Helper()
	if !slices.Equal(r.Outputs, w.record.Outputs) || r.Log != w.record.Log {
		t.Errorf("accepted another record: %v", r)
	}
	for _, o := range r.Outputs {
		if o.Kind != cache.File {
			continue
		}
		f, err := r.With(disk).Open(o.Digest)
		if err != nil {
			t.Errorf("%s: %v", o.Path, err)
			continue
		}
		if n, err := io.Copy(io.Discard, f); err != nil || n != o.Size { // verifies the digest
			t.Errorf("%s: %d bytes, %v", o.Path, n, err)
		}
		f.Close()
	}
}

// refused checks that an error is a refusal for one of the reasons.
func refused(t *testing.T, what string, err error, want ...remote.Reason) {
	t.Helper()
	var r *remote.RefusedError
	if !errors.As(err, &r) || !errors.Is(err, remote.ErrMiss) || !slices.Contains(want, r.Reason) {
		t.Errorf("%s: %v, want it refused for %q", what, err, want)
	}
}

func TestWrongBytes(t *testing.T) {
	for _, size := range []int{5000, 200_000, remote.StageSize + 1000} {
		w := newWorld(t, remotetest.Noise(size))
		endless := func(byte) io.Reader { return rand.NewChaCha8([32]byte{}) }
		for name, serve := range map[string]func(data []byte) io.Reader{
			"other":   func(data []byte) io.Reader { return bytes.NewReader(remotetest.Noise(len(data))) },
			"one bit": func(data []byte) io.Reader { d := bytes.Clone(data); d[len(d)-1] ^= 1; return bytes.NewReader(d) },
			"shorter": func(data []byte) io.Reader { return bytes.NewReader(data[:len(data)-1]) },
			"longer":  func(data []byte) io.Reader { return io.MultiReader(bytes.NewReader(data), strings.NewReader("x")) },
			"empty":   func([]byte) io.Reader { return bytes.NewReader(nil) },
			"endless": func([]byte) io.Reader { return io.LimitReader(endless(0), 1<<30) },
			"breaks":  func(data []byte) io.Reader { return io.MultiReader(bytes.NewReader(data[:100]), broken{}) },
		} {
			w.server.Serve = func(_ remote.Want, data []byte) io.Reader { return serve(data) }
			if err := w.get(t, w.key, nil); err == nil {
				t.Errorf("%s bytes of %d were accepted", name, size)
			}
			if err := w.get(t, w.key, func(o *remote.Options) { o.Trust.Server = true }); err == nil {
				t.Errorf("%s bytes of %d were accepted from a trusted server", name, size)
			}
		}
		w.server.Serve = nil
		if err := w.get(t, w.key, nil); err != nil {
			t.Errorf("the right bytes after that: %v", err)
		}
	}
}

type broken struct{}

var errBroken = errors.New("the connection broke")

func (broken) Read([]byte) (int, error) { return 0, errBroken }

// No bit of what a server answers may differ.
func TestFlippedBits(t *testing.T) {
	w := newWorld(t, remotetest.Noise(6000))
	accepted := 0
	for action, result := range w.server.Results {
		right := bytes.Clone(result)
		for range 2000 {
			flipped := bytes.Clone(right)
			flipped[rand.IntN(len(flipped))] ^= 1 << rand.IntN(8)
			w.server.Results[action] = flipped
			// What is outside of the signature decides nothing: get checks that an accepted record is the right one.
			if w.get(t, w.key, nil) == nil {
				accepted++
			}
		}
		w.server.Results[action] = right[:len(right)/2]
		refused(t, "half an answer", w.get(t, w.key, nil), remote.Damaged)
		w.server.Results[action] = remotetest.Noise(4000)
		if err := w.get(t, w.key, nil); !errors.Is(err, remote.ErrMiss) {
			t.Errorf("noise: %v", err)
		}
		w.server.Results[action] = right
	}
	t.Logf("%d of 2000 differed outside of the envelope", accepted)
}

// A result under another key, class or scope is a miss, even if it has a trusted signature.
func TestReplay(t *testing.T) {
	w := newWorld(t, remotetest.Noise(6000))
	var result []byte
	for _, r := range w.server.Results {
		result = r
	}
	w.server.Answer = func(remote.Digest, []byte, error) ([]byte, error) { return result, nil }
	for _, server := range []bool{false, true} {
		trust := func(o *remote.Options) { o.Trust.Server = server }
		refused(t, "another key", w.get(t, remotetest.Key(), trust), remote.Elsewhere)
		refused(t, "another class", w.get(t, w.key, func(o *remote.Options) { trust(o); o.Class = "alpine" }), remote.Elsewhere)
		refused(t, "another scope", w.get(t, w.key, func(o *remote.Options) { trust(o); o.Read = []string{"pr-7"} }), remote.Elsewhere)
		refused(t, "both scopes", w.get(t, w.key, func(o *remote.Options) { trust(o); o.Read = []string{"pr-7", "pr-8"} }), remote.Elsewhere)
	}
	if err := w.get(t, w.key, nil); err != nil {
		t.Errorf("its own: %v", err)
	}
	// The same record in an envelope that names the other key: the signature covers the name.
	record, err := cache.EncodeRecord(w.key, remote.Public(w.record, false))
	if err != nil {
		t.Fatal(err)
	}
	other := remote.ID{Key: remotetest.Key(), Class: "linux", Scope: "trunk"}
	own := remote.Forge(remote.ID{Key: w.key, Class: "linux", Scope: "trunk"}, record, nil, w.ci)
	moved := bytes.Replace(own, w.key[:], other.Key[:], 1)
	_, err = remote.Open(moved, other, &remote.Trust{Keys: []remote.PublicKey{w.ci.Public()}})
	refused(t, "renamed", err, remote.BadSignature)
}

// encode encodes a record that cache.EncodeRecord refuses: what another program can write under the checksum of a key.
func encode(t *testing.T, key cache.Key, r *cache.Record, outputs uint64) []byte {
	t.Helper()
	plain := *r
	plain.Outputs = nil
	data, err := cache.EncodeRecord(key, &plain)
	if err != nil {
		t.Fatal(err)
	}
	data = data[:len(data)-32-2] // without the checksum and two counts of 0
	data = binary.AppendUvarint(data, outputs)
	text := func(s string) { data = append(binary.AppendUvarint(data, uint64(len(s))), s...) }
	for _, o := range r.Outputs {
		data = append(data, byte(o.Kind))
		text(o.Path)
		data = binary.AppendUvarint(data, uint64(o.Mode))
		switch o.Kind {
		case cache.File:
			data = binary.AppendUvarint(append(data, o.Digest[:]...), uint64(o.Size))
		case cache.Link:
			text(o.Target)
		}
	}
	data = append(data, 0)
	sum := blake3.Sum256(slices.Concat([]byte("bento cache record v1\x00"), key[:], data))
	return append(data, sum[:]...)
}

// Not even a trusted key, or a trusted server, makes outputs that a task of bento cannot have.
func TestForbiddenRecords(t *testing.T) {
	file := func(path string) cache.Output {
		return cache.Output{Path: path, Kind: cache.File, Mode: 0o644, Digest: cache.Sum([]byte(path)), Size: 9}
	}
	link := func(path, target string) cache.Output {
		return cache.Output{Path: path, Kind: cache.Link, Target: target}
	}
	two := func(a, b cache.Output) []cache.Output { return []cache.Output{a, b} }
	huge := file("a")
	huge.Size = 1 << 50
	wrapped := two(file("a"), file("b"))
	wrapped[0].Size, wrapped[1].Size = 1<<62, 1<<62
	sizes := two(file("a"), file("b"))
	sizes[1].Digest, sizes[1].Size = sizes[0].Digest, 10
	setuid := file("a")
	setuid.Mode = 0o4755
	id := remote.ID{Key: remotetest.Key(), Class: "linux", Scope: "trunk"}
	signer := remotetest.NewSigner(t, "ci")
	for name, r := range map[string]cache.Record{
		"absolute":         {Outputs: []cache.Output{file("/etc/passwd")}},
		"out":              {Outputs: []cache.Output{file("../x")}},
		"out, later":       {Outputs: []cache.Output{file("a/../../x")}},
		"git":              {Outputs: []cache.Output{file("a/.git/hooks/post-checkout")}},
		"bento":            {Outputs: []cache.Output{file(".bento/state")}},
		"NUL":              {Outputs: []cache.Output{file("a\x00b")}},
		"no path":          {Outputs: []cache.Output{file("")}},
		"twice":            {Outputs: two(file("a"), file("a"))},
		"unsorted":         {Outputs: two(file("b"), file("a"))},
		"below a link":     {Outputs: two(link("a", "b"), file("a/x"))},
		"below a file":     {Outputs: two(file("a"), file("a/x"))},
		"link out":         {Outputs: []cache.Output{link("a", "../x")}},
		"link out, deeper": {Outputs: []cache.Output{link("a/b", "../../x")}},
		"absolute link":    {Outputs: []cache.Output{link("a", "/etc/passwd")}},
		"link to a drive":  {Outputs: []cache.Output{link("a", `C:\x`)}},
		"empty link":       {Outputs: []cache.Output{link("a", "")}},
		"set-user-ID":      {Outputs: []cache.Output{setuid}},
		"no kind":          {Outputs: []cache.Output{{Path: "a", Kind: 9}}},
		"failed":           {Exit: 1},
		"too large":        {Outputs: []cache.Output{huge}},
		"sum overflows":    {Outputs: wrapped},
		"two sizes":        {Outputs: sizes},
		"a huge log":       {Log: cache.Sum([]byte("x")), LogSize: 1 << 50},
	} {
		sealed := remote.Forge(id, encode(t, id.Key, &r, uint64(len(r.Outputs))), nil, signer)
		for _, trust := range []remote.Trust{{Keys: []remote.PublicKey{signer.Public()}}, {Server: true}} {
			e, err := remote.Open(sealed, id, &trust)
			if e != nil && err == nil {
				t.Errorf("%s: accepted", name)
			}
			refused(t, name, err, remote.Forbidden, remote.OtherVersion)
		}
	}
	good := cache.Record{Outputs: two(file("a"), link("b", "a"))}
	if _, err := remote.Open(remote.Forge(id, encode(t, id.Key, &good, 2), nil, signer), id, &remote.Trust{Server: true}); err != nil {
		t.Errorf("a good one, made in the same way: %v", err)
	}
}

// A million outputs, or a number of them that is not there, cost no memory.
func TestManyOutputsAreRefused(t *testing.T) {
	id := remote.ID{Key: remotetest.Key(), Class: "linux", Scope: "trunk"}
	var r cache.Record
	for i := range 1_000_000 {
		name := binary.BigEndian.AppendUint32([]byte{'a'}, uint32(i)|0x80808080)
		r.Outputs = append(r.Outputs, cache.Output{Path: string(name), Kind: cache.Dir, Mode: 0o755})
	}
	many := remote.Forge(id, encode(t, id.Key, &r, 1_000_000), nil, nil)
	r.Outputs = r.Outputs[:3]
	claimed := remote.Forge(id, encode(t, id.Key, &r, 1<<60), nil, nil)
	for name, sealed := range map[string][]byte{"many": many, "claimed": claimed, "noise": remotetest.Noise(1 << 20), "larger": make([]byte, remote.MaxEnvelope+1)} {
		before := allocated()
		if _, err := remote.Open(sealed, id, &remote.Trust{Server: true}); !errors.Is(err, remote.ErrMiss) {
			t.Errorf("%s: %v, want a miss", name, err)
		}
		if used := allocated() - before; used > uint64(len(sealed))*5+1<<20 {
			t.Errorf("%s: %d bytes were allocated for %d", name, used, len(sealed))
		}
	}
}

func allocated() uint64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.TotalAlloc
}

// Whatever a server loses between the action cache and the blobs is a miss, and sending the result again mends it.
func TestEvictions(t *testing.T) {
	contents := [][]byte{remotetest.Noise(5000), remotetest.Noise(50_000)}
	for i := range 1500 { // so many that the envelope is a blob of its own
		contents = append(contents, []byte{byte(i), byte(i >> 8)})
	}
	for name, w := range map[string]*world{"small": newWorld(t, contents[:2]...), "with an envelope": newWorld(t, contents...)} {
		rounds := map[string]int{"small": 950, "with an envelope": 50}[name]
		if testing.Short() {
			rounds /= 10
		}
		hits := 0
		for range rounds {
			w.evict(t)
			err := w.get(t, w.key, nil)
			if err != nil && !errors.Is(err, remote.ErrMiss) {
				t.Fatalf("%s: %v, want a miss or a hit", name, err)
			}
			if err == nil {
				hits++ // what was lost is not needed to use the result
			}
			w.send(t)
			if err := w.get(t, w.key, nil); err != nil {
				t.Fatalf("%s: not mended: %v", name, err)
			}
		}
		t.Logf("%s: %d hits of %d", name, hits, rounds)
	}
}

// evict removes the result, or one of the blobs, or several, perhaps after the answer.
func (w *world) evict(t *testing.T) {
	t.Helper()
	digests := make([]remote.Digest, 0, len(w.server.Blobs))
	for d := range w.server.Blobs {
		digests = append(digests, d)
	}
	lose := func() {
		for range 1 + rand.IntN(3) {
			delete(w.server.Blobs, digests[rand.IntN(len(digests))])
		}
	}
	switch rand.IntN(4) {
	case 0:
		clear(w.server.Results)
	case 1:
		w.server.Answer = func(_ remote.Digest, result []byte, err error) ([]byte, error) {
			lose()
			w.server.Answer = nil
			return result, err
		}
	default:
		lose()
	}
}

// What arrives for a key that a server has as the result of another tool is a miss.
func TestResultOfAnotherTool(t *testing.T) {
	w := newWorld(t)
	blob := remote.Sum([]byte("x"))
	w.server.Answer = func(remote.Digest, []byte, error) ([]byte, error) {
		return remotetest.ActionResult(blob, []byte("other")), nil
	}
	refused(t, "another tool", w.get(t, w.key, nil), remote.Unsigned)
	w.server.Answer = func(remote.Digest, []byte, error) ([]byte, error) { return nil, nil }
	refused(t, "an empty result", w.get(t, w.key, nil), remote.Unsigned)
	w.server.Answer = func(remote.Digest, []byte, error) ([]byte, error) { return make([]byte, remote.MaxResult+1), nil }
	refused(t, "too much", w.get(t, w.key, nil), remote.OutOfBounds)
	newer := remote.Carry(&remote.Envelope{Record: &cache.Record{}}, []byte("bentoe\x00\x02 of the future"))
	w.server.Answer = func(remote.Digest, []byte, error) ([]byte, error) { return newer, nil }
	refused(t, "a newer bento", w.get(t, w.key, nil), remote.OtherVersion)
}

// A fault of the server is none of a miss, and a fault of the disk is none of the server.
func TestFaults(t *testing.T) {
	w := newWorld(t, remotetest.Noise(6000))
	fault := errors.New("500")
	w.server.Answer = func(remote.Digest, []byte, error) ([]byte, error) { return nil, fault }
	if err := w.get(t, w.key, nil); !errors.Is(err, fault) || errors.Is(err, remote.ErrMiss) {
		t.Errorf("%v, want the fault", err)
	}
	w.server.Answer = nil
	w.server.Serve = func(remote.Want, []byte) io.Reader { return broken{} }
	err := w.get(t, w.key, nil)
	var local *remote.LocalError
	if !errors.Is(err, errBroken) || errors.As(err, &local) {
		t.Errorf("%v, want the fault of the server", err)
	}
	w.server.Serve = nil
	store := remote.OverBackend(w.server, w.options())
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := remotetest.Get(ctx, store, remotetest.NewDisk(t), w.key); !errors.Is(err, context.Canceled) {
		t.Errorf("%v, want context.Canceled", err)
	}
	w.server.Refuse = func(d remote.Digest) error {
		if d.Size == 6000 {
			return remote.ErrFull
		}
		return nil
	}
	other := remotetest.Key()
	small := remotetest.Result(t, w.here, other, []byte("small"))
	large := remotetest.Result(t, w.here, w.key, remotetest.Noise(6000))
	got := make(map[cache.Key]error)
	store.Send(t.Context(), w.here, []remote.Outgoing{{Key: w.key, Record: large}, {Key: other, Record: small}}, func(s remote.Sent) { got[s.Key] = s.Err })
	if !errors.Is(got[w.key], remote.ErrFull) || got[other] != nil {
		t.Errorf("%v, want ErrFull for the large one alone", got)
	}
}

// Nothing private leaves: no host, no ingredients, no path of this machine.
func TestNothingPrivateIsSent(t *testing.T) {
	w := newWorld(t, remotetest.Noise(6000))
	for name, all := range map[string]map[remote.Digest][]byte{"results": w.server.Results, "blobs": w.server.Blobs} {
		for _, data := range all {
			for _, secret := range []string{w.record.Host, "the secret ingredients", w.here.Dir()} {
				if bytes.Contains(data, []byte(secret)) {
					t.Errorf("%s have %q", name, secret)
				}
			}
		}
	}
	if _, sent := w.server.Blobs[remote.Sum([]byte("the secret ingredients"))]; sent {
		t.Error("the ingredients were sent")
	}
}
