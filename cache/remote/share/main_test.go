package share

import (
	"os"
	"testing"

	"github.com/bentobuild/bento/internal/testrun"
)

func TestMain(m *testing.M) {
	if phase := os.Getenv(phaseEnv); phase != "" {
		os.Exit(kid(phase, os.Args[1], os.Args[2]))
	}
	os.Exit(testrun.InMemory(m).Run())
}
