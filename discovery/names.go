package discovery

import (
	"path"
	"strings"

	"github.com/bentobuild/bento/internal/config"
)

// RuleDishName is the rule of a directory whose name cannot be a dish name.
const RuleDishName = "dish_name"

// nameDishes sets the name of each dish: the declared one, else that of its directory, else, where
// another dish has that name, its path.
func (f *finder) nameDishes() {
	taken := make(map[string]int)
	for _, d := range f.ws.Dishes {
		d.Name = declaredName(d)
		if d.Name == "" {
			d.Name = dirName(d.Path)
		}
		taken[d.Name]++
	}
	for _, d := range f.ws.Dishes {
		if declaredName(d) == "" && taken[d.Name] > 1 && d.Path != "." {
			d.Name = strings.ReplaceAll(d.Path, "/", "-")
		}
	}
	f.checkNames()
}

func declaredName(d *Dish) string {
	if d.Config == nil {
		return ""
	}
	return d.Config.Name.Text
}

func dirName(p string) string {
	if p == "." {
		return "root"
	}
	return path.Base(p)
}

// checkNames reports duplicate and invalid names.
func (f *finder) checkNames() {
	first := make(map[string]*Dish)
	for _, d := range f.ws.Dishes {
		if declaredName(d) == "" {
			if why := config.BadName(d.Name); why != "" {
				f.askForName(d, "the directory's name cannot be the name of a dish: "+why)
			}
		}
		other := first[d.Name]
		if other == nil {
			first[d.Name] = d
			continue
		}
		if declaredName(d) != "" && declaredName(other) == "" {
			d, other = other, d // the dish that declares the name keeps it
		}
		f.sameName(d, other)
	}
}

// sameName reports that d has the name of other.
func (f *finder) sameName(d, other *Dish) {
	where := other.place()
	if other.Config != nil && other.Config.Name.Text != "" {
		where = other.Config.Name.Pos
	}
	if declaredName(d) != "" {
		f.add(d.Config.Name.Pos.Error(config.RuleDuplicate, "two dishes are named %q, the other at %s", d.Name, where))
		return
	}
	p := d.place().Error(config.RuleDuplicate, "two dishes are named %q, the other at %s", d.Name, where)
	p.Hint = "name one of them in its " + config.DishFile
	f.add(p)
}

func (f *finder) askForName(d *Dish, why string) {
	p := d.place().Error(RuleDishName, "%s", why)
	p.Hint = `write name = "…" in a ` + config.DishFile + ` there, or leave the directory out with exclude`
	f.add(p)
}
