// Package sampling chooses the cases that a test tries if all cases take too long. A choice is
// random, and the seed is logged.
package sampling

import (
	"hash/fnv"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"testing"
)

const (
	seedVariable = "BENTO_TEST_SEED" // the logged seed of a failed test, to repeat its choices
	allVariable  = "BENTO_TEST_ALL"  // not empty: all cases, as in make test-long
	someVariable = "BENTO_TEST_SOME" // not empty: Skip skips tests, as in make check
)

// Rand returns the source of the choices of a test, and logs its seed.
func Rand(t testing.TB) *rand.Rand {
	t.Helper()
	seed := rand.Uint64()
	if s := os.Getenv(seedVariable); s != "" {
		var err error
		if seed, err = strconv.ParseUint(s, 10, 64); err != nil {
			t.Fatalf("%s=%q: not a number", seedVariable, s)
		}
	}
	t.Logf("%s=%d", seedVariable, seed)
	return rand.New(rand.NewPCG(seed, 0))
}

// Skip skips all but one in n of the tests that call it, if BENTO_TEST_SOME is set.
func Skip(t testing.TB, n int) {
	t.Helper()
	if os.Getenv(someVariable) == "" || All() {
		return
	}
	name := fnv.New64a()
	_, _ = name.Write([]byte(t.Name()))
	if Rand(t).Uint64()%uint64(n) != name.Sum64()%uint64(n) {
		t.Skipf("it is not in this sample of one in %d; %s=1 runs it", n, allVariable)
	}
}

// All reports whether every case must be tried.
func All() bool { return os.Getenv(allVariable) != "" }

// Short returns one in n of the cases with -short, and all of them without.
func Short[T any](t testing.TB, n int, cases []T) []T {
	t.Helper()
	if !testing.Short() {
		return cases
	}
	return Of(t, (len(cases)+n-1)/n, cases)
}

// Of returns n of the cases in their order, or all of them if there are no more than n or if All
// returns true.
func Of[T any](t testing.TB, n int, cases []T) []T {
	t.Helper()
	if All() || n >= len(cases) {
		return cases
	}
	chosen := Rand(t).Perm(len(cases))[:n]
	slices.Sort(chosen)
	sample := make([]T, n)
	for i, at := range chosen {
		sample[i] = cases[at]
	}
	return sample
}
