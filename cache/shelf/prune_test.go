package shelf

import (
	"testing"
	"time"
)

func filesOf(sizes ...int64) []File {
	now := time.Now()
	files := make([]File, len(sizes))
	for i, size := range sizes {
		files[i] = File{size: size, used: now.Add(-time.Duration(i) * time.Hour)}
	}
	return files
}

func left(files []File, cutoff time.Time) (n int) {
	for _, f := range files {
		if !f.used.Before(cutoff) {
			n++
		}
	}
	return n
}

func TestCutoff(t *testing.T) {
	tests := []struct {
		name  string
		files []File
		part  float64
		b     Bounds
		want  int
	}{
		{"no bounds", filesOf(1, 1, 1), 1, Bounds{}, 3},
		{"fits", filesOf(10, 10, 10), 1, Bounds{MaxSize: 30}, 3},
		{"one too many", filesOf(10, 10, 10), 1, Bounds{MaxSize: 29}, 2},
		{"the newest is too large", filesOf(100, 1), 1, Bounds{MaxSize: 50}, 0},
		{"age", filesOf(1, 1, 1, 1), 1, Bounds{MaxAge: 90 * time.Minute}, 2},
		{"age is tighter", filesOf(1, 1, 1, 1), 1, Bounds{MaxAge: 90 * time.Minute, MaxSize: 3}, 2},
		{"size is tighter", filesOf(1, 1, 1, 1), 1, Bounds{MaxAge: 90 * time.Minute, MaxSize: 1}, 1},
		{"a quarter stands for the whole", filesOf(1, 1, 1, 1), 0.25, Bounds{MaxSize: 8000}, 4},
		{"a quarter of too much", filesOf(4, 4, 4, 4), 0.25, Bounds{MaxSize: 4000}, 4},
		{"many in a quarter", filesOf(make([]int64, 10)...), 0.25, Bounds{MaxSize: 1}, 10},
		{"one giant in a sample", filesOf(5000, 1, 1), 0.01, Bounds{MaxSize: 10_000}, 3},
	}
	for _, tt := range tests {
		if got := left(tt.files, tt.b.cutoff(tt.files, tt.part, time.Now())); got != tt.want {
			t.Errorf("%s: %d left, want %d", tt.name, got, tt.want)
		}
	}
}

// The estimate from a sample is near what all files tell.
func TestCutoffOfSample(t *testing.T) {
	sizes := make([]int64, 2000)
	for i := range sizes {
		sizes[i] = 4096
	}
	files := filesOf(sizes...)
	b := Bounds{MaxSize: 1000 * 4096}
	var sample []File
	for i := 0; i < len(files); i += 10 {
		sample = append(sample, files[i])
	}
	if n := left(files, b.cutoff(sample, 0.1, time.Now())); n < 900 || n > 1100 {
		t.Errorf("%d left of 2000, want about 1000", n)
	}
}
