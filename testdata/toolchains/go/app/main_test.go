package main

import (
	"testing"

	"example.com/shelf/lib"
)

func TestPairs(t *testing.T) {
	if !lib.Same([]string{"x"}, []string{"x"}) {
		t.Error("wrong")
	}
}
