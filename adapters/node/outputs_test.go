package node

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bentobuild/bento/adapters/adaptertest"
)

// TestOutputs looks at the outputs beyond the usual ones, and at the paths outside of the package that a
// script names.
func TestOutputs(t *testing.T) {
	const script = `{"name": "app", "scripts": {"build": "x"}}`
	for name, c := range map[string]struct {
		tree       []string // app/package.json and other files
		want, near string   // space-separated; "ROOT" is the root
	}{
		"vite":            {tree: []string{script, "app/vite.config.ts", `export default { build: { outDir: "../dist/x" } }`}, want: "ROOT/dist/x/**"},
		"vite with root":  {tree: []string{script, "app/vite.config.ts", "export default {\n  root: 'src',\n  build: { outDir: '../public' } }"}, want: "ROOT/public/** public/**"},
		"joined":          {tree: []string{script, "app/vue.config.js", `module.exports = { outputDir: path.resolve(__dirname, "..", "api", "static") }`}, want: "ROOT/api/static/**"},
		"comment":         {tree: []string{script, "app/vite.config.ts", `// outDir: "../x"`}},
		"another program": {tree: []string{script, "app/vitest.config.ts", `export default { outDir: "../x" }`}},
		"the package":     {tree: []string{script, "app/vite.config.ts", `export default { build: { outDir: ".." } }`}},
		"tsc":             {tree: []string{script, "app/tsconfig.json", `{"compilerOptions": {"outDir": "../out/app"}}`}, want: "ROOT/out/app/**"},
		"shared base":     {tree: []string{script, "app/tsconfig.json", `{"extends": "../base.json"}`, "base.json", `{"compilerOptions": {"outDir": "out"}}`}},
		"nx":              {tree: []string{script, "app/project.json", `{"targets": {"build": {"outputs": ["{projectRoot}/esm"], "options": {"outputPath": "web"}}}}`}, want: "web/** esm/**"},
		"nx of a member": {tree: []string{script, "package.json", `{"workspaces": ["app"]}`, "app/project.json",
			`{"targets": {"build": {"outputs": ["{workspaceRoot}/dist/{projectRoot}", "{options.outputPath}"], "options": {"outputPath": "web/{projectName}"}}}}`}, want: "ROOT/dist/app/**"},
		"nx in the manifest": {tree: []string{`{"scripts": {"build": "x"}, "nx": {"targets": {"build": {"outputs": ["{projectRoot}/esm"]}}}}`}, want: "esm/**"},
		"angular":            {tree: []string{script, "app/angular.json", `{"projects": {"a": {"architect": {"build": {"options": {"outputPath": {"base": "www"}}}}}}}`}, want: "www/**"},
		"gatsby":             {tree: []string{`{"scripts": {"build": "x"}, "dependencies": {"gatsby": "5"}}`}, want: "public/**"},
		"options": {tree: []string{`{"scripts": {"build": "npm run js && tsc --outDir=types", "js": "babel src -d lib", "postbuild": "cp -r lib ../api/static"}}`},
			want: "types/** lib/**", near: "ROOT/api/static"},
		"no outputs": {tree: []string{`{"scripts": {"build": "swc src --out-dir src; tsc --outDir . && esbuild --outdir=$OUT && ls ../node_modules/x .."}}`}},
	} {
		t.Run(name, func(t *testing.T) {
			root := adaptertest.Tree(t, append([]string{"app/package.json"}, c.tree...)...)
			build := adaptertest.Task(t, newNPM(), filepath.Join(root, "app"), "build")
			extra := slices.DeleteFunc(build.Outputs, func(o string) bool { return slices.Contains(usualOutputs(), o) })
			got := strings.ReplaceAll(strings.Join(extra, " "), root, "ROOT")
			near := strings.ReplaceAll(strings.Join(build.Near, " "), root, "ROOT")
			if diff := cmp.Diff([]string{c.want, c.near}, []string{got, near}); diff != "" {
				t.Error(diff)
			}
		})
	}
}
