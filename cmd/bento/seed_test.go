package main

import (
	"math/rand/v2"
	"os"
	"strconv"
	"testing"
)

// testSeed repeats the choices of a test that has failed, and logged it.
const testSeed = "BENTO_TEST_SEED"

// seeded returns the source of the choices of a test.
func seeded(t *testing.T) *rand.Rand {
	t.Helper()
	seed := rand.Uint64()
	if s := os.Getenv(testSeed); s != "" {
		var err error
		if seed, err = strconv.ParseUint(s, 10, 64); err != nil {
			t.Fatalf("%s=%q: not a number", testSeed, s)
		}
	}
	t.Logf("%s=%d", testSeed, seed)
	return rand.New(rand.NewPCG(seed, 0))
}
