package config

import (
	"testing"
	"time"
)

func TestParseUnits(t *testing.T) {
	sizes := map[string]int64{"1": 1, "1B": 1, "2K": 2048, "2 KB": 2000, "2KiB": 2048, "1.5G": 3 << 29, "1tib": 1 << 40, "1TB": 1e12,
		"": 0, "0": 0, "-1": 0, "1X": 0, "B": 0, "1BB": 0, "1iB": 0, "1e400": 0, "NaN": 0, "99999999T": 0, "0x10": 0}
	for in, want := range sizes {
		got, ok := ParseSize(in)
		if got != want || ok != (want > 0) {
			t.Errorf("ParseSize(%q) = %d, %v, want %d", in, got, ok, want)
		}
	}
	times := map[string]time.Duration{"90s": 90 * time.Second, "1h30m": 90 * time.Minute, "2d": 48 * time.Hour, "1w": 168 * time.Hour,
		"": 0, "0s": 0, "-1s": 0, "d": 0, "1.5d": 0, "x": 0, "9999999999w": 0}
	for in, want := range times {
		got, ok := ParseDuration(in)
		if ok != (want > 0) || ok && got != want {
			t.Errorf("ParseDuration(%q) = %v, %v, want %v", in, got, ok, want)
		}
	}
}
