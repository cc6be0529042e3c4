package config

import (
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/bentobuild/bento/diagnostics"
	"github.com/bentobuild/bento/internal/tomlfile"
)

// duration is a positive time: "90s", "1h30m", "2d", "1w", or seconds as an
// integer.
type duration time.Duration

// Shape returns the schema.
func (*duration) Shape() tomlfile.Schema {
	return tomlfile.Schema{"anyOf": []any{
		tomlfile.Schema{"type": "string", "pattern": "^[0-9+.]"}, tomlfile.Schema{"type": "integer", "minimum": 1},
	}}
}

// UnmarshalTOML takes a time.
func (d *duration) UnmarshalTOML(v *tomlfile.Value) []diagnostics.Diagnostic {
	const want = `a time such as "90s", "10m", "30d", or seconds`
	switch x := v.Any().(type) {
	case int64:
		if x > 0 && x <= math.MaxInt64/int64(time.Second) {
			*d = duration(time.Duration(x) * time.Second)
			return nil
		}
	case string:
		if t, ok := ParseDuration(x); ok {
			*d = duration(t)
			return nil
		}
	default:
		return []diagnostics.Diagnostic{v.Expected(want)}
	}
	return []diagnostics.Diagnostic{v.Pos().Error(diagnostics.RuleInvalid, "%s is not valid, expected %s", v.Path(), want)}
}

// ParseDuration reads a positive time as configuration files write it.
func ParseDuration(s string) (time.Duration, bool) {
	unit := time.Duration(0)
	switch {
	case strings.HasSuffix(s, "d"):
		unit = 24 * time.Hour
	case strings.HasSuffix(s, "w"):
		unit = 7 * 24 * time.Hour
	default:
		t, err := time.ParseDuration(s)
		return t, err == nil && t > 0
	}
	n, err := strconv.ParseInt(s[:len(s)-1], 10, 64)
	if err != nil || n <= 0 || n > math.MaxInt64/int64(unit) {
		return 0, false
	}
	return time.Duration(n) * unit, true
}

// size is a number of bytes: an integer, or "10GB", "500 MiB"; K, M, G and T
// without B count in 1024s.
type size int64

// Shape returns the schema.
func (*size) Shape() tomlfile.Schema { return new(duration).Shape() }

// UnmarshalTOML takes a size.
func (s *size) UnmarshalTOML(v *tomlfile.Value) []diagnostics.Diagnostic {
	const want = `a size such as "10GB", "500MiB", or bytes`
	switch x := v.Any().(type) {
	case int64:
		if x > 0 {
			*s = size(x)
			return nil
		}
	case string:
		if n, ok := ParseSize(x); ok {
			*s = size(n)
			return nil
		}
	default:
		return []diagnostics.Diagnostic{v.Expected(want)}
	}
	return []diagnostics.Diagnostic{v.Pos().Error(diagnostics.RuleInvalid, "%s is not valid, expected %s", v.Path(), want)}
}

// ParseSize reads a number of bytes as configuration files write it.
func ParseSize(s string) (int64, bool) {
	digits := strings.TrimRight(s, "BbKkMmGgTti ")
	unit, ok := unitSize(strings.ToLower(strings.TrimSpace(s[len(digits):])))
	n, err := strconv.ParseFloat(digits, 64)
	if !ok || err != nil || !(n > 0) || n*float64(unit) < 1 || n*float64(unit) >= math.MaxInt64 {
		return 0, false
	}
	return int64(n * float64(unit)), true
}

func unitSize(unit string) (int64, bool) {
	if unit == "" || unit == "b" {
		return 1, true
	}
	power := strings.IndexByte("kmgt", unit[0]) + 1
	base := int64(1024)
	switch unit[1:] {
	case "", "ib":
	case "b":
		base = 1000
	default:
		power = 0
	}
	n := int64(1)
	for range power {
		n *= base
	}
	return n, power > 0
}
