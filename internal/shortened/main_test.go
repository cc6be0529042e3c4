package main

import (
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
)

// A test is listed if it asks itself, through a function, a method, a variable or a kit, or by rapid.
func TestList(t *testing.T) {
	tree := fstest.MapFS{
		"a/a.go": {Data: []byte("package a\nfunc TestNotOne() { testing.Short() }\n")},
		"a/a_test.go": {Data: []byte(`package a
import "testing"
func TestMain(m *testing.M) { testing.Short() }
func TestSelf(t *testing.T) { if testing.Short() { t.Skip() } }
func TestCalls(t *testing.T) { calls() }
func calls() { deeper() }
func deeper() { testing.Short() }
func TestTable(t *testing.T) { for range table { } }
var table = []func(){deeper}
func TestKit(t *testing.T) { kit.Need(t) }
func TestProperty(t *testing.T) { rapid.Check(t, nil) }
func TestPlain(t *testing.T) { kit.Other(t); w.look() }
`)},
		"a/b_test.go": {Data: []byte(`package a_test
func TestMethod(t *testing.T) { w.fill() }
func (*world) fill() { testing.Short() }
func TestField(t *testing.T) { _ = world{deep: 1}; fill() }
`)},
		"a/testdata/x_test.go": {Data: []byte("no Go\n")},
		"b/kit/kit.go": {Data: []byte(`package kit
import "testing"
func Need(t testing.TB) { testing.Short() }
func Other(t testing.TB) { }
`)},
		"b/b_test.go": {Data: []byte("package b\nfunc TestB(t *testing.T) { deeper() }\n")},
	}
	got, err := list(tree, []string{"a", "b"})
	want := map[string][]string{"a": {"TestCalls", "TestKit", "TestMethod", "TestProperty", "TestSelf", "TestTable"}}
	if d := cmp.Diff(want, got); d != "" || err != nil {
		t.Errorf("-want +got:\n%s%v", d, err)
	}
	if _, err := list(fstest.MapFS{"a/a_test.go": {Data: []byte("func\n")}}, []string{"a"}); err == nil {
		t.Error("no error for a file that is no Go")
	}
}
