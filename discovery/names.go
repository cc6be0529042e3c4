package discovery

import (
	"path"
	"strconv"
	"strings"

	"github.com/bentobuild/bento/internal/config"
	"github.com/bentobuild/bento/internal/dish"
)

// RuleDishName is the rule of a directory whose name is not valid for a dish.
const RuleDishName = "dish_name"

// nameDishes sets the name of each dish: the declared one, else that of its directory. If another dish has
// that name, it is the path with "-" for "/", and if that is taken too, the path. The further dishes of
// one directory add their language to the name of the first.
func (f *finder) nameDishes() {
	count, used := make(map[string]int, len(f.ws.Dishes)), make(map[string]bool, len(f.ws.Dishes))
	var undeclared []*dish.Dish
	for _, d := range f.ws.Dishes {
		switch name := declaredName(d); {
		case name != "":
			d.Name, used[name] = name, true
		case d.Beside == "":
			undeclared = append(undeclared, d)
			d.Name = dirName(d.Path)
		}
		count[d.Name]++
	}
	for _, d := range undeclared {
		if count[d.Name] > 1 && d.Path != "." {
			d.Name = strings.ReplaceAll(d.Path, "/", "-")
		}
		d.Name = free(used, d.Name, d.Path)
	}
	for _, d := range f.ws.Dishes {
		if d.Beside != "" {
			d.Name = free(used, f.ws.First(d.Path).Name+"-"+d.Beside, d.Path+"-"+d.Beside)
		}
	}
	f.checkNames()
}

// free returns the first of these that is not taken, and takes it: name, path, path with a number.
func free(used map[string]bool, name, path string) string {
	if used[name] {
		name = path
	}
	for n := 2; used[name]; n++ {
		name = path + "-" + strconv.Itoa(n)
	}
	used[name] = true
	return name
}

func declaredName(d *dish.Dish) string {
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

// checkNames reports duplicate declared names, and names of directories that cannot be names.
func (f *finder) checkNames() {
	first := make(map[string]*dish.Dish, len(f.ws.Dishes))
	for _, d := range f.ws.Dishes {
		switch other := first[d.Name]; {
		case declaredName(d) == "":
			if why := config.BadName(dirName(d.Path)); why != "" && d.Beside == "" {
				f.askForName(d, "the directory's name cannot be the name of a dish: "+why)
			}
		case other == nil:
			first[d.Name] = d
		default:
			f.add(d.Config.Name.Pos.Error(config.RuleDuplicate, "two dishes are named %q, the other at %s", d.Name, other.Config.Name.Pos))
		}
	}
}

func (f *finder) askForName(d *dish.Dish, why string) {
	f.add(placeOf(d).Error(RuleDishName, "%s", why).WithHint(`write name = "…" in a ` + dish.File + ` there, or leave the directory out with exclude`))
}
