package wire

import (
	"strings"
	"unicode"
)

// Plain returns a plugin's text without characters that steer a terminal or reorder text,
// and cuts it to a limit.
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
