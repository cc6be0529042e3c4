package remotetest

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/bentobuild/bento/cache"
	"github.com/bentobuild/bento/cache/remote"
)

// RunStore tests the stores that open returns. Those of one test are of one server, whose content may be anything else.
func RunStore(t *testing.T, open func(t *testing.T, o remote.Options) remote.Store) {
	for name, test := range map[string]func(*testing.T, *shop){
		"RoundTrip":    testRoundTrip,
		"ManyOutputs":  testManyOutputs,
		"LargeOutput":  testLargeOutput,
		"ManyResults":  testManyResults,
		"Private":      testPrivate,
		"Secrets":      testSecrets,
		"LocalLoss":    testLocalLoss,
		"Signatures":   testSignatures,
		"ServerTrust":  testServerTrust,
		"OtherMachine": testOtherMachine,
		"Contained":    testContained,
		"Scopes":       testScopes,
	} {
		t.Run(name, func(t *testing.T) { test(t, newShop(t, open)) })
	}
}

// shop opens stores of one server as several people have them.
type shop struct {
	open  func(t *testing.T, o remote.Options) remote.Store
	ci    *remote.Signer
	class string // unique, so no test sees the results of another
}

func newShop(t *testing.T, open func(*testing.T, remote.Options) remote.Store) *shop {
	t.Helper()
	return &shop{open: open, ci: NewSigner(t, "ci"), class: "class-" + rand.Text()}
}

