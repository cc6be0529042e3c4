package page

import (
	"cmp"
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"

	"github.com/bentobuild/bento/internal/browsertest"
)

// wide returns a workspace of ten thousand tasks in 50 directories, of which some do not hit.
func wide() Data {
	d := Data{Title: "bento: wide", Run: &Run{Command: "bento ci", StartedAt: "2026-01-02T03:04:05Z", DurationMS: 60_000}}
	for i := range 2500 {
		dish := Dish{Name: fmt.Sprintf("dish-%04d", i), Path: fmt.Sprintf("team-%02d/dish-%04d", i/50, i), Language: "go", Links: []Link{}}
		for j, name := range []string{"build", "check", "lint", "test"} {
			status := "cache_hit"
			if i >= 2450 {
				status = "cache_miss"
			}
			if i == 2499 && name == "test" {
				status = "failed"
			}
			dish.Tasks = append(dish.Tasks, Task{Name: name, Run: "go " + name, Status: status})
			d.Run.Tasks = append(d.Run.Tasks, RunTask{ID: dish.Name + ":" + name, Outcome: "built", StartMS: int64(4*i+j) * 6, DurationMS: 24, Row: j})
		}
		d.Dishes = append(d.Dishes, dish)
	}
	return d
}

// rows lists the texts of the visible rows of the list.
const rowTexts = `[...document.querySelectorAll('.row')].map(r => r.querySelector('.name').textContent).join(' ')`

// TestList: a page of ten thousand tasks has few rows and bars in the document; directories without work are folded; a
// search and a filter find dishes in them.
func TestList(t *testing.T) {
	b := opened(t, wide())
	b.Do(chromedp.KeyEvent("g"), chromedp.WaitVisible(chromedp.CSS("#list")))
	number := func(of string) int {
		t.Helper()
		return browsertest.Ask(b, chromedp.Evaluate[int]("document.querySelectorAll('"+of+"').length"))
	}
	if groups, dishes := browsertest.Ask(b, chromedp.Evaluate[int](`rows.filter(r => !r.dish).length`)), browsertest.Ask(b, chromedp.Evaluate[int](`rows.filter(r => r.dish).length`)); groups != 50 || dishes != 50 {
		t.Errorf("%d groups and %d dishes are listed, want 50 and 50: all but the last directory are folded", groups, dishes)
	}
	b.Do(chromedp.Evaluate[chromedp.Void](`folded.clear(); listRows(); drawList()`))
	if all, drawn := browsertest.Ask(b, chromedp.Evaluate[int](`rows.length`)), number(".row"); all != 2550 || drawn > 60 {
		t.Errorf("%d rows, of which %d are in the document, want 2550 and at most 60", all, drawn)
	}
	if bars := number("#time rect"); bars > 3000 {
		t.Errorf("%d bars in the timeline of 10000 tasks", bars)
	}
	b.Do(chromedp.Evaluate[chromedp.Void](`list.scrollTop = list.scrollHeight; drawList()`))
	if seen := browsertest.Ask(b, chromedp.Evaluate[string](rowTexts)); !strings.HasSuffix(seen, "dish-2499") {
		t.Errorf("the last rows: %s", seen)
	}
	b.Do(chromedp.SendKeys(chromedp.CSS("#search"), "TEAM-07 lint"))
	if got := browsertest.Ask(b, chromedp.Text(chromedp.CSS("#count"))); got != "50 of 2500" {
		t.Errorf("a search of two words: %s", got)
	}
	b.Do(chromedp.KeyEvent("\x1b"), chromedp.Click(chromedp.CSS("#filters .bad")))
	if got := browsertest.Ask(b, chromedp.Evaluate[string](rowTexts)); got != "▾ team-49/ dish-2499" {
		t.Errorf("the dishes with failed tasks: %s", got)
	}
	b.Quiet()
}

