package diagnostics

import "unicode"

// Unprintable reports whether r must not reach a terminal unescaped: it controls the terminal, ends a
// line, reorders text, or is invisible, so that two names look alike. A variation selector, as after an
// emoji, is printable.
func Unprintable(r rune) bool {
	switch {
	case r < 0x7f:
		return r < ' '
	case unicode.Is(unicode.Variation_Selector, r):
		return false
	}
	return unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp, unicode.Other_Default_Ignorable_Code_Point)
}
