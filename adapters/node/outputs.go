package node

import (
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bentobuild/bento/internal/jsonfile"
	"github.com/bentobuild/bento/internal/pattern"
)

// usualOutputs returns the directories in which bundlers and frameworks build, without their caches. A
// script does not say which tool it calls in the end, so they are outputs of every build.
func usualOutputs() []string {
	return []string{
		"dist/**", "build/**", "out/**", "*.tsbuildinfo", ".next/**", "!.next/cache/**", ".nuxt/**", ".output/**", ".svelte-kit/**",
		"storybook-static/**",
	}
}

// frameworkOutputs returns the directories whose names only mean outputs to a framework.
func frameworkOutputs() map[string][]string {
	return map[string][]string{
		"gatsby":                 {"public/**"},
		"@11ty/eleventy":         {"_site/**"},
		"@docusaurus/core":       {".docusaurus/**"},
		"vitepress":              {".vitepress/dist/**", "docs/.vitepress/dist/**"},
		"vuepress":               {".vuepress/dist/**", "docs/.vuepress/dist/**"},
		"vinxi":                  {".vinxi/**", "!.vinxi/cache/**"},
		"wxt":                    {".wxt/**"},
		"@remix-run/dev":         {"public/build/**"},
		"expo":                   {"web-build/**"},
		"@stencil/core":          {"www/**", "loader/**"},
		"@opennextjs/cloudflare": {".open-next/**"},
		"@sveltejs/package":      {"package/**"},
	}
}

// outputs returns the possible outputs of a build: the usual directories, those of the frameworks among
// the dependencies, and those that configurations and the scripts name. A path outside of the package is
// absolute.
func (r *recipes) outputs() []string {
	out := usualOutputs()
	add := func(globs ...string) {
		for _, g := range globs {
			if !slices.Contains(out, g) {
				out = append(out, g)
			}
		}
	}
	for _, d := range r.Dependencies {
		add(frameworkOutputs()[d.Name]...)
	}
	add(r.ts.Outputs...)
	add(r.configured()...)
	for _, path := range flagged(r.bodies("build")) {
		add(r.outputAt(r.Dir, path)...)
	}
	return out
}

// outputAt returns the glob of the output that a tool calls path, relative to base: an absolute path of
// the file or directory outside of the package. It returns none for a path that is no output: the package,
// a directory around it, or its sources.
func (r *recipes) outputAt(base, path string) []string {
	if path == "" || strings.ContainsAny(path, "*?[]{}\\!$`<>|\x00") || len(path) > maxOutput {
		return nil
	}
	abs := resolve(base, path)
	rel, err := filepath.Rel(r.Dir, abs)
	if err != nil || rel == "." || strings.HasPrefix(r.Dir+"/", abs+"/") {
		return nil
	}
	if filepath.IsLocal(rel) {
		rel = filepath.ToSlash(rel)
		if first, _, _ := strings.Cut(rel, "/"); rel == "src" || first == "node_modules" {
			return nil
		}
		return []string{rel + "/**"} // matches a file of that name too
	}
	if strings.Contains(abs+"/", "/node_modules/") {
		return nil
	}
	return []string{abs + "/**"}
}

// maxOutput bounds the length of an output's path.
const maxOutput = 1024

var (
	bundlerConfig = pattern.New(`^[\w.-]+\.config\.[cm]?[jt]s$`)
	otherConfig   = pattern.New(`^(?:jest|vitest|eslint|prettier|postcss|tailwind|playwright|cypress|commitlint|lint-staged|babel|stylelint)\.`)
	// outputSetting is a setting of a bundler that names its output: outDir: "../dist",
	// outputDir: path.resolve(__dirname, "..", "dist"). The groups are a path and further parts.
	outputSetting = pattern.New(`(?m)^[^\n/*]*?\b(?:outDir|outdir|outputDir|outputPath|distDir|output_dir)["']?\s*[:=]\s*` +
		"(?:(?:[\\w.]+\\(\\s*)?(?:__dirname|import\\.meta\\.dirname|process\\.cwd\\(\\))\\s*,\\s*)?[\"'`]([^\"'`\\n$]+)[\"'`]" +
		`((?:\s*,\s*["'][^"'\n$]+["'])*)`)
	rootSetting = pattern.New("(?m)^\\s*root\\s*:\\s*(?:[\\w.]+\\(\\s*(?:__dirname|import\\.meta\\.dirname)\\s*,\\s*)?[\"'`]([^\"'`\\n$]+)[\"'`]")
)

// configured returns the outputs that the configurations of bundlers, Angular and Nx name.
func (r *recipes) configured() []string {
	var out []string
	for _, e := range r.files.List(r.Dir) {
		name := e.Name()
		switch {
		case e.Type()&fs.ModeType != 0:
		case name == "angular.json", name == "project.json":
			out = append(out, r.nxOutputs(name)...)
		case bundlerConfig.MatchString(name) && !otherConfig.MatchString(name):
			out = append(out, r.bundled(name)...)
		}
	}
	return append(out, r.expanded(r.BuildOutputs)...)
}

// bundled returns the outputs that the configuration of a bundler names.
func (r *recipes) bundled(name string) (out []string) {
	data, err := r.files.ReadIfExists(name)
	if data == nil || err != nil {
		return nil // the bundler reports it
	}
	text, bases := string(data), []string{r.Dir}
	if m := rootSetting.FindStringSubmatch(text); m != nil { // outDir starts there, unless it was resolved before
		bases = append(bases, resolve(r.Dir, m[1]))
	}
	for _, m := range outputSetting.FindAllStringSubmatch(text, maxSettings) {
		path := m[1]
		if m[2] != "" {
			path = joined(m[1], strings.TrimLeft(m[2], " ,\n\t"))
		}
		for _, base := range bases {
			out = append(out, r.outputAt(base, path)...)
		}
	}
	return out
}

