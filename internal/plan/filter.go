package plan

import (
	"path"
	"slices"
	"strings"

	"github.com/bentobuild/bento/internal/dish"
	"github.com/bentobuild/bento/internal/tree/glob"
)

// filter selects the members that a command of a root's script hands on to: "pnpm --filter
// './packages/*' build". A filter that only the program can evaluate selects all of them.
type filter struct {
	only, not []string // names of packages, and directories that begin with "./"; an empty only selects all
}

// selectors returns the options of a program that select members.
func selectors(program string) []string {
	switch program {
	case "pnpm", "turbo", "bun":
		return []string{"-F", "--filter"}
	case "npm":
		return []string{"-w", "--workspace"}
	}
	return nil
}

// filterOf returns the filter of a command that hands on to members.
func filterOf(words []string) filter {
	program, args := words[0], words[1:]
	var f filter
	if names := named(args); program == "yarn" && len(names) > 1 && names[0] == "workspace" {
		return filter{only: names[1:2]}
	}
	for i, arg := range args {
		if arg == "--" {
			break
		}
		name, value, joined := strings.Cut(arg, "=")
		if !slices.Contains(selectors(program), name) {
			continue
		}
		if !joined && i+1 < len(args) {
			value = args[i+1]
		}
		excluded := strings.HasPrefix(value, "!")
		value = strings.TrimPrefix(value, "!")
		switch {
		case !isLiteral(value):
			return filter{}
		case excluded:
			f.not = append(f.not, value)
		default:
			f.only = append(f.only, value)
		}
	}
	return f
}

// isLiteral reports whether a selector is a name or directory, or a glob of them. Other selectors use
// changes or dependencies.
func isLiteral(selector string) bool {
	return selector != "" && !strings.Contains(selector, "...") && !strings.ContainsAny(selector, "[]{}^$`\\")
}

// selects reports whether the filter of a script of root selects a member.
func (f *filter) selects(root, member *dish.Dish) bool {
	matches := func(selector string) bool { return matchesMember(selector, root, member) }
	return (len(f.only) == 0 || slices.ContainsFunc(f.only, matches)) && !slices.ContainsFunc(f.not, matches)
}

// matchesMember reports whether a selector matches a member by its name or its directory. npm also
// takes a directory without "./". A directory matches all members below it.
func matchesMember(selector string, root, member *dish.Dish) bool {
	if matchesName(selector, member.Package) {
		return true
	}
	dir := path.Clean(selector)
	set, err := glob.Compile(root.Path, []string{dir, dir + "/**"})
	return err != nil || set.Match(member.Path)
}

// matchesName reports whether a selector matches the name of a package. "*" includes scopes.
func matchesName(selector, name string) bool {
	flat := strings.NewReplacer("/", ":")
	ok, _ := path.Match(flat.Replace(selector), flat.Replace(name))
	return ok
}

// handedTo returns the members that a script of a root hands on to.
func handedTo(root *dish.Dish, filters []filter, members []*dish.Dish) []*dish.Dish {
	return slices.DeleteFunc(slices.Clone(members), func(m *dish.Dish) bool {
		return !slices.ContainsFunc(filters, func(f filter) bool { return f.selects(root, m) })
	})
}
