package tree

import (
	"context"
	"errors"
	"testing"
)

// What lists the files of outputs ends with the invocation, in the middle of a directory
// as well.
func TestExpandHears(t *testing.T) {
	dir := tempDir(t)
	for _, name := range []string{"out/a", "out/b", "out/sub/c"} {
		write(t, dir, name, "")
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	tr, err := Walk(ctx, dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	set, err := CompileSet("", []string{"out/**"})
	if err != nil {
		t.Fatal(err)
	}
	if list, err := tr.Expand(set); len(list) != 3 || err != nil {
		t.Errorf("%v, %v", list, err)
	}
	cancel()
	if list, err := tr.Expand(set); !errors.Is(err, context.Canceled) {
		t.Errorf("interrupted: %v, %v", list, err)
	}
	if list, err := Expand(dir, set); len(list) != 3 || err != nil {
		t.Errorf("after the end: %v, %v", list, err)
	}
}
