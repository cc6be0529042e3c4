package page

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/bentobuild/bento/internal/browsertest"
)

// hostile is a name that would break out of the page if it could.
const hostile = `</script><img src=x onerror="document.title='broken'">`

// large returns a workspace of a thousand dishes, and one with a hostile name.
func large() Data {
	d := Data{Title: "bento: " + hostile, Run: &Run{Command: "bento ci " + hostile, StartedAt: "2026-01-02T03:04:05Z", DurationMS: 4000}}
	for i := range 1000 {
		dish := Dish{Name: fmt.Sprintf("dish-%04d", i), Path: fmt.Sprintf("packages/%04d", i), Language: "go", Links: []Link{}}
		for _, j := range []int{i / 2, i / 3} {
			if j < i {
				dish.Links = append(dish.Links, Link{Dish: fmt.Sprintf("dish-%04d", j), Kind: "inferred", Where: fmt.Sprintf("go.mod:%d", j)})
			}
		}
		dish.Tasks = []Task{{Name: "build", Run: "go build ./...", Status: "cache_miss", Why: "changed: main.go", Key: "abc", Inputs: []string{"main.go"}, InputCount: 1}}
		d.Dishes = append(d.Dishes, dish)
		d.Run.Tasks = append(d.Run.Tasks, RunTask{ID: dish.Name + ":build", Outcome: "built", StartMS: int64(i * 4), DurationMS: 40, Row: i % 10, Critical: i%100 == 0})
	}
	d.Dishes = append(d.Dishes, Dish{Name: hostile, Path: hostile, Links: []Link{{Dish: "dish-0999", Kind: "declared"}, {Dish: "gone"}}, Tasks: []Task{{Name: hostile, Run: hostile, Status: "cache_hit"}, {Name: "test", Status: "failed", Why: "exit status 3"}}})
	return d
}

// TestParts: every embedded file that pages use is there.
func TestParts(t *testing.T) {
	for _, name := range []string{"page.html", "page.css", "model.js", "list.js", "graph.js", "panel.js", "time.js", "main.js"} {
		if text(name) == "" {
			t.Errorf("%s is missing", name)
		}
	}
}

// opened opens the page of d in a browser.
func opened(t *testing.T, d Data) *browsertest.Browser {
	t.Helper()
	b := browsertest.Open(t, nil)
	name := filepath.Join(t.TempDir(), "graph.html")
	f, err := os.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	if err := Write(f, d); err != nil {
		t.Fatal(err)
	}
	f.Close()
	b.Do(chromedp.Navigate("file://" + name))
	return b
}

// TestPlace: no two dishes have the same place, and each is to the right of its dependencies. It works for cycles, and
// for a chain of all dishes, too.
func TestPlace(t *testing.T) {
	d := large()
	d.Dishes[0].Links = append(d.Dishes[0].Links, Link{Dish: "dish-0999"})
	b := opened(t, d)
	const wrong = `(() => {
		const all = [...points.values()], places = new Set(all.map(p => p.x + ' ' + p.y));
		const left = all.filter(p => p.name !== 'dish-0000' && p.name !== 'dish-0001' && [...p.on.keys()].some(q => q.name !== 'dish-0000' && q.x >= p.x));
		return [all.length, places.size, left.map(p => p.name).join()].join(' ');
	})()`
	b.Do(chromedp.Click(chromedp.CSS("#unfold")))
	if got := browsertest.Ask(b, chromedp.Evaluate[string](wrong)); got != "1001 1001 " {
		t.Errorf("dishes, places, and those that are not right of what they depend on: %q", got)
	}
	chain := `(() => {
		const d = {title: 'chain', dishes: []};
		for (let i = 0; i < 20000; i++) d.dishes.push({name: 'd' + i, path: 'p' + i % 3 + '/d' + i, links: i ? [{dish: 'd' + (i - 1), kind: 'declared'}] : [], tasks: []});
		take(d); layOut();
		const all = [...points.values()];
		return all.length + ' ' + all.every((p, i) => i === 0 || p.x > points.get('d' + (p.name.slice(1) - 1))?.x || p.name === 'd0');
	})()`
	if got := browsertest.Ask(b, chromedp.Evaluate[string](chain)); got != "20000 true" {
		t.Errorf("a chain of 20000 dishes: %s", got)
	}
}

