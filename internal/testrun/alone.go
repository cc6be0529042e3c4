package testrun

import (
	"flag"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"
)

const aloneEnv = "BENTO_TEST_ALONE"

// Alone runs the calling test in a process of its own, and reports in that process that this is it; in the other one the
// test returns then. A test needs it that runs commands of bento in the process of the tests: bento adopts all that
// descends from its process, and reaps and ends what it has not started, such as servers of other tests.
func Alone(t *testing.T) bool {
	t.Helper()
	if os.Getenv(aloneEnv) == t.Name() {
		return true
	}
	cmd := exec.Command(os.Args[0], aloneArgs(t.Name())...)
	cmd.Env = append(os.Environ(), aloneEnv+"="+t.Name())
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Errorf("%s, in a process of its own: %v\n%s", t.Name(), err, out)
	} else if why := skipped.FindSubmatch(out); why != nil {
		t.Skip(string(why[1]))
	}
	return false
}

// skipped matches the report of a test that was skipped, with its reason, which -v prints before.
var skipped = regexp.MustCompile(`(?m)^\s+\S+\.go:\d+: (.*)\n--- SKIP: `)

// aloneArgs are the arguments of this process for one test, without those about its own output.
func aloneArgs(name string) []string {
	args := []string{"-test.v"}
	only := "^" + name + "$"
	flag.Visit(func(f *flag.Flag) {
		switch f.Name {
		case "test.run":
			if _, subtests, named := strings.Cut(f.Value.String(), "/"); named {
				only += "/" + subtests
			}
		case "test.short", "test.parallel", "test.timeout", "test.failfast", "test.paniconexit0":
			args = append(args, "-"+f.Name+"="+f.Value.String())
		default:
			if !strings.HasPrefix(f.Name, "test.") {
				args = append(args, "-"+f.Name+"="+f.Value.String())
			}
		}
	})
	return append(args, "-test.run="+only)
}
