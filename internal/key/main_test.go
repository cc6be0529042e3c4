package key

import (
	"os"
	"testing"

	"github.com/bentobuild/bento/internal/testdir"
)

func TestMain(m *testing.M) { os.Exit(testdir.InMemory(m).Run()) }
