package adapter

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bentobuild/bento/adapters"
)

// TestTrace: the trace has every frame, in both directions, from initialize to shutdown.
func TestTrace(t *testing.T) {
	var (
		mu  sync.Mutex
		got []string
	)
	ctx := WithTrace(t.Context(), func(f Frame) {
		mu.Lock()
		defer mu.Unlock()
		body, _, _ := strings.Cut(string(f.Body), `,"result":`)
		body, _, _ = strings.Cut(body, `,"params":`)
		got = append(got, fmt.Sprint(f.ID, f.Sent, f.Time.IsZero(), body))
	})
	set, err := Start(ctx, []adapters.Candidate{install(t, t.TempDir(), "good")}, Options{Numbers: short(), Digests: digests()})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := set.Adapters()[0].Detect(t.Context(), "/a"); err != nil {
		t.Fatal(err)
	}
	set.Close()
	var want []string
	for i, method := range []string{"initialize", "detect", "shutdown"} {
		want = append(want, fmt.Sprintf(`goodtruefalse{"jsonrpc":"2.0","id":%d,"method":"%s"`, i+1, method), fmt.Sprintf(`goodfalsefalse{"jsonrpc":"2.0","id":%d`, i+1))
	}
	want[4] += "}" // it has no params
	for i, line := range got {
		got[i] = strings.ReplaceAll(line, " ", "")
	}
	if diff := cmp.Diff(want, slices.Clip(got)); diff != "" {
		t.Errorf("frames (-want +got):\n%s", diff)
	}
}