// TestKeys: the whole page works without a mouse.
func TestKeys(t *testing.T) {
	b := opened(t, wide())
	key := func(keys ...string) {
		t.Helper()
		for _, k := range keys {
			b.Do(chromedp.KeyEvent(k))
		}
	}
	is := func(want, expression string) {
		t.Helper()
		if got := browsertest.Ask(b, chromedp.Evaluate[string]("String("+expression+")")); got != want {
			t.Errorf("%s is %q, want %q", expression, got, want)
		}
	}
	const down, up, left, right = "\u0301", "\u0304", "\u0302", "\u0303" // chromedp's names of the arrow keys
	const current = `document.getElementById(list.getAttribute('aria-activedescendant')).querySelector('.name').textContent`
	key("g", "j")
	is("list", "document.activeElement.id")
	is("▸ team-01/", current)
	key(right)
	is("▾ team-01/", current)
	is("true", `document.getElementById(list.getAttribute('aria-activedescendant')).getAttribute('aria-expanded')`)
	key(down, down)
	is("dish-0051", current)
	key("\r")
	is("dish-0051", `document.querySelector('#panel h2').textContent`)
	is("H2", "document.activeElement.tagName")
	key("\x1b")
	is("true", "$('panel').hidden")
	is("list", "document.activeElement.id")
	key(left)
	is("▾ team-01/", current)
	key(left, up)
	is("▸ team-00/", current)
	slash := input.DispatchKeyEventParams{Type: input.DispatchKeyEventTypeKeyDown, Key: "/", Code: "Slash", Text: "/"} // with its text in one event, as from a keyboard
	if _, err := chromedp.Call(b.Context(), input.DispatchKeyEvent, slash); err != nil {
		t.Fatal(err)
	}
	is("search", "document.activeElement.id")
	key("g", "t") // letters in the search are a search
	is("gt", "search.value")
	is("false", "view.graph")
	key("\x1b")
	is("", "search.value")
	key("0", "0", "7", "7", "\r")
	is("dish-0077", `document.querySelector('#panel h2').textContent`)
	key("\x1b", "\x1b")
	is("", "search.value")
	key(down, "?")
	is("true", "$('keys').open")
	key("\x1b")
	is("false", "$('keys').open")
	shown := map[string]string{
		"ArrowDown": "↓", "ArrowUp": "↑", "ArrowLeft": "←", "ArrowRight": "→", "PageDown": "Page Down", "PageUp": "Page Up", "Home": "Home", "End": "End", "Enter": "Enter", " ": "Enter",
	}
	for _, name := range strings.Split(b.Eval(`Object.keys({...listKeys, ...pageKeys}).join('|')`), "|") {
		if text := cmp.Or(shown[name], "`"+name+"`"); !strings.Contains(documented(t), text) {
			t.Errorf("docs/commands.md lacks the key %s", text)
		}
	}
	// Every control has a name for those who do not see it, and colour is never alone.
	is("", `[...document.querySelectorAll('button, input, [role=tree], svg[role]')].filter(e => !(e.getAttribute('aria-label') || e.textContent.trim())).map(e => e.outerHTML).join()`)
	is("true", `[...document.querySelectorAll('.row .tasks span')].every(e => /^[▶✗●✓=–+]/.test(e.textContent))`)
	b.Quiet()
}

// TestColours: the page has the colours of the system until the user chooses others, and text has contrast in both.
func TestColours(t *testing.T) {
	b := opened(t, wide())
	const ground = `getComputedStyle(document.body).backgroundColor`
	const contrast = `(() => {
		const light = c => { const [r, g, b] = c.match(/\d+/g).map(v => (v /= 255) <= .03928 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4); return .2126 * r + .7152 * g + .0722 * b; };
		const of = (a, b) => { const [x, y] = [light(a), light(b)].sort((p, q) => q - p); return (x + .05) / (y + .05); };
		const low = [];
		for (const name of ['fg', 'dim', 'hit', 'run', 'ok', 'bad', 'now', 'mark']) for (const on of ['bg', 'panel']) {
			const e = el('span'); document.body.append(e);
			e.style.color = 'var(--' + name + ')'; e.style.backgroundColor = 'var(--' + on + ')';
			const c = getComputedStyle(e), ratio = of(c.color, c.backgroundColor); e.remove();
			if (ratio < 4.5) low.push(name + ' on ' + on + ': ' + ratio.toFixed(2));
		}
		return low.join();
	})()`
	scheme := func(value string) {
		features := []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: value}}
		if _, err := chromedp.Call(b.Context(), emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: features}); err != nil {
			t.Fatal(err)
		}
	}
	check := func(what, want string) {
		t.Helper()
		if got := browsertest.Ask(b, chromedp.Evaluate[string](ground)); got != want {
			t.Errorf("%s: the ground is %s, want %s", what, got, want)
		}
		if low := browsertest.Ask(b, chromedp.Evaluate[string](contrast)); low != "" {
			t.Errorf("%s: too little contrast: %s", what, low)
		}
	}
	const dark, light = "rgb(13, 17, 23)", "rgb(255, 255, 255)"
	scheme("dark")
	check("a dark system", dark)
	scheme("light")
	check("a light system", light)
	b.Do(chromedp.KeyEvent("t"))
	check("dark by choice", dark)
	b.Do(chromedp.Reload())
	check("dark by choice, loaded again", dark)
	scheme("dark")
	b.Do(chromedp.Click(chromedp.CSS("#theme")))
	check("light by choice", light)
	b.Quiet()
}
