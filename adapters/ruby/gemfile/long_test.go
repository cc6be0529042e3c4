package gemfile

import (
	"strings"
	"testing"
	"time"
)

// TestLongPrograms reads a mebibyte of what takes more than its share of time or memory
// when each part of it leads to another look at the rest.
func TestLongPrograms(t *testing.T) {
	const size = 1 << 20
	for _, piece := range []string{"a.", "a{", "a do\n", "if ", "\"#{", "[", "<<A "} {
		begin := time.Now()
		tokens, err := tokenize("/x", []byte(strings.Repeat(piece, size/len(piece))))
		n := 0
		if err == nil {
			n = len(calls(tokens))
		}
		if took := time.Since(begin); took > 2*time.Minute {
			t.Errorf("%q again and again takes %v: %d calls, %v", piece, took, n, err)
		}
	}
}

// TestDeepBlocks: blocks below the bound are not read.
func TestDeepBlocks(t *testing.T) {
	tokens, err := tokenize("/x", []byte(strings.Repeat("group :test do\n", maxDepth-1)+"gem 'a'\n"+strings.Repeat("group :x do\n", 2)+"gem 'b'\n"))
	if err != nil {
		t.Fatal(err)
	}
	found := make(map[string]int)
	for _, c := range calls(tokens) {
		n := 0
		for range c.outer {
			n++
		}
		if found[c.name]++; c.name == "gem" && n != maxDepth-1 {
			t.Errorf("a gem in %d blocks", n)
		}
	}
	if found["gem"] != 1 {
		t.Errorf("%d gems, of which one is too deep", found["gem"])
	}
}
