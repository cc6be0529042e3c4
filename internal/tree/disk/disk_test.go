package disk

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/zeebo/blake3"

	"github.com/bentobuild/bento/internal/state"
)

func TestJudge(t *testing.T) {
	const s, ms = int64(time.Second), int64(time.Millisecond)
	for _, c := range []struct {
		stamps []int64
		behind time.Duration
		exact  bool
		slack  time.Duration
	}{
		{[]int64{1, 2, 3, 4}, 0, true, fineTick},
		{[]int64{5 * ms, 5 * ms, 5 * ms}, 3 * time.Millisecond, false, fineTick + 3*time.Millisecond},
		{[]int64{5 * ms, 9 * ms, 9 * ms}, -time.Second, false, fineTick},
		{[]int64{5 * s, 5 * s, 5 * s}, time.Second, false, coarseTick + time.Second},
		{[]int64{5 * s, 6 * s, 6 * s}, 10 * time.Second, false, coarseTick + 10*time.Second},
	} {
		var k Clock
		k.once.Do(func() {})
		k.judge(7, c.stamps, c.behind)
		if k.exact != c.exact || k.slack != c.slack {
			t.Errorf("%v, %v behind: exact %v, slack %v", c.stamps, c.behind, k.exact, k.slack)
		}
		now := 1000 * s
		for age, want := range map[time.Duration]bool{c.slack + 1: true, c.slack - 1: c.exact, -time.Hour: c.exact} {
			if got := k.Settled(&Entry{Dev: 7, Ctime: now - int64(age)}, now); got != want {
				t.Errorf("%v, changed %v ago: settled %v", c, age, got)
			}
		}
		if k.Settled(&Entry{Dev: 8, Ctime: now - 2*s}, now) || !k.Settled(&Entry{Dev: 8, Ctime: now - 3*s}, now) {
			t.Error("another file system is judged by this one")
		}
	}
}

func BenchmarkHash(b *testing.B) {
	dir := b.TempDir()
	const size = 64 << 20
	if err := os.WriteFile(filepath.Join(dir, "big"), make([]byte, size), 0o644); err != nil {
		b.Fatal(err)
	}
	b.SetBytes(size)
	h := NewHasher(nil)
	for b.Loop() {
		if _, _, err := h.File(dir, "big"); err != nil {
			b.Fatal(err)
		}
	}
}

