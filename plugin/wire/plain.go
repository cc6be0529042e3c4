package wire

import (
	"strings"
	"unicode"
)

// Plain gives what a plugin said as text that cannot steer a terminal, nor show its
// characters in another order, and is not too long.
func Plain(text string) string {
	if most := 64 << 10; len(text) > most {
		text = text[:most] + "…"
	}
	return strings.Map(func(r rune) rune {
		if (unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r)) && r != '\n' && r != '\t' {
			return -1
		}
		return r
	}, strings.ToValidUTF8(text, "\uFFFD"))
}
