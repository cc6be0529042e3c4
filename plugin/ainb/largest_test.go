package ainb

import (
	"errors"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/plugin/host"
)

// A body of 16 MiB from an extension is accepted. One byte more is a fault of its stream.
func TestLargestBody(t *testing.T) {
	const most = 16 << 20
	for _, more := range []int{0, 1} {
		synctest.Test(t, func(t *testing.T) {
			r := newRig(t, "[provides]\ncli_namespaces = [\"kid\"]\n", nil, greeted(func(k *kid) {
				q := k.read()
				head := `{"jsonrpc":"2.0","id":` + string(q.ID) + `,"result":{"stdout":"aGVsbG8K","stderr":"","exit_code":3`
				k.send(head + strings.Repeat(" ", most+more-len(head)-2) + "}}")
				k.serve()
			}))
			out, err := r.Command(t.Context(), "kid-x", Command{Namespace: "kid"})
			var f *adapters.Failure
			switch {
			case more == 0 && (err != nil || string(out.Stdout) != "hello\n" || r.state() != host.Ready):
				t.Errorf("16 MiB: %v, %v, state %s", out, err, r.state())
			case more == 1 && (!errors.As(err, &f) || f.Code != adapters.MalformedResponse || !strings.Contains(f.Message, "a body of 16777217 bytes, at most 16777216")):
				t.Errorf("16 MiB and a byte: %v", err)
			}
		})
	}
}
