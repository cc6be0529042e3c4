package tools_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/adapters/adaptertest"
	"github.com/bentobuild/bento/adapters/node/project"
	"github.com/bentobuild/bento/adapters/node/tools"
	"github.com/bentobuild/bento/adapters/snapshot"
	"github.com/bentobuild/bento/internal/clone"
	"github.com/bentobuild/bento/internal/probe"
)

// TestInstalled: the version of a manager is that of its own package.json only where the manager
// certainly prints that; everywhere else the program answers, which says 9.9.9 here.
func TestInstalled(t *testing.T) {
	const npm, yarn = "lib/node_modules/npm/", "lib/node_modules/@yarnpkg/cli-dist/"
	const npmJSON = `{"name": "npm", "version": "10.1.0", "engines": {"node": ">=18"}}`
	const yarnJSON = `{"name": "@yarnpkg/cli-dist", "version": "4.2.0", "engines": {"node": ">=18.12.0"}}`
	for name, c := range map[string]struct {
		manager project.Manager
		program string // that the link in PATH leads to
		json    string // the package.json of its package
		env     string
		extra   string // a file of the user
		want    string
	}{
		"npm":                 {project.NPM, npm + "bin/npm-cli.js", npmJSON, "", "", "10.1.0"},
		"of Node.js too old":  {project.NPM, npm + "bin/npm-cli.js", `{"name": "npm", "version": "10.1.0", "engines": {"node": ">=21"}}`, "", "", "9.9.9"},
		"no engines":          {project.NPM, npm + "bin/npm-cli.js", `{"name": "npm", "version": "10.1.0"}`, "", "", "9.9.9"},
		"another package":     {project.NPM, npm + "bin/npm-cli.js", `{"name": "mpn", "version": "10.1.0", "engines": {"node": ">=18"}}`, "", "", "9.9.9"},
		"no version":          {project.NPM, npm + "bin/npm-cli.js", `{"name": "npm", "engines": {"node": ">=18"}}`, "", "", "9.9.9"},
		"no JSON":             {project.NPM, npm + "bin/npm-cli.js", `nonsense`, "", "", "9.9.9"},
		"another program":     {project.NPM, npm + "bin/npm", npmJSON, "", "", "9.9.9"},
		"settings of npm":     {project.NPM, npm + "bin/npm-cli.js", npmJSON, "NPM_CONFIG_X=1", "", "9.9.9"},
		"options of Node.js":  {project.NPM, npm + "bin/npm-cli.js", npmJSON, "NODE_OPTIONS=--no-warnings", "", "9.9.9"},
		"yarn":                {project.Yarn, yarn + "bin/yarn.js", yarnJSON, "", "", "4.2.0"},
		"yarn 1":              {project.Yarn, "lib/node_modules/yarn/bin/yarn.js", `{"name": "yarn", "version": "1.22.0", "engines": {"node": ">=4"}}`, "", "", "9.9.9"},
		"the user's own yarn": {project.Yarn, yarn + "bin/yarn.js", yarnJSON, "", ".yarnrc.yml", "9.9.9"},
		"settings of yarn":    {project.Yarn, yarn + "bin/yarn.js", yarnJSON, "YARN_X=1", "", "9.9.9"},
	} {
		t.Run(name, func(t *testing.T) {
			home := t.TempDir()
			executable(t, home+"/bin/node", "v20.0.0")
			executable(t, home+"/"+c.program, "9.9.9")
			adaptertest.Write(t, filepath.Join(home, filepath.Dir(filepath.Dir(c.program)), "package.json"), c.json)
			if err := os.Symlink("../"+c.program, home+"/bin/"+string(c.manager)); err != nil {
				t.Fatal(err)
			}
			if c.extra != "" {
				adaptertest.Write(t, home+"/"+c.extra, "")
			}
			var env []string
			if c.env != "" {
				env = append(env, c.env)
			}
			want := "node=v20.0.0 " + string(c.manager) + "=" + c.want
			if got := ask(t, c.manager, home, `{}`, false, env...); got != want {
				t.Errorf("got %s, want %s", got, want)
			}
		})
	}
}

// TestInstalledSaysTheSame: the version that bento reads is the one that the real tools print.
func TestInstalledSaysTheSame(t *testing.T) {
	adaptertest.Need(t, "node", "npm", "yarn")
	home := t.TempDir()
	env := adapters.NewEnviron([]string{"HOME=" + home, "PATH=" + os.Getenv("PATH")})
	root := adaptertest.Project(t, "-- package.json --\n{}\n")
	for _, manager := range []project.Manager{project.NPM, project.Yarn} {
		o := snapshot.Options{Env: env, Clone: clone.At(root)}
		shelf := project.NewShelf(o, func(string) bool { return false })
		all := tools.Tools{Shelf: shelf, Manager: manager, Env: env, Asker: probe.New(o.Source(), env)}
		got, err := all.Fingerprint(t.Context(), probe.At{Dir: root})
		if err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command(string(manager), "--version")
		cmd.Dir, cmd.Env = "/", env
		out, err := cmd.Output()
		if want := string(manager) + "=" + strings.TrimSpace(string(out)); err != nil || !strings.HasSuffix(got, " "+want) {
			t.Errorf("got %s, want %s (%v)", got, want, err)
		}
	}
}
