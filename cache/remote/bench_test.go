package remote_test

import (
	"testing"

	"github.com/bentobuild/bento/cache"
	"github.com/bentobuild/bento/cache/remote"
	"github.com/bentobuild/bento/cache/remote/remotetest"
)

// BenchmarkHits finds and fetches 1,000 small results, of a server that needs no time.
func BenchmarkHits(b *testing.B) {
	const many = 1000
	w := &world{server: remotetest.NewMemory(), ci: remotetest.NewSigner(b, "ci")}
	here := remotetest.NewDisk(b)
	out := make([]remote.Outgoing, many)
	keys := make([]cache.Key, many)
	for i := range out {
		keys[i] = remotetest.Key()
		out[i] = remote.Outgoing{Key: keys[i], Record: remotetest.Result(b, here, keys[i], remotetest.Noise(500), remotetest.Noise(6000))}
	}
	store := remote.OverBackend(w.server, w.options())
	store.Send(b.Context(), here, out, func(s remote.Sent) {
		if s.Err != nil {
			b.Fatal(s.Err)
		}
	})
	b.Run("Send", func(b *testing.B) {
		for b.Loop() {
			remote.OverBackend(remotetest.NewMemory(), w.options()).Send(b.Context(), here, out, func(remote.Sent) {})
		}
	})
	b.Run("Find", func(b *testing.B) {
		for b.Loop() {
			store.Find(b.Context(), keys, func(remote.Answer) {})
		}
	})
	b.Run("Fetch", func(b *testing.B) {
		var found []*remote.Found
		store.Find(b.Context(), keys, func(a remote.Answer) { found = append(found, a.Found) })
		for b.Loop() {
			disk := remotetest.NewDisk(b)
			for _, f := range found {
				if err := store.Fetch(b.Context(), f, disk); err != nil {
					b.Fatal(err)
				}
			}
		}
	})
}
