package cache

import (
	"errors"
	"io"
	"math/rand/v2"
	"strings"
	"testing"
)

// TestHashedBlobs checks that a blob with a known digest is read back unchanged, compressed if that saves
// space, and that a wrong digest stores nothing.
func TestHashedBlobs(t *testing.T) {
	s := opened(t, t.TempDir())
	noise := make([]byte, maxHashed+1)
	src := rand.NewChaCha8([32]byte{})
	_, _ = src.Read(noise)
	text := []byte(strings.Repeat("a line of a pack\n", maxHashed/17+1))
	for _, size := range []int{0, 1, sampleSize - 1, sampleSize, 1 << 20, maxHashed, maxHashed + 1} {
		for name, data := range map[string][]byte{"text": text[:size], "noise": noise[:size]} {
			h := Hash(data)
			if err := s.Add(h.Sum(), h); err != nil {
				t.Fatalf("%d bytes of %s: %v", size, name, err)
			}
			b, err := s.Open(h.Sum())
			if err != nil {
				t.Fatalf("%d bytes of %s: %v", size, name, err)
			}
			got, err := io.ReadAll(b)
			if err != nil || string(got) != string(data) {
				t.Errorf("%d bytes of %s: got %d bytes, %v", size, name, len(got), err)
			}
			if packed := b.(*Blob).File() == nil; packed != (name == "text" && size > blockSize) {
				t.Errorf("%d bytes of %s: compressed %v", size, name, packed)
			}
			b.Close()
		}
	}
	var wrong *DigestError
	if err := s.Add(Digest{1}, Hash(text[:sampleSize])); !errors.As(err, &wrong) || s.HasBlob(Digest{1}) {
		t.Errorf("a wrong digest: %v, want a DigestError and no blob", err)
	}
}
