package wasm

import (
	"os"
	"os/exec"
	"runtime"
	"strings"
	"testing"

	"github.com/bentobuild/bento/internal/sandbox"
)

// hostile matches the tests of modules that try to reach files and hosts without a grant.
const hostile = "^(TestGuestReadsWorkspace|TestGuestReadsNothingElse|TestGuestWithoutGrantSeesNoFile|TestGuestWritesOut|TestReadFile|TestReadFileReplaced|" +
	"TestEnvGet|TestHTTPGet|TestHTTPGetRefusesLoopback|TestCapabilitiesIntersect|TestHostilePointers|TestHostileAllocInHostCall)$"

// Only the functions that bento links to a module confine it. So it is confined on a kernel without
// Landlock, too.
func TestHostileModulesWithoutLandlock(t *testing.T) {
	if testing.Short() {
		t.Skip("it repeats other tests")
	}
	if runtime.GOOS != "linux" || !sandbox.Offered().Seccomp {
		t.Skip("this system has no seccomp filters")
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self, "without-landlock", self, "-test.run", hostile+"|^TestIsWithoutLandlock$", "-test.v")
	cmd.Env = append(os.Environ(), lesser+"=1", builtBefore+"="+guest(t))
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	for _, name := range strings.Split(strings.Trim(hostile, "^()$"), "|") {
		if !strings.Contains(string(out), "--- PASS: "+name+" ") {
			t.Errorf("%s did not pass:\n%s", name, out)
		}
	}
	if !strings.Contains(string(out), "--- PASS: TestIsWithoutLandlock ") {
		t.Errorf("the kernel still has Landlock:\n%s", out)
	}
}

const lesser = "BENTO_TEST_WITHOUT_LANDLOCK"

func TestIsWithoutLandlock(t *testing.T) {
	if os.Getenv(lesser) == "" {
		t.Skip("see TestHostileModulesWithoutLandlock")
	}
	if lacks := strings.Join(sandbox.Offered().Lacks(), "; "); !strings.Contains(lacks, "no Landlock") {
		t.Errorf("the kernel lacks %q", lacks)
	}
}