func TestClock(t *testing.T) {
	dir := t.TempDir()
	c := NewClock(state.Open(dir))
	path := filepath.Join(dir, "f")
	if err := os.WriteFile(path, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	e, err := Stat(dir, "f")
	if err != nil {
		t.Fatal(err)
	}
	now := time.Now()
	got := c.Settled(&e, now.UnixNano())
	t.Logf("exact %v, slack %v", c.exact, c.slack)
	if got != c.exact || !c.Settled(&e, now.Add(time.Hour).UnixNano()) {
		t.Errorf("a file of now is settled: %v", got)
	}
	if c.exact { // then this must hold
		if err := os.WriteFile(path, []byte("x"), 0o644); err != nil {
			t.Fatal(err)
		}
		if after, err := Stat(dir, "f"); err != nil || after.Ctime == e.Ctime {
			t.Error("a write after a look has the same time")
		}
	}
	if NewClock(nil).Settled(&e, now.UnixNano()) || !NewClock(nil).Settled(&e, now.Add(time.Hour).UnixNano()) {
		t.Error("without a place to try it out: not careful")
	}
}

// TestLists: the times of a directory are reliable if it was changed long before they were read, even
// if not every change has a new time, as on tmpfs after the removal of a name.
func TestLists(t *testing.T) {
	dirs := []string{t.TempDir()}
	if dir, err := os.MkdirTemp("/dev/shm", "bento-test-"); err == nil {
		t.Cleanup(func() { os.RemoveAll(dir) })
		dirs = append(dirs, dir)
	}
	for _, dir := range dirs {
		c := NewClock(state.Open(dir))
		e, err := Stat(dir, ".")
		if err != nil {
			t.Fatal(err)
		}
		if got := c.Lists(e.Stamp(), e.Ctime); got != c.each {
			t.Errorf("%s was just made, and settled is %v", dir, got)
		}
		f, err := os.Open(dir)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		if got := c.Lists(e.Stamp(), e.Ctime+int64(time.Hour)); got != local(int(f.Fd())) {
			t.Errorf("%s was made long ago, and settled is %v", dir, got)
		}
	}
}

func TestHasher(t *testing.T) {
	dir := t.TempDir()
	h := NewHasher(nil)
	for _, size := range []int{0, 1, 128 << 10, 128<<10 + 1, 1 << 20} {
		text := strings.Repeat("x", size)
		if err := os.WriteFile(filepath.Join(dir, "f"), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		e, sum, err := h.File(dir, "f")
		if err != nil || sum != blake3.Sum256([]byte(text)) || e.Size != int64(size) {
			t.Errorf("%d bytes: %v, size %d", size, err, e.Size)
		}
		if look, err := Stat(dir, "f"); err != nil || !look.Same(&e) {
			t.Errorf("Stat and File do not agree: %+v, %+v, %v", look, e, err)
		}
	}
	if _, _, err := h.File(dir, "no"); !os.IsNotExist(err) {
		t.Errorf("no file: %v", err)
	}
	if _, _, err := h.File(dir, "."); err != ErrKind {
		t.Errorf("a directory: %v", err)
	}
}

// TestHasherOfAKnownFile: a read without a stat before it returns the state of the file after the
// read, even if the file has changed.
func TestHasherOfAKnownFile(t *testing.T) {
	dir := t.TempDir()
	h := NewHasher(nil)
	write := func(text string) Entry {
		if err := os.WriteFile(filepath.Join(dir, "f"), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		e, err := Stat(dir, "f")
		if err != nil {
			t.Fatal(err)
		}
		return e
	}
	was := write("one")
	for _, text := range []string{"one", "longer", "", "two"} {
		if text != "one" {
			write(text)
		}
		now, _ := Stat(dir, "f")
		if e, sum, err := h.Same(dir, &was); err != nil || !e.Same(&now) || sum != blake3.Sum256([]byte(text)) {
			t.Errorf("%q: %+v, %v, want %+v", text, e, err, now)
		}
	}
	if err := os.Remove(filepath.Join(dir, "f")); err != nil {
		t.Fatal(err)
	}
	if _, _, err := h.Same(dir, &was); !os.IsNotExist(err) {
		t.Errorf("no file: %v", err)
	}
	if err := os.Mkdir(filepath.Join(dir, "f"), 0o755); err != nil {
		t.Fatal(err)
	}
	if _, _, err := h.Same(dir, &was); err == nil {
		t.Error("a directory was read")
	}
}

// TestHasherOfAMovingFile: the result for a file that is written meanwhile is one state of it, or an
// error.
func TestHasherOfAMovingFile(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "f")
	states := map[[32]byte]bool{}
	text := func(i int) []byte { return []byte(strings.Repeat(string(rune('a'+i)), 300_000+i)) }
	for i := range 4 {
		states[blake3.Sum256(text(i))] = true
	}
	replace := func(i int) {
		if err := os.WriteFile(path+".new", text(i%4), 0o644); err != nil {
			t.Error(err)
		}
		if err := os.Rename(path+".new", path); err != nil {
			t.Error(err)
		}
	}
	replace(0)
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		for i := 0; ; i++ {
			select {
			case <-stop:
				return
			default:
				replace(i)
			}
		}
	}()
	h := NewHasher(nil)
	for range 100 {
		if _, sum, err := h.File(dir, "f"); err == nil && !states[sum] {
			t.Error("a mixture of two states")
		}
	}
	close(stop)
	<-stopped
}

// TestHasherOfAGrowingFile: for a file that changes its size meanwhile, the digest belongs to the
// returned size, or there is an error.
func TestHasherOfAGrowingFile(t *testing.T) {
	dir := t.TempDir()
	f, err := os.Create(filepath.Join(dir, "f"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	const piece, most = 50_000, 4 << 20
	text := []byte(strings.Repeat("0123456789abcdef!", most/17+piece))
	if _, err := f.Write(text[:piece]); err != nil {
		t.Fatal(err)
	}
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		for size := int64(piece); ; size = (size + piece) % most {
			select {
			case <-stop:
				return
			default:
			}
			if err := f.Truncate(size); err != nil {
				t.Error(err)
			}
			if _, err := f.WriteAt(text[size:size+piece], size); err != nil {
				t.Error(err)
			}
		}
	}()
	h := NewHasher(nil)
	for range 200 {
		if e, sum, err := h.File(dir, "f"); err == nil && sum != blake3.Sum256(text[:e.Size]) {
			t.Errorf("not the digest of %d bytes", e.Size)
		}
	}
	close(stop)
	<-stopped
	if e, sum, err := h.File(dir, "f"); err != nil || sum != blake3.Sum256(text[:e.Size]) {
		t.Errorf("at rest: %v", err)
	}
}