// maxSettings bounds the outputs that one file may name.
const maxSettings = 32

// nxOutputs returns the outputs of the build in a configuration of Nx or Angular
// (https://nx.dev/reference/project-configuration#outputs).
func (r *recipes) nxOutputs(name string) (out []string) {
	data, err := r.files.ReadIfExists(name)
	if data == nil || err != nil {
		return nil
	}
	root, err := jsonfile.ParseLoose(name, data)
	if err != nil {
		return nil // its tool reports it
	}
	projects := []*jsonfile.Value{root}
	for _, m := range root.Get("projects").Members() {
		projects = append(projects, m.Value)
	}
	for _, p := range projects[:min(len(projects), maxSettings)] {
		for _, targets := range []string{"architect", "targets"} {
			build := p.Get(targets, "build")
			path := build.Get("options", "outputPath")
			base := r.Dir
			if name == "project.json" {
				base = r.Scope() // Nx starts at its workspace
			}
			for _, v := range []*jsonfile.Value{path, path.Get("base")} {
				out = append(out, r.outputAt(base, v.Text())...)
			}
			var globs []string
			for _, v := range build.Get("outputs").Items() {
				globs = append(globs, v.Text())
			}
			out = append(out, r.expanded(globs)...)
		}
	}
	return out
}

// expanded returns the outputs that Nx names by its variables.
func (r *recipes) expanded(outputs []string) (out []string) {
	rel, err := filepath.Rel(r.Scope(), r.Dir)
	if err != nil {
		return nil
	}
	variables := strings.NewReplacer("{workspaceRoot}", r.Scope(), "{projectRoot}", filepath.ToSlash(rel), "{projectName}", r.Name)
	for _, g := range outputs[:min(len(outputs), maxSettings)] {
		if below, ok := strings.CutPrefix(g, "{projectRoot}/"); ok {
			g = below
		}
		out = append(out, r.outputAt(r.Dir, strings.TrimSuffix(variables.Replace(g), "/**"))...)
	}
	return out
}

// outFlags are the options by which compilers and bundlers take an output, and shortFlags those of the
// tools that are known to have them.
var (
	outFlags = []string{"--outDir", "--out-dir", "--outdir", "--outFile", "--outfile", "--out-file", "--output", "--output-dir", "--output-path",
		"--dist-dir", "--declarationDir", "--dest", "-o", "--out"}
	shortFlags = map[string][]string{"-d": {"babel", "swc", "rollup", "tsup"}}
)

// flagged returns the paths that the options of commands name as outputs.
func flagged(bodies []string) (paths []string) {
	for _, body := range bodies {
		tool, words := "", shellWords(body)
		for i, w := range words {
			if i == 0 || words[i-1] == ";" {
				tool = w
			}
			name, value, whole := strings.Cut(w, "=")
			if !slices.Contains(outFlags, name) && !slices.Contains(shortFlags[name], tool) {
				continue
			}
			if !whole && i+1 < len(words) && words[i+1] != ";" && !strings.HasPrefix(words[i+1], "-") {
				value = words[i+1]
			}
			paths = append(paths, value)
		}
	}
	return paths
}

// shellWords returns the words of shell commands, with ";" between two commands. Quotes only hold words
// together.
func shellWords(body string) (words []string) {
	body = body[:min(len(body), maxBody)]
	for _, sep := range []string{"&&", "||", ";", "|", "&", "(", ")", "\n"} {
		body = strings.ReplaceAll(body, sep, " ; ")
	}
	for _, w := range strings.Fields(body) {
		if w = strings.Trim(w, `"'`); w != "" {
			words = append(words, w)
		}
	}
	return words
}

// maxBody bounds the part of a script that is looked at, and maxBodies how many scripts one may call.
const (
	maxBody   = 8 << 10
	maxBodies = 32
)

// bodies returns the texts of a script and of those that it calls by name, with what npm runs before and
// after each.
func (r *recipes) bodies(name string) (bodies []string) {
	queue, seen := []string{name}, map[string]bool{}
	for len(queue) > 0 && len(seen) < maxBodies {
		name, queue = queue[0], queue[1:]
		for _, n := range []string{name, "pre" + name, "post" + name} {
			s := r.Script(n)
			if s.Line == 0 || seen[n] {
				continue
			}
			seen[n] = true
			bodies = append(bodies, s.Value)
			for _, w := range shellWords(s.Value) {
				if !seen[w] && r.Script(w).Line > 0 {
					queue = append(queue, w)
				}
			}
		}
	}
	return bodies
}

// near returns the paths outside of the package that the script of a build names, and those that it calls.
func (r *recipes) near() (paths []string) {
	for _, body := range r.bodies("build") {
		for _, w := range shellWords(body) {
			if _, value, ok := strings.Cut(w, "="); ok && strings.HasPrefix(value, "..") {
				w = value
			}
			if !strings.HasPrefix(w, "../") && !strings.HasPrefix(w, "./../") {
				continue
			}
			for _, g := range r.outputAt(r.Dir, strings.TrimSuffix(w, "/")) {
				if abs, outside := strings.CutSuffix(g, "/**"); outside && filepath.IsAbs(abs) && !slices.Contains(paths, abs) {
					paths = append(paths, abs)
				}
			}
		}
	}
	return paths[:min(len(paths), maxBodies)]
}
