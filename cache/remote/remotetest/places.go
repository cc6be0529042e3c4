package remotetest

import (
	"testing"

	"github.com/bentobuild/bento/cache"
	"github.com/bentobuild/bento/cache/remote"
)

func testServerTrust(t *testing.T, s *shop) {
	disk, there := NewDisk(t), NewDisk(t)
	store := s.store(t, func(o *remote.Options) { o.Signer, o.Trust = nil, remote.Trust{Server: true} })
	key := Key()
	r := Result(t, disk, key, Noise(5000))
	mustSend(t, store, disk, key, r)
	got, err := Get(bounded(t), store, there, key)
	if err != nil {
		t.Fatal(err)
	}
	same(t, r, got, disk, there)
	missed(t, s.store(t, nil), key, remote.Unsigned) // where signatures are required
}

func testOtherMachine(t *testing.T, s *shop) {
	disk := NewDisk(t)
	key := Key()
	mustSend(t, s.store(t, nil), disk, key, Result(t, disk, key, Noise(5000)))
	missed(t, s.store(t, func(o *remote.Options) { o.Class += "-musl" }), key, "")
}

// testContained: machines of any class share what is made in one image. Others, and those without the image, do not.
func testContained(t *testing.T, s *shop) {
	disk := NewDisk(t)
	key := Key()
	in := func(image string) func(*remote.Options) {
		return func(o *remote.Options) {
			o.Others = new(remote.Classes)
			o.Others.Set(key, image)
		}
	}
	mustSend(t, s.store(t, in("image 1")), disk, key, Result(t, disk, key, Noise(5000)))
	missed(t, s.store(t, nil), key, "")
	missed(t, s.store(t, in("image 2")), key, "")
	elsewhere := s.store(t, func(o *remote.Options) {
		in("image 1")(o)
		o.Class += "-musl"
	})
	if _, err := Get(bounded(t), elsewhere, NewDisk(t), key); err != nil {
		t.Errorf("the same image on another machine: %v", err)
	}
}

func testScopes(t *testing.T, s *shop) {
	disk := NewDisk(t)
	in := func(write string, read ...string) remote.Store {
		return s.store(t, func(o *remote.Options) { o.Write, o.Read = write, read })
	}
	trunk, seven, eight := in("trunk", "trunk"), in("pr-7", "pr-7", "trunk"), in("pr-8", "pr-8", "trunk")
	key, both := Key(), Key()
	mustSend(t, seven, disk, key, Result(t, disk, key, []byte("of pull request 7")))
	missed(t, trunk, key, "") // what a pull request writes, trunk builds
	missed(t, eight, key, "")
	if _, err := Get(bounded(t), seven, NewDisk(t), key); err != nil {
		t.Errorf("its own: %v", err)
	}
	mustSend(t, trunk, disk, both, Result(t, disk, both, []byte("trunk's")))
	if _, err := Get(bounded(t), seven, NewDisk(t), both); err != nil {
		t.Errorf("trunk's in a pull request: %v", err)
	}
	mustSend(t, seven, disk, both, Result(t, disk, both, []byte("its own")))
	for store, want := range map[remote.Store]string{trunk: "trunk's", seven: "its own", eight: "trunk's"} {
		got, err := Get(bounded(t), store, NewDisk(t), both)
		if err != nil || got.Outputs[0].Digest != cache.Sum([]byte(want)) {
			t.Errorf("want %s: %v", want, err)
		}
	}
}
