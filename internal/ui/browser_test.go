package ui

import (
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/bentobuild/bento/internal/browsertest"
	"github.com/bentobuild/bento/internal/run"
)

// TestInBrowser opens the page as a user does, follows a run in it, reads a log, loads the page again, and outlives the
// server.
func TestInBrowser(t *testing.T) {
	b := browsertest.Open(t, nil)
	s := serve(t, 120)
	b.Do(chromedp.Navigate(s.base + "#" + s.token))
	b.Until(`document.title`, "bento: shop "+hostile)
	b.Until(`$('count').textContent`, "120 dishes")
	if got := b.Eval(`location.hash + ' ' + location.pathname + ' ' + document.cookie`); got != " / " {
		t.Errorf("the token stays in the address, or is in a cookie: %q", got)
	}
	w, p := s.runOf(120, "bento build "+hostile)
	w.Report(run.TaskStarted{Task: p.Tasks[0]})
	b.Until(`document.querySelector('#filters .now')?.textContent`, "▶ 1 running")
	b.Do(chromedp.SendKeys(chromedp.CSS("#search"), "dish-00000\r"))
	b.Until(`document.querySelector('#panel h2').textContent`, "dish-00000")
	b.Do(chromedp.Click(chromedp.CSS("#panel .task button")))
	b.Until(`$('log').textContent`, "the log of dish-00000:build true "+hostile)
	w.Report(run.TaskFinished{Result: &run.Result{Task: p.Tasks[0], Outcome: run.Failed, Message: hostile, Started: time.Now(), Duration: time.Second}})
	b.Until(`document.querySelector('#panel .bad')?.textContent`, "✗ failed")
	if got := b.Eval(`$('panel').textContent.includes('why ' + ` + fmt.Sprintf("%q", hostile) + `)`); got != "true" {
		t.Errorf("the panel lacks why: %s", b.Eval(`$('panel').textContent`))
	}
	if got := b.Eval(`$('log').textContent`); !strings.HasPrefix(got, "the log of") {
		t.Errorf("the log is not shown any more: %s", got)
	}
	w.Report(run.Finished{Report: &run.Report{Duration: 2 * time.Second}})
	b.Until(`[...runs.values()].map(r => r.state + r.settled).join()`, "endedtrue")
	if got := b.Eval(`$('runtitle').textContent`); !strings.HasPrefix(got, "bento build "+hostile+" — 2.0 s, ") {
		t.Errorf("the title of the timeline: %s", got)
	}
	if got := b.Eval(`document.querySelectorAll('#time rect.bad').length`); got != "1" {
		t.Errorf("%s bars of failed tasks, want 1", got)
	}
	b.Do(chromedp.Reload())
	b.Until(`$('count').textContent`, "120 dishes") // by the token of the tab
	b.Until(`document.querySelector('#filters .bad')?.textContent`, "✗ 1 failed")
	if got := b.Eval(`document.title + document.querySelectorAll('img').length`); got != "bento: shop "+hostile+"0" {
		t.Errorf("a name has broken out: %s", got)
	}
	b.Quiet()
	s.end()
	b.Until(`$('notice').textContent`, "bento ui does not answer. This page tries again.")
}

// TestManyTasks: a page of ten thousand tasks stays small while all of them run.
func TestManyTasks(t *testing.T) {
	b := browsertest.Open(t, nil)
	s := serve(t, 10_000)
	b.Do(chromedp.Navigate(s.base + "#" + s.token))
	b.Until(`$('count').textContent`, "10000 dishes")
	w, p := s.runOf(10_000, "bento ci")
	started := time.Now()
	for i, task := range p.Tasks {
		w.Report(run.TaskStarted{Task: task})
		w.Report(run.TaskFinished{Result: &run.Result{Task: task, Outcome: run.Built, Started: started.Add(time.Duration(i/8) * time.Millisecond), Duration: time.Millisecond}})
	}
	b.Until(`document.querySelector('#filters .ok')?.textContent`, "✓ 10000 built")
	w.Report(run.Finished{Report: &run.Report{Duration: 2 * time.Second}})
	b.Until(`[...runs.values()].map(r => r.state + r.rows.size).join()`, "ended10000")
	if n := b.Eval(`document.querySelectorAll('.row').length < 60 && document.querySelectorAll('#time rect').length < 6000`); n != "true" {
		t.Errorf("%s rows and %s bars are in the document", b.Eval(`document.querySelectorAll('.row').length`), b.Eval(`document.querySelectorAll('#time rect').length`))
	}
	b.Quiet()
}

// TestOtherSites: a page of another site, a name that is rebound to this machine, and an address without the token get
// nothing from a browser.
func TestOtherSites(t *testing.T) {
	b := browsertest.Open(t, map[string]string{"host-resolver-rules": "MAP evil.example 127.0.0.1"})
	s := serve(t, 3)
	s.ready(t)
	_, port, _ := net.SplitHostPort(s.host)
	other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		_, _ = w.Write([]byte("<title>other</title><body></body>"))
	}))
	defer other.Close()
	attempt := func(options string) string {
		return browsertest.Ask(b, chromedp.Evaluate[string](fmt.Sprintf(`fetch(%q, %s).then(r => r.text()).then(t => t || 'opaque', e => 'refused')`, s.base+"data", options), chromedp.EvalAwaitPromise))
	}
	bearer := fmt.Sprintf(`{headers: {Authorization: 'Bearer %s'}}`, s.token)
	b.Do(chromedp.Navigate(other.URL))
	for _, options := range []string{bearer, `{}`, `{mode: 'no-cors'}`, `{credentials: 'include'}`, `{method: 'POST', mode: 'no-cors', body: 'x'}`} {
		if got := attempt(options); got != "refused" && got != "opaque" {
			t.Errorf("another site gets with %s: %.100s", options, got)
		}
	}
	framed := fmt.Sprintf(`new Promise(done => { const f = document.createElement('iframe'); f.onload = () => { try { done(String(f.contentDocument && f.contentDocument.title)); } catch { done('foreign'); } }; f.src = %q; document.body.append(f); })`, s.base)
	if got := browsertest.Ask(b, chromedp.Evaluate[string](framed, chromedp.EvalAwaitPromise)); got == "bento" {
		t.Errorf("the page is in a frame of another site")
	}
	b.Do(chromedp.Navigate("http://evil.example:" + port + "/#" + s.token))
	if got := b.Eval(`document.body.textContent.trim()`); got != "this server has another name" {
		t.Errorf("a rebound name gets: %.200s", got)
	}
	b.Do(chromedp.Navigate(s.base))
	b.Until(`$('notice').textContent`, "This page has no valid token: open the address that bento ui has printed.")
	if got := b.Eval(`document.body.textContent.includes('dish-0')`); got != "false" {
		t.Error("a page without the token shows the workspace")
	}
	b.Do(chromedp.Navigate("about:blank"), chromedp.Navigate(s.base+"#"+strings.Repeat("A", len(s.token))))
	b.Until(`$('notice').hidden`, "false")
	if got := b.Eval(`document.body.textContent.includes('dish-0')`); got != "false" {
		t.Error("a page with a wrong token shows the workspace")
	}
}
