package node

import (
	"slices"
	"strings"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/adapters/node/project"
	"github.com/bentobuild/bento/adapters/node/settings"
	"github.com/bentobuild/bento/adapters/snapshot"
	"github.com/bentobuild/bento/internal/jsonfile"
)

// maxCopied is how many packages an install may copy from directories.
const maxCopied = 2_000

// copies finds the packages of the repository that an install copies into node_modules.
type copies struct {
	a       *Adapter
	files   *snapshot.Files
	plain   bool // a directory without a scheme is copied
	all     bool // all members are
	members []string
	found   []adapters.Copied
	seen    map[string]bool
}

// copied returns what the install of the scope in dir copies out of the repository, and the directories
// of packages whose scripts it runs.
func (a *Adapter) copied(f *snapshot.Files, dir string, members []string) []adapters.Copied {
	npm := settings.ReadNPM(f, dir)
	c := &copies{a: a, files: f, members: members, seen: make(map[string]bool)}
	switch a.manager {
	case project.NPM:
		on := npm.InstallLinks || a.env.Get("npm_config_install_links") == "true" || a.env.Get("NPM_CONFIG_INSTALL_LINKS") == "true"
		if !on {
			return c.scripts(dir)
		}
		c.plain = true
	case project.PNPM:
		pnpm, _ := settings.ReadPNPM(f, dir)
		c.all = npm.Inject || pnpm != nil && pnpm.Inject
	default:
		c.plain = true
	}
	for _, at := range append([]string{dir}, members...) {
		c.follow(at)
	}
	return append(c.found, c.scripts(dir)...)
}

// follow adds the packages that the one in dir names and an install copies, and those that these name.
func (c *copies) follow(dir string) {
	m, err := c.a.Read(c.files, dir)
	if err != nil || m == nil {
		return
	}
	for _, d := range m.Dependencies {
		target := ""
		if strings.HasPrefix(d.Value, "file:") || c.plain && !strings.HasPrefix(d.Value, "link:") && !strings.HasPrefix(d.Value, "portal:") {
			target = fileTarget(dir, d.Value)
		}
		if c.all || slices.Contains(m.Injected, d.Name) {
			target = c.member(d.Name, target)
		}
		if target == "" || isArchive(target) || c.seen[target] || len(c.found) >= maxCopied || slices.Contains(c.members, target) && c.a.manager != project.PNPM {
			continue
		}
		c.seen[target] = true
		c.found = append(c.found, adapters.Copied{Dir: target, Ignored: true})
		c.follow(target)
	}
}

// member returns the directory of the member with a name, or else the other directory.
func (c *copies) member(name, other string) string {
	for _, dir := range c.members {
		if m, err := c.a.Read(c.files, dir); err == nil && m != nil && m.Name == name {
			return dir
		}
	}
	return other
}

// scripts returns the packages of the scope whose own scripts an install runs.
func (c *copies) scripts(dir string) []adapters.Copied {
	var list []adapters.Copied
	for _, at := range append([]string{dir}, c.members...) {
		m, err := c.a.Read(c.files, at)
		if err != nil || m == nil || !slices.ContainsFunc(m.Scripts, readsSources) {
			continue
		}
		s := adapters.Copied{Dir: at, Scripts: true}
		for _, other := range c.members {
			if other != at && adapters.Within(at, other) {
				s.Except = append(s.Except, other)
			}
		}
		list = append(list, s)
	}
	return list
}

// hookTools are programs that an install starts and that read no sources. They set up the hooks of git, check the
// package manager, or apply patches, which the install counts anyway.
var hookTools = [...]string{
	"husky", "husky install", "lefthook install", "simple-git-hooks", "patch-package", "only-allow npm", "only-allow pnpm",
	"only-allow yarn", "only-allow bun", "npx only-allow npm", "npx only-allow pnpm", "npx only-allow yarn", "npx only-allow bun",
	"npx -y only-allow pnpm", "is-ci", "exit 0", "true", "echo", ":",
}

// readsSources reports whether a script is one that an install runs and may read the sources.
func readsSources(s jsonfile.Entry) bool {
	if !slices.Contains([]string{"preinstall", "install", "postinstall", "prepare"}, s.Name) {
		return false
	}
	split := func(r rune) bool { return r == '&' || r == '|' || r == ';' }
	return slices.ContainsFunc(strings.FieldsFunc(s.Value, split), func(command string) bool {
		return !slices.Contains(hookTools[:], strings.TrimSpace(command))
	})
}
