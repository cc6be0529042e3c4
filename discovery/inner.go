package discovery

import "github.com/bentobuild/bento/internal/dish"

// joinBuilds finds the dishes that are projects of one build: a manifest names one as a member of
// the other, directly or not.
func (f *finder) joinBuilds() {
	for _, d := range f.ws.Dishes {
		if d.Adapter == nil || !d.Adapter.Manifest().StopsAtBuild {
			continue
		}
		for _, path := range d.Members {
			if m := f.of(path, d.Family()); m != nil && m != d && m.Family() == d.Family() {
				join(d, m)
			}
		}
	}
	for _, d := range f.ws.Dishes {
		if d.Build != nil {
			d.Build = standsFor(d.Build)
		}
	}
}

// join merges the builds of a and b.
func join(a, b *dish.Dish) {
	for _, d := range []*dish.Dish{a, b} {
		if d.Build == nil {
			d.Build = d
		}
	}
	standsFor(b).Build = standsFor(a)
}

// standsFor returns the dish that represents the build of d.
func standsFor(d *dish.Dish) *dish.Dish {
	for d.Build != d {
		d.Build = d.Build.Build // shortens the way of the next call
		d = d.Build
	}
	return d
}
