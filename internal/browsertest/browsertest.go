// Package browsertest drives a headless Chromium in tests.
package browsertest

import (
	"context"
	"fmt"
	"os/exec"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"

	"github.com/bentobuild/bento/adapters/adaptertest"
)

// Browser is a browser with one page.
type Browser struct {
	t        testing.TB
	context  func() context.Context // of the page
	mu       sync.Mutex
	problems []string
}

// Open starts a browser, which ends with the test. It skips the test if there is none. flags are further flags of
// Chromium, with their values.
func Open(t testing.TB, flags map[string]string) *Browser {
	t.Helper()
	adaptertest.Need(t, "chromium")
	path, err := exec.LookPath("chromium")
	if err != nil {
		t.Fatal(err)
	}
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(path), chromedp.NoSandbox, chromedp.DisableGPU,
		chromedp.UserDataDir(t.TempDir()), chromedp.Flag("disable-component-update", true), chromedp.WindowSize(1300, 800))
	for name, value := range flags {
		options = append(options, chromedp.Flag(name, value))
	}
	ctx, cancel := chromedp.NewExecAllocator(context.Background(), options...)
	t.Cleanup(cancel)
	ctx, cancel = chromedp.NewContext(ctx)
	t.Cleanup(cancel)
	ctx, cancel = context.WithTimeout(ctx, 2*time.Minute)
	t.Cleanup(cancel)
	b := &Browser{t: t, context: func() context.Context { return ctx }}
	if err := chromedp.Listen(ctx, b.hear); err != nil {
		t.Fatal(err)
	}
	return b
}

// hear notes errors of the page.
func (b *Browser) hear(ev any) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch ev := ev.(type) {
	case *runtime.EventExceptionThrown:
		b.problems = append(b.problems, ev.ExceptionDetails.Text)
	case *log.EventEntryAdded:
		b.problems = append(b.problems, ev.Entry.Text)
	}
}

// Problems returns the errors of the page since the last call.
func (b *Browser) Problems() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	list := b.problems
	b.problems = nil
	return list
}

// Quiet fails the test if the page had errors.
func (b *Browser) Quiet() {
	b.t.Helper()
	for _, p := range b.Problems() {
		b.t.Errorf("the page had an error: %s", p)
	}
}

// Context returns the context of the page, for commands of the protocol.
func (b *Browser) Context() context.Context { return b.context() }

// Do takes steps in the page.
func (b *Browser) Do(steps ...chromedp.Action[chromedp.Void]) {
	b.t.Helper()
	if err := chromedp.Do(b.context(), steps...); err != nil {
		b.t.Fatal(err)
	}
}

// Ask returns the result of a step.
func Ask[T any](b *Browser, a chromedp.Action[T]) T {
	b.t.Helper()
	v, err := chromedp.Run(b.context(), a)
	if err != nil {
		b.t.Fatal(err)
	}
	return v
}

// Eval returns the value of an expression, as text.
func (b *Browser) Eval(expression string) string {
	b.t.Helper()
	return Ask(b, chromedp.Evaluate[string]("String("+expression+")"))
}

// Until waits until an expression has a value, as text. It fails the test after a minute.
func (b *Browser) Until(expression, want string) {
	b.t.Helper()
	const wait = `new Promise(done => {
		const until = performance.now() + 60000;
		const look = () => { let is; try { is = String(%s); } catch (e) { is = String(e); } is === %q || performance.now() > until ? done(is) : setTimeout(look, 10); };
		look();
	})`
	got := Ask(b, chromedp.Evaluate[string](fmt.Sprintf(wait, expression, want), chromedp.EvalAwaitPromise))
	if got != want {
		b.t.Fatalf("%s is %q, want %q", expression, got, want)
	}
}
