package lib

import "testing"

func TestSame(t *testing.T) {
	if !Same([]string{"a"}, []string{"a"}) || Same([]string{"a"}, nil) {
		t.Error("wrong")
	}
}
