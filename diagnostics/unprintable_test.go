package diagnostics

import "testing"

func TestUnprintable(t *testing.T) {
	for _, r := range "\x00\x1b\n\t\r\x7f\u0085\u009b\u00ad\u061c\u115f\u180e\u200b\u200d\u200f\u2028\u2029\u202e\u2060\u2066\u2069\u3164\ufeff\ufff9\U000e0041" {
		if !Unprintable(r) {
			t.Errorf("%U is printable", r)
		}
	}
	for _, r := range " aé~\u00a0\u0301語\u3000😀\ufe0f\ufffd\ue000" {
		if Unprintable(r) {
			t.Errorf("%U is not printable", r)
		}
	}
}
