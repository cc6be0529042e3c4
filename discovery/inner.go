package discovery

// Counts reports whether the files of inner, a dish inside d, are among the default inputs of d:
// they are unless the tools of d stop there.
func (d *Dish) Counts(inner *Dish) bool {
	if d.Adapter == nil || inner.Adapter == nil || d.family() != inner.family() {
		return true
	}
	m := d.Adapter.Manifest()
	return !m.StopsAtFamily && (!m.StopsAtBuild || d.build == nil || d.build != inner.build)
}

// joinBuilds finds the dishes that are projects of one build: a manifest names one as a member of
// the other, directly or not.
func (f *finder) joinBuilds() {
	for _, d := range f.ws.Dishes {
		if d.Adapter == nil || !d.Adapter.Manifest().StopsAtBuild {
			continue
		}
		for _, path := range d.memberPaths {
			if m := f.ws.of(path, d.family()); m != nil && m != d && m.family() == d.family() {
				join(d, m)
			}
		}
	}
	for _, d := range f.ws.Dishes {
		if d.build != nil {
			d.build = d.build.standsFor()
		}
	}
}

// join merges the builds of a and b.
func join(a, b *Dish) {
	for _, d := range []*Dish{a, b} {
		if d.build == nil {
			d.build = d
		}
	}
	b.standsFor().build = a.standsFor()
}

// standsFor returns the dish that represents the build of d.
func (d *Dish) standsFor() *Dish {
	for d.build != d {
		d.build = d.build.build // shortens the way of the next call
		d = d.build
	}
	return d
}
