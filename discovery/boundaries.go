package discovery

import (
	"fmt"
	"slices"
	"strings"

	"github.com/bentobuild/bento/diagnostics"
	"github.com/bentobuild/bento/internal/config"
	"github.com/bentobuild/bento/internal/dish"
	"github.com/bentobuild/bento/internal/tree"
)

// The rules of links that the configuration forbids.
const (
	ruleBoundary   = "boundary"
	ruleVisibility = "visibility"
	ruleUnknownTag = "unknown_tag"
)

// linkChecker checks links against [boundaries] and the visibility of dishes. A nil linkChecker allows all.
type linkChecker struct {
	rules   map[string]config.Boundary // by tag
	visible map[string]*tree.Set       // by path of a dish that limits who may link to it
	limits  map[string]diagnostics.Pos // by such a path: the place of its visibility
	refused map[[2]*dish.Dish]bool     // pairs that are reported
}

// newLinkChecker returns the checker of a workspace, nil if its configuration limits no link.
func newLinkChecker(rules []config.Boundary, dishes []*dish.Dish) *linkChecker {
	c := &linkChecker{
		rules: make(map[string]config.Boundary, len(rules)), visible: make(map[string]*tree.Set),
		limits: make(map[string]diagnostics.Pos), refused: make(map[[2]*dish.Dish]bool),
	}
	for _, r := range rules {
		c.rules[r.Tag.Text] = r
	}
	for _, d := range dishes {
		if d.Config != nil && d.Config.Visibility != nil && c.visible[d.Path] == nil {
			c.limit(d, *d.Config.Visibility)
		}
	}
	if len(c.rules)+len(c.visible) == 0 {
		return nil
	}
	return c
}

// limit sets the dishes that may link to d.
func (c *linkChecker) limit(d *dish.Dish, globs []dish.Glob) {
	texts, at := []string{}, d.Config.Pos
	for i, g := range globs {
		if i == 0 {
			at = g.Pos
		}
		if g.Text == "" {
			return // config has reported it
		}
		texts = append(texts, g.Text)
	}
	if set, err := tree.CompileSet(".", texts); err == nil { // else config has reported it
		c.visible[d.Path], c.limits[d.Path] = set, at
	}
}

// checkLinks reports the links that dish.toml and the manifest of a dish make and that the configuration forbids.
// Links that other dishes hand on are not among them yet.
func (f *finder) checkLinks() {
	f.borders = newLinkChecker(f.Config.Boundaries, f.ws.Dishes)
	if f.borders == nil {
		return
	}
	f.add(unknownTags(f.Config.Boundaries, f.ws.Dishes)...)
	for _, d := range f.ws.Dishes {
		for i := range d.Links {
			f.add(f.borders.check(d, d.Links[i].To, d.Links[i].Pos)...)
		}
	}
}

// checkEmbeds reports files of other dishes that the sources of a dish take in or import against the configuration.
func (f *finder) checkEmbeds() {
	if f.borders == nil {
		return
	}
	for _, d := range f.ws.Dishes {
		for _, e := range slices.Concat(d.Embeds, d.Needs) {
			if e.Owner != nil && !encloses(e.Owner, d) {
				f.add(f.borders.check(d, e.Owner, e.Pos)...)
			}
		}
	}
}

// check returns the problems of a link between two dishes that a line of a file makes. It returns those of a pair
// once. The dishes of one directory may always link to each other.
func (c *linkChecker) check(from, to *dish.Dish, at diagnostics.Pos) (problems []diagnostics.Diagnostic) {
	pair := [2]*dish.Dish{from, to}
	if from.Path == to.Path || c.refused[pair] {
		return nil
	}
	for _, tag := range from.Tags() {
		rule, limited := c.rules[tag]
		if limited && !slices.ContainsFunc(rule.May, func(may dish.Text) bool { return to.HasTag(may.Text) }) {
			problems = append(problems, at.Error(ruleBoundary, "dish %q with the tag %q links to %q, %s, and boundaries.%s at %s allows %s",
				from.Name, tag, to.Name, tagged(to), tag, rule.Tag.Pos, allowed(rule.May)).
				WithHint("remove the link, or change the tags of one of the dishes or the rule"))
		}
	}
	if set := c.visible[to.Path]; set != nil && !set.Match(from.Path) {
		hint := fmt.Sprintf("remove the link, or add %q to the visibility", "//"+from.Path)
		if from.Path == "." { // "//" and all that matches the root matches every dish
			hint = "remove the link, or the visibility"
		}
		problems = append(problems, at.Error(ruleVisibility, "dish %q at %q links to %q, whose visibility at %s does not have it",
			from.Name, from.Path, to.Name, c.limits[to.Path]).WithHint(hint))
	}
	c.refused[pair] = len(problems) > 0
	return problems
}

// tagged lists the tags of a dish for a sentence.
func tagged(d *dish.Dish) string {
	switch tags := d.Tags(); len(tags) {
	case 0:
		return "which has no tags"
	case 1:
		return fmt.Sprintf("which has the tag %q", tags[0])
	default:
		return "which has the tags " + strings.Join(tags, ", ")
	}
}

// allowed lists the tags of a rule for a sentence.
func allowed(may []dish.Text) string {
	if len(may) == 0 {
		return "no links"
	}
	tags := make([]string, len(may))
	for i, t := range may {
		tags[i] = fmt.Sprintf("%q", t.Text)
	}
	return "only dishes with " + strings.Join(tags, " or ")
}

// unknownTags warns of tags in rules that no dish has.
func unknownTags(rules []config.Boundary, dishes []*dish.Dish) (problems []diagnostics.Diagnostic) {
	known := make(map[string]bool)
	var names []string
	for _, d := range dishes {
		for _, tag := range d.Tags() {
			if !known[tag] {
				known[tag] = true
				names = append(names, tag)
			}
		}
	}
	for _, r := range rules {
		for _, t := range append([]dish.Text{r.Tag}, r.May...) {
			if !known[t.Text] {
				problems = append(problems, t.Pos.Warning(ruleUnknownTag, "boundaries.%s: no dish has the tag %q", r.Tag.Text, t.Text).
					WithHint(diagnostics.Suggest(t.Text, names)))
			}
		}
	}
	return problems
}
