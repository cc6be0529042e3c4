package node

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Whichever way a configuration names a file of another package, the file counts.
func TestEmbedsInAnyForm(t *testing.T) {
	for name, c := range map[string]struct{ file, source, want string }{
		"alias":           {"tsconfig.json", `{"compilerOptions": {"paths": {"@b/*": ["../b/src/*"], "@own/*": ["./src/*"]}}}`, "/w/b/src"},
		"include":         {"tsconfig.json", `{"include": ["src", "../b/src/**/*.ts"]}`, "/w/b/src"},
		"files":           {"tsconfig.spec.json", `{"files": ["../b/x.ts"]}`, "/w/b/x.ts"},
		"roots":           {"tsconfig.json", `{"compilerOptions": {"rootDirs": ["src", "../b/r"], "typeRoots": ["../b/t", "../node_modules/@types"]}}`, "/w/b/r /w/b/t"},
		"configDir":       {"tsconfig.json", `{"compilerOptions": {"paths": {"@b/*": ["${configDir}/../b/*"]}}}`, "/w/b"},
		"another package": {"deep/tsconfig.json", `{"include": ["../../b"]}`, ""},
		"resolve":         {"vite.config.ts", `path.resolve(__dirname, '../b/src')`, "/w/b/src"},
		"join":            {"vite.config.ts", `path.join(__dirname, "..", 'b', "src")`, "/w/b/src"},
		"template":        {"vite.config.ts", "`${__dirname}/../b/src`", "/w/b/src"},
		"variable":        {"vite.config.ts", "`${__dirname}/../b/${name}/src`", "/w/b"},
		"rootDir":         {"jest.config.js", `{'^b/(.*)$': '<rootDir>/../b/src/$1'}`, "/w/b/src"},
		"common":          {"webpack.common.js", `resolve(__dirname, '/../b')`, "/w/b"},
		"in a directory":  {"config/webpack.prod.js", `resolve(__dirname, '../../b')`, "/w/b"},
		"patterns":        {"tailwind.config.js", `content: ['./src/**', '../b/src/**/*.ts']`, "/w/b/src"},
		"a limit":         {"next.config.mjs", `{outputFileTracingRoot: path.join(__dirname, '../..'), x: '../', y: '../a'}`, ""},
		"import":          {"vite.config.ts", `import base from "../base"`, ""},
		"modules":         {"metro.config.js", `'../node_modules/x', '../b'`, "/w/b"},
		"broken tsconfig": {"tsconfig.json", `{"include": ["../b"`, ""},
	} {
		var got []string
		for _, e := range new(Adapter).Embeds("/w/a", "/w/a/"+c.file, []byte(c.source)) {
			got = append(got, e.Path)
		}
		if diff := cmp.Diff(c.want, strings.Join(got, " ")); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}
