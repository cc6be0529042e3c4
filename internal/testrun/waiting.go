package testrun

import (
	"flag"
	"runtime"
	"strconv"
)

// Waiting returns m with a Run that runs twice as many tests in parallel as there are processors,
// unless -parallel is set: the tests wait for processes.
func Waiting(m main) main { return waiting{m} }

type waiting struct{ main }

// Run implements main.
func (m waiting) Run() int {
	if !flag.Parsed() {
		flag.Parse()
	}
	const parallel = "test.parallel"
	set := false
	flag.Visit(func(f *flag.Flag) { set = set || f.Name == parallel })
	if !set {
		_ = flag.Set(parallel, strconv.Itoa(2*runtime.GOMAXPROCS(0)))
	}
	return m.main.Run()
}
