package host

import (
	"errors"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bentobuild/bento/adapters"
)

// Who asks a plugin that is gone learns which call ended it, whoever waited for that
// call, and however many waited behind it.
func TestLaterCallsNameTheOneThatBrokeIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o, _ := options(greeted(func(c *child) {
			c.read()
			time.Sleep(time.Second) // the others wait meanwhile
			c.Send([]byte("{x}"))
			c.hang()
		}))
		p := start(t, o)
		var calls sync.WaitGroup
		ask := func(c Call, late bool, want string) {
			calls.Go(func() {
				var f *adapters.Failure
				err := callError(p, c)
				if !errors.As(err, &f) || f.Late != late || !strings.HasPrefix(f.Message, want) {
					t.Errorf("%s of %q: got %v, want %q", c.Method, c.Dir, err, want)
				}
			})
			synctest.Wait()
		}
		ask(Call{Method: "detect", Dir: "/w/y"}, false, "malformed frame")
		for _, c := range []Call{{Method: "detect", Dir: "/w/z"}, {Method: "fingerprint"}} {
			ask(c, true, `it is not asked any more since detect of "/w/y": malformed frame`)
		}
		calls.Wait()
		ask(Call{Method: "links", Dir: "/w/y"}, true, `it is not asked any more since detect of "/w/y": malformed frame`)
		calls.Wait()
	})
}