// NewSigner returns a signer with a new key.
func NewSigner(t testing.TB, name string) *remote.Signer {
	t.Helper()
	_, private, err := remote.GenerateKey(name)
	if err != nil {
		t.Fatal(err)
	}
	s, _, err := remote.ParseSigner(private)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// options returns the settings of a reader, and writer of trunk, who trusts ci.
func (s *shop) options() remote.Options {
	return remote.Options{
		Place:  remote.Place{Class: s.class, Read: []string{"trunk"}, Write: "trunk"},
		Trust:  remote.Trust{Keys: []remote.PublicKey{s.ci.Public()}},
		Signer: s.ci,
	}
}

func (s *shop) store(t *testing.T, change func(*remote.Options)) remote.Store {
	t.Helper()
	o := s.options()
	if change != nil {
		change(&o)
	}
	store := s.open(t, o)
	t.Cleanup(func() {
		if err := store.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	return store
}

// NewDisk returns an empty disk.
func NewDisk(t testing.TB) *cache.Disk {
	t.Helper()
	disk, err := cache.Open(t.TempDir(), nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(disk.Close)
	return disk
}

// Key returns a key that no other test has.
func Key() cache.Key { return cache.Key(Noise(32)) }

// Result adds a result with each kind of output to disk: contents become files. It returns its record.
func Result(t testing.TB, disk *cache.Disk, key cache.Key, contents ...[]byte) *cache.Record {
	t.Helper()
	r := &cache.Record{
		Created: time.Now().UTC().Round(0), Duration: 3 * time.Second, Host: "secret-host",
		Ingredients: cache.Digest{1},
	}
	store := r.With(disk)
	add := func(data []byte) cache.Digest {
		if err := store.Add(cache.Sum(data), bytes.NewReader(data)); err != nil {
			t.Fatal(err)
		}
		return cache.Sum(data)
	}
	for i, data := range contents {
		r.Outputs = append(r.Outputs, cache.Output{
			Path: fmt.Sprintf("pkg/dist/%05d", i), Kind: cache.File, Mode: []fs.FileMode{0o644, 0o755}[i%2], Digest: add(data), Size: int64(len(data)),
		})
	}
	r.Outputs = append(r.Outputs,
		cache.Output{Path: "pkg/dist/empty dir", Kind: cache.Dir, Mode: 0o755},
		cache.Output{Path: "pkg/dist/empty file", Kind: cache.File, Mode: 0o600, Digest: add(nil)},
		cache.Output{Path: "pkg/dist/link", Kind: cache.Link, Target: "../x"},
		cache.Output{Path: "pkg/dist/not UTF-8 \xff\n", Kind: cache.Link, Target: "\xfe"},
		cache.Output{Path: "top", Kind: cache.File, Mode: 0o755, Digest: add([]byte("top")), Size: 3},
	)
	slices.SortFunc(r.Outputs, func(a, b cache.Output) int { return strings.Compare(a.Path, b.Path) })
	log := []byte("it printed this\n")
	r.Log, r.LogSize = add(log), int64(len(log))
	r.Pack = add([]byte("the secret ingredients"))
	if err := disk.Record(key, r); err != nil {
		t.Fatal(err)
	}
	return r
}

// send sends one result.
func send(t *testing.T, store remote.Store, disk *cache.Disk, out remote.Outgoing) remote.Sent {
	t.Helper()
	var all []remote.Sent
	store.Send(bounded(t), disk, []remote.Outgoing{out}, func(s remote.Sent) { all = append(all, s) })
	if len(all) != 1 || all[0].Key != out.Key {
		t.Fatalf("done was called for %v", all)
	}
	return all[0]
}

func mustSend(t *testing.T, store remote.Store, disk *cache.Disk, key cache.Key, r *cache.Record) {
	t.Helper()
	if s := send(t, store, disk, remote.Outgoing{Key: key, Record: r}); s.Err != nil {
		t.Fatalf("send: %v", s.Err)
	}
}

// Get finds and fetches the result of key, and returns the record that disk then has.
func Get(ctx context.Context, store remote.Store, disk *cache.Disk, key cache.Key) (*cache.Record, error) {
	var answers []remote.Answer
	store.Find(ctx, []cache.Key{key}, func(a remote.Answer) { answers = append(answers, a) })
	if len(answers) != 1 || answers[0].Key != key || (answers[0].Err == nil) != (answers[0].Found != nil) {
		return nil, fmt.Errorf("answers: %v", answers)
	}
	if err := answers[0].Err; err != nil {
		return nil, err
	}
	if err := store.Fetch(ctx, answers[0].Found, disk); err != nil {
		return nil, err
	}
	return disk.Lookup(key)
}

// same reports the difference between what was sent and what arrived, with all bytes.
func same(t *testing.T, sent, got *cache.Record, from, to *cache.Disk) {
	t.Helper()
	want := remote.Public(sent, false)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("record, -sent +got:\n%s", diff)
		return
	}
	read := func(r *cache.Record, disk *cache.Disk, d cache.Digest) []byte {
		f, err := r.With(disk).Open(d)
		if err != nil {
			t.Errorf("blob %s: %v", d, err)
			return nil
		}
		defer f.Close()
		data, err := io.ReadAll(f)
		if err != nil {
			t.Errorf("blob %s: %v", d, err)
		}
		return data
	}
	digests := []cache.Digest{got.Log}
	for _, o := range got.Outputs {
		if o.Kind == cache.File {
			digests = append(digests, o.Digest)
		}
	}
	for _, d := range digests {
		if a, b := read(sent, from, d), read(got, to, d); !bytes.Equal(a, b) {
			t.Errorf("blob %s: sent %d bytes, got %d", d, len(a), len(b))
		}
	}
}

// missed checks that a result is not found, and why.
func missed(t *testing.T, store remote.Store, key cache.Key, want remote.Reason) {
	t.Helper()
	disk := NewDisk(t)
	_, err := Get(bounded(t), store, disk, key)
	if !errors.Is(err, remote.ErrMiss) {
		t.Errorf("%v, want a miss", err)
	}
	var refused *remote.RefusedError
	if got := remote.Reason(""); errors.As(err, &refused) {
		got = refused.Reason
		if got != want {
			t.Errorf("refused: %q, want %q", got, want)
		}
	} else if want != "" {
		t.Errorf("%v, want it refused: %q", err, want)
	}
	if _, err := disk.Lookup(key); !errors.Is(err, cache.ErrMiss) {
		t.Errorf("the disk has a result: %v", err)
	}
}

func testRoundTrip(t *testing.T, s *shop) {
	here, there := NewDisk(t), NewDisk(t)
	key, silent := Key(), Key()
	contents := [][]byte{Noise(10), Noise(100_000), bytes.Repeat([]byte("text\n"), 50_000), Noise(3 << 20), []byte("same"), []byte("same")}
	r := Result(t, here, key, contents...)
	writer, reader := s.store(t, nil), s.store(t, func(o *remote.Options) { o.Signer = nil })
	if _, err := Get(bounded(t), reader, there, key); !errors.Is(err, remote.ErrMiss) {
		t.Errorf("before it was sent: %v", err)
	}
	mustSend(t, writer, here, key, r)
	mustSend(t, writer, here, key, r) // again
	for range 2 {
		got, err := Get(bounded(t), reader, there, key)
		if err != nil {
			t.Fatal(err)
		}
		same(t, r, got, here, there)
	}
	quiet := Result(t, here, silent, Noise(20))
	if sent := send(t, writer, here, remote.Outgoing{Key: silent, Record: quiet, NoLog: true}); sent.Err != nil {
		t.Fatal(sent.Err)
	}
	got, err := Get(bounded(t), reader, there, silent)
	if err != nil || got.Log != (cache.Digest{}) || got.LogSize != 0 || got.Small[quiet.Log] != nil {
		t.Errorf("the log did not stay at home: %v, %v", got, err)
	}
}

func testManyOutputs(t *testing.T, s *shop) {
	here, there := NewDisk(t), NewDisk(t)
	contents := make([][]byte, 6000) // too many for an ActionResult
	for i := range contents {
		contents[i] = fmt.Appendf(nil, "%d %s", i%50, s.class)
	}
	key := Key()
	r := Result(t, here, key, contents...)
	mustSend(t, s.store(t, nil), here, key, r)
	got, err := Get(bounded(t), s.store(t, nil), there, key)
	if err != nil {
		t.Fatal(err)
	}
	same(t, r, got, here, there)
}

func testLargeOutput(t *testing.T, s *shop) {
	here, there := NewDisk(t), NewDisk(t)
	key := Key()
	r := Result(t, here, key, Noise(few(20<<20)), bytes.Repeat([]byte("0123456789abcde\n"), few(1<<20)))
	mustSend(t, s.store(t, nil), here, key, r)
	got, err := Get(bounded(t), s.store(t, nil), there, key)
	if err != nil {
		t.Fatal(err)
	}
	same(t, r, got, here, there)
}

func testManyResults(t *testing.T, s *shop) {
	many := few(100)
	here, there := NewDisk(t), NewDisk(t)
	out := make([]remote.Outgoing, many)
	keys := make([]cache.Key, 0, 2*many)
	records := make(map[cache.Key]*cache.Record)
	for i := range out {
		key := Key()
		r := Result(t, here, key, Noise(50), Noise(6000))
		out[i], records[key] = remote.Outgoing{Key: key, Record: r}, r
		keys = append(keys, key, Key())
	}
	ctx := bounded(t)
	sent := 0
	s.store(t, nil).Send(ctx, here, out, func(s remote.Sent) {
		if sent++; s.Err != nil {
			t.Errorf("send: %v", s.Err)
		}
	})
	reader := s.store(t, nil)
	var found []*remote.Found
	misses := 0
	reader.Find(ctx, keys, func(a remote.Answer) {
		switch {
		case a.Found != nil && records[a.Key] != nil && a.Found.Key == a.Key:
			found = append(found, a.Found)
		case errors.Is(a.Err, remote.ErrMiss) && records[a.Key] == nil:
			misses++
		default:
			t.Errorf("answer: %v", a)
		}
	})
	if sent != many || len(found) != many || misses != many {
		t.Fatalf("%d sent, %d found, %d misses, want %d of each", sent, len(found), misses, many)
	}
	for _, f := range found {
		if err := reader.Fetch(ctx, f, there); err != nil {
			t.Fatal(err)
		}
		got, err := there.Lookup(f.Key)
		if err != nil {
			t.Fatal(err)
		}
		same(t, records[f.Key], got, here, there)
	}
}

func testPrivate(t *testing.T, s *shop) {
	disk := NewDisk(t)
	store := s.store(t, nil)
	for name, change := range map[string]func(*cache.Record){
		"failed":        func(r *cache.Record) { r.Exit = 1 },
		"absolute link": func(r *cache.Record) { link(r).Target = "/home/me/ws/x" },
		"link out":      func(r *cache.Record) { link(r).Target = "../../../x" },
		"two sizes":     func(r *cache.Record) { r.Outputs = append(r.Outputs, twin(r)) },
	} {
		key := Key()
		r := *Result(t, disk, key, Noise(5000))
		r.Outputs = slices.Clone(r.Outputs)
		change(&r)
		if sent := send(t, store, disk, remote.Outgoing{Key: key, Record: &r}); !errors.Is(sent.Err, remote.ErrPrivate) {
			t.Errorf("%s: %v, want ErrPrivate", name, sent.Err)
		}
		missed(t, store, key, "")
	}
	reader := s.store(t, func(o *remote.Options) { o.Write = "" })
	key := Key()
	if sent := send(t, reader, disk, remote.Outgoing{Key: key, Record: Result(t, disk, key)}); !errors.Is(sent.Err, remote.ErrPrivate) {
		t.Errorf("without a scope: %v, want ErrPrivate", sent.Err)
	}
}

// testSecrets: what is secret does not leave in a log, and everything else does.
func testSecrets(t *testing.T, s *shop) {
	here, there := NewDisk(t), NewDisk(t)
	store := s.store(t, func(o *remote.Options) { o.Secrets = []string{"printed this", "hunter2hunter2"} })
	key := Key()
	r := Result(t, here, key, Noise(5000))
	mustSend(t, store, here, key, r)
	got, err := Get(bounded(t), s.store(t, nil), there, key)
	if err != nil {
		t.Fatal(err)
	}
	f, err := remote.Content(got, there, got.Log)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if log, err := io.ReadAll(f); err != nil || string(log) != "it ***\n" || got.LogSize != int64(len(log)) {
		t.Errorf("the log is %q, %v", log, err)
	}
	if !slices.Equal(got.Outputs, r.Outputs) {
		t.Errorf("the outputs differ: %v", got.Outputs)
	}
	if mine, err := here.Lookup(key); err != nil || mine.Log != r.Log {
		t.Errorf("the log at home has changed: %v, %v", mine, err)
	}
}

func link(r *cache.Record) *cache.Output {
	return &r.Outputs[slices.IndexFunc(r.Outputs, func(o cache.Output) bool { return o.Path == "pkg/dist/link" })]
}

func twin(r *cache.Record) cache.Output {
	o := r.Outputs[0]
	o.Path, o.Size = "zzz", o.Size+1
	return o
}

// testLocalLoss: what the disk has lost is not sent as half a result.
func testLocalLoss(t *testing.T, s *shop) {
	disk := NewDisk(t)
	key := Key()
	r := *Result(t, disk, key)
	r.Outputs = append(r.Outputs, cache.Output{Path: "zzz", Kind: cache.File, Mode: 0o644, Digest: cache.Sum([]byte("lost")), Size: 4})
	store := s.store(t, nil)
	if sent := send(t, store, disk, remote.Outgoing{Key: key, Record: &r}); sent.Err == nil {
		t.Error("a result without one of its blobs was sent")
	}
	missed(t, store, key, "")
}

func testSignatures(t *testing.T, s *shop) {
	disk := NewDisk(t)
	other := NewSigner(t, "other")
	yesterday := time.Now().Add(-24 * time.Hour)
	for name, tt := range map[string]struct {
		signer *remote.Signer
		keys   []remote.PublicKey
		want   remote.Reason // "" for a hit
	}{
		"unsigned":         {nil, []remote.PublicKey{s.ci.Public()}, remote.Unsigned},
		"another key":      {other, []remote.PublicKey{s.ci.Public()}, remote.UnknownKey},
		"no key":           {s.ci, nil, remote.UnknownKey},
		"one of two":       {s.ci, []remote.PublicKey{other.Public(), s.ci.Public()}, ""},
		"expired":          {s.ci, []remote.PublicKey{{Name: "ci", Key: s.ci.Public().Key, NotAfter: yesterday}}, remote.ExpiredKey},
		"not yet expired":  {s.ci, []remote.PublicKey{{Name: "ci", Key: s.ci.Public().Key, NotAfter: yesterday.Add(48 * time.Hour)}}, ""},
		"same name, other": {other, []remote.PublicKey{{Name: "other", Key: s.ci.Public().Key}}, remote.UnknownKey},
	} {
		t.Run(name, func(t *testing.T) {
			key := Key()
			r := Result(t, disk, key, Noise(5000))
			mustSend(t, s.store(t, func(o *remote.Options) { o.Signer = tt.signer }), disk, key, r)
			reader := s.store(t, func(o *remote.Options) { o.Trust.Keys = tt.keys })
			if tt.want != "" {
				missed(t, reader, key, tt.want)
				return
			}
			if _, err := Get(bounded(t), reader, NewDisk(t), key); err != nil {
				t.Error(err)
			}
		})
	}
}
