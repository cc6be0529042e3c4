package testrun

import (
	"flag"
	"runtime"
	"strconv"
)

// Waiting returns m such that Run has twice as many parallel tests at once as there are processors,
// unless -parallel says how many: they wait for processes.
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