// TestInBrowser opens the page of a thousand dishes, searches, selects and zooms.
func TestInBrowser(t *testing.T) {
	b := opened(t, large())
	css := func(sel string) chromedp.CSS { return chromedp.CSS(sel) }
	count, title := browsertest.Ask(b, chromedp.Text(css("#count"))), browsertest.Ask(b, chromedp.Title())
	bars := browsertest.Ask(b, chromedp.Evaluate[int](`document.querySelectorAll('#time rect').length`))
	transform := chromedp.Evaluate[string](`document.querySelector('#graph > g').getAttribute('transform')`)
	before := browsertest.Ask(b, transform)
	if n := browsertest.Ask(b, chromedp.Evaluate[int](`document.querySelectorAll('.node').length`)); n != 2 {
		t.Errorf("%d nodes before the directories are unfolded, want 2", n)
	}
	b.Do(chromedp.Click(css("#unfold")), chromedp.Click(css("#in")))
	after := browsertest.Ask(b, transform)
	b.Do(chromedp.SendKeys(css("#search"), "dish-077"))
	typed := browsertest.Ask(b, chromedp.Text(css("#count")))
	b.Do(chromedp.SendKeys(css("#search"), "7\r"))
	found, panel, why := browsertest.Ask(b, chromedp.Text(css("#count"))), browsertest.Ask(b, chromedp.Text(css("#panel h2"))), browsertest.Ask(b, chromedp.Text(css("#panel")))
	b.Do(chromedp.SendKeys(css("#search"), "\x1b"), chromedp.WaitNotVisible(css("#panel")))
	if count != "1001 dishes" || typed != "10 of 1001" || found != "1 of 1001" || panel != "dish-0777" || bars != 1000 {
		t.Errorf("dishes %q, while typing %q, found %q, selected %q, %d bars", count, typed, found, panel, bars)
	}
	for _, want := range []string{"dish-0388", "go.mod:388", "changed: main.go", "abc"} {
		if !strings.Contains(why, want) {
			t.Errorf("the panel lacks %q:\n%s", want, why)
		}
	}
	// The arrowheads point at the dependency, where the path of an edge starts.
	heads := browsertest.Ask(b, chromedp.Evaluate[string](`(() => { const e = document.querySelector('.edge'); return [getComputedStyle(e).markerStart, getComputedStyle(e).markerEnd, document.querySelectorAll('.edge').length - document.querySelectorAll('.edge[marker-start]').length].join(' '); })()`))
	if !strings.HasPrefix(heads, `url("#head") none 0`) {
		t.Errorf("arrowheads: %s", heads)
	}
	// A marker at the start points along the path, away from the dependency, unless it is reversed.
	places := browsertest.Ask(b, chromedp.Evaluate[string](`(() => {
		const inside = (p, name) => { const b = nodes.get(name).getBoundingClientRect(), m = scene.getScreenCTM(), q = new DOMPoint(p.x, p.y).matrixTransform(m); return q.x >= b.left - 2 && q.x <= b.right + 2 && q.y >= b.top - 2 && q.y <= b.bottom + 2; };
		const wrong = edges.filter(e => !inside(e.path.getPointAtLength(0), e.to) || !inside(e.path.getPointAtLength(e.path.getTotalLength()), e.from)).length;
		return edges.length > 0 && wrong + ' ' + document.getElementById('head').getAttribute('orient');
	})()`))
	if places != "0 auto-start-reverse" {
		t.Errorf("edges whose path does not start at the dependency, and the turn of arrowheads: %q", places)
	}
	legend := browsertest.Ask(b, chromedp.Text(css("#legend")))
	for _, want := range []string{"hit", "to run", "failed", "a depends on b", "dashed", "outlined"} {
		if !strings.Contains(legend, want) {
			t.Errorf("the legend lacks %q: %s", want, legend)
		}
	}
	if bad := browsertest.Ask(b, chromedp.Evaluate[int](`document.querySelectorAll('.node .bar.bad').length`)); bad != 1 {
		t.Errorf("%d bars of failed tasks, want 1", bad)
	}
	if title != "bento: "+hostile {
		t.Errorf("the title is %q", title)
	}
	if before == after {
		t.Errorf("zooming changes nothing: %s", before)
	}
	b.Quiet()
}
