package testrun

import (
	"flag"
	"runtime"
	"strconv"
	"testing"
)

type parallel struct{ n string }

func (p *parallel) Run() int {
	p.n = flag.Lookup("test.parallel").Value.String()
	return 3
}

// -parallel of the user stays.
func TestWaiting(t *testing.T) {
	before := flag.Lookup("test.parallel").Value.String()
	given := before != strconv.Itoa(runtime.GOMAXPROCS(0))
	defer flag.Set("test.parallel", before)
	p := &parallel{}
	want := strconv.Itoa(2 * runtime.GOMAXPROCS(0))
	if given {
		want = before
	}
	if code := Waiting(p).Run(); code != 3 || p.n != want {
		t.Errorf("%d, %s at once, want %s", code, p.n, want)
	}
	// Run has set it: it is as if the user had.
	if err := flag.Set("test.parallel", "7"); err != nil {
		t.Fatal(err)
	}
	if Waiting(p).Run(); p.n != "7" {
		t.Errorf("%s at once, want 7", p.n)
	}
}
