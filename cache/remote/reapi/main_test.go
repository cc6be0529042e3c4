package reapi

import (
	"os"
	"testing"

	"github.com/bentobuild/bento/internal/testrun"
)

func TestMain(m *testing.M) { os.Exit(testrun.InMemory(m).Run()) }
