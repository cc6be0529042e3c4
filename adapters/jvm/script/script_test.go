package script

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/bentobuild/bento/diagnostics"
)

func settings(t *testing.T, name, text string) *Settings {
	t.Helper()
	s, err := ParseSettings("/w/"+name, []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// show returns the projects as "path dir", those only on the way in brackets.
func show(s *Settings) []string {
	var list []string
	for path, p := range s.Projects {
		line := path + " " + p.Dir
		if !p.Named {
			line = "(" + line + ")"
		}
		list = append(list, line)
	}
	slices.Sort(list)
	return list
}

func TestSettings(t *testing.T) {
	for name, c := range map[string]struct {
		file, text string
		want       []string
		unsure     []string
	}{
		"groovy": {
			file: "settings.gradle", text: "rootProject.name = 'x'\ninclude 'a', \"b\" // 'c'\ninclude ':libs:core',\n    'libs:util'\n",
			want: []string{"(:libs /w/libs)", ": /w", ":a /w/a", ":b /w/b", ":libs:core /w/libs/core", ":libs:util /w/libs/util"},
		},
		"kotlin": {
			file: "settings.gradle.kts", text: "include(\"a\")\ninclude(\n    \":b\",\n    \"c:d\",\n)\n/* include(\"e\") /* nested */ include(\"f\") */\n",
			want: []string{"(:c /w/c)", ": /w", ":a /w/a", ":b /w/b", ":c:d /w/c/d"},
		},
		"list": {
			file: "settings.gradle", text: "include(['a', 'b'] as String[])\ninclude 'x'; include 'y'\nsettings.include 'z'\n",
			want: []string{": /w", ":a /w/a", ":b /w/b", ":x /w/x", ":y /w/y", ":z /w/z"}, unsure: []string{"1 computed include"},
		},
		"directories": {
			file: "settings.gradle", text: "include 'a', 'a:b', 'c', 'd', 'e'\nproject(':a').projectDir = file('x/a')\nproject(':c').projectDir = new File(settingsDir, '../c')\n" +
				"project(\":d\").projectDir = \"$rootDir/dd\" as File\nproject(':e').projectDir = new File(base, 'e')\n",
			want:   []string{": /w", ":a /w/x/a", ":a:b /w/x/a/b", ":c /c", ":d /w/dd", ":e /w/e"},
			unsure: []string{"5 computed projectDir"},
		},
		"flat": {
			file: "settings.gradle", text: "includeFlat 'a', 'b'\n", want: []string{": /w", ":a /a", ":b /b"},
		},
		"computed": {
			file: "settings.gradle", text: "def names = ['a']\nnames.each { include it }\ninclude \"lib-$names\"\ninclude names as String[]\nfile('p').eachDir { d ->\n  include \"p:${d.name}\"\n}\n" +
				"project(\":$x\").projectDir = file('y')\nincludeBuild x\n",
			want: []string{": /w"},
			unsure: []string{
				"2 computed include", "3 computed include", "4 computed include", "6 computed include",
				"8 computed projectDir of a project", "9 computed includeBuild",
			},
		},
		"root": {
			file: "settings.gradle.kts", text: "include(\":\")\ninclude(\":a\")\n", want: []string{": /w", ":a /w/a"},
		},
		"odd": {
			file: "settings.gradle", text: "include '../out'\ninclude ''\ninclude 'a/b'\nstartParameter.include 'q'\ndef include = 1\n",
			want: []string{": /w", ":a/b /w/a/b"}, unsure: []string{`1 a project with the path ":../out"`},
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := settings(t, c.file, c.text)
			if d := cmp.Diff(c.want, show(s)); d != "" {
				t.Error(d)
			}
			var unsure []string
			for _, u := range s.Unsure {
				unsure = append(unsure, fmt.Sprintf("%d %s", u.Line, u.Text))
			}
			if d := cmp.Diff(c.unsure, unsure); d != "" {
				t.Error(d)
			}
		})
	}
}

func TestIncludedBuilds(t *testing.T) {
	s := settings(t, "settings.gradle.kts", "pluginManagement {\n    includeBuild(\"build-logic\")\n}\nincludeBuild(\"../other\") { dependencySubstitution { } }\n")
	if d := cmp.Diff([]Place{{"/w/build-logic", 2}, {"/other", 4}}, s.Builds); d != "" {
		t.Error(d)
	}
}

func build(t *testing.T, name, text string) *Build {
	t.Helper()
	b, err := ParseBuild("/w/"+name, []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// said returns what was said as "line scope text".
func said(list []Statement) []string {
	var out []string
	for _, s := range list {
		line := fmt.Sprintf("%d %s%s", s.Line, s.Scope, s.Text)
		if s.Test {
			line += " (test)"
		}
		out = append(out, line)
	}
	return out
}

func TestDependencies(t *testing.T) {
	b := build(t, "build.gradle", `plugins { id 'java' }
dependencies {
    implementation project(':lib')
    api(project(path: ':core', configuration: 'x'))
    testImplementation project(":fakes")
    implementation project('near')
    implementation project(":lib-$kind")
    implementation project(name)
    compile "com.example:far:1.0"
    implementation projects.my.lib
    implementation project()
}
evaluationDependsOn(':other')
test.dependsOn ':other:jar'
testing.suites.test.dependencies {
    implementation project(':late')
}
testing {
    suites {
        configureEach {
            dependencies {
                implementation project(':suite')
            }
        }
    }
}
`)
	want := []string{
		"1 java", "3 :lib", "4 :core", "4 x", "5 :fakes (test)", "6 near", "6 :near", "9 com.example:far:1.0", "13 :other", "14 :other:jar", "16 :late (test)", "22 :suite (test)",
	}
	got := said(b.Strings)
	slices.Sort(want)
	slices.Sort(got)
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff([]string{"7 computed project(…)", "8 computed project(…)"}, said(b.Unsure)); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff([]string{"10 my.lib"}, said(b.Accessors)); d != "" {
		t.Error(d)
	}
	if len(b.Words) == 0 {
		t.Error("there are tests")
	}
}

func TestScopes(t *testing.T) {
	b := build(t, "build.gradle", `apply plugin: 'base'
allprojects { apply plugin: 'idea' }
subprojects {
    apply plugin: 'java'
    afterEvaluate { dependencies { implementation project(':common') } }
}
project(':app') {
    apply plugin: 'war'
    dependencies { implementation project(':lib') }
}
configure(subprojects.findAll { it.name != 'x' }) {
    pluginManager.apply('pmd')
}
project(":${name}") { apply plugin: 'x' }
project(path: ':late')
{
    plugins.apply "late"
}
`)
	want := []string{"1 base", "2 *idea", "4 *java", "8 :appwar", "12 *pmd", "14 *x", "17 :latelate"}
	if d := cmp.Diff(want, said(b.Plugins)); d != "" {
		t.Error(d)
	}
	for _, s := range said(b.Strings) {
		if strings.Contains(s, ":app") && !strings.Contains(s, ":lib") && !strings.Contains(s, "war") {
			t.Errorf("the header of a block is no dependency: %s", s)
		}
	}
	if !slices.Contains(said(b.Strings), "5 *:common") || !slices.Contains(said(b.Strings), "9 :app:lib") {
		t.Errorf("%q", said(b.Strings))
	}
}

func TestPlugins(t *testing.T) {
	b := build(t, "build.gradle.kts", "plugins {\n    java\n    `java-library`\n    id(\"com.diffplug.spotless\") version \"6\"\n    kotlin(\"jvm\") version \"2.0\"\n"+
		"    alias(libs.plugins.spring.boot)\n    id(\"off\") apply false\n    alias(libs.plugins.off) apply false\n    checkstyle\n}\napply(plugin = \"pmd\")\napply<WarPlugin>()\napply { plugin(\"odd\") }\n")
	want := []string{
		"2 java", "3 java-library", "4 com.diffplug.spotless", "5 org.jetbrains.kotlin.jvm", "6 alias:spring.boot", "9 checkstyle", "11 pmd", "12 type:WarPlugin",
	}
	if d := cmp.Diff(want, said(b.Plugins)); d != "" {
		t.Error(d)
	}
}

func TestJava(t *testing.T) {
	for text, want := range map[string]string{
		"java { toolchain { languageVersion = JavaLanguageVersion.of(17) } }":   "17 toolchain",
		"java.toolchain.languageVersion.set(JavaLanguageVersion.of(\"21\"))":    "21 toolchain",
		"kotlin { jvmToolchain(11) }":                                           "11 toolchain",
		"java { toolchain { languageVersion = JavaLanguageVersion.of(libs.x) }": "",
		"languageVersion = JavaLanguageVersion.of(libs.versions.java.get())":    " toolchain",
		"sourceCompatibility = '1.8'":                                           "1.8",
		"sourceCompatibility = 1.8":                                             "1.8",
		"targetCompatibility = JavaVersion.VERSION_1_8":                         "1.8",
		"sourceCompatibility JavaVersion.toVersion(\"11\")":                     "11",
		"options.release = 11":                                                  "11",
		"options { release.set(12) }":                                           "12",
		"release = 3":                                                           "",
		"// sourceCompatibility = 7":                                            "",
		"sourceCompatibility = javaVersion":                                     "",
	} {
		b, err := ParseBuild("/w/build.gradle", []byte(text))
		got := ""
		if err == nil && len(b.Java) > 0 {
			got = b.Java[0].Version
			if b.Java[0].Toolchain {
				got += " toolchain"
			}
		}
		if got != want {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
}

func TestStrings(t *testing.T) {
	for text, want := range map[string]string{
		`'it\'s'`: "it's", `"a\tb"`: "a\tb", `'''a'b'''`: "a'b", `"""a "b" c"""`: `a "b" c`, `"$rootDir/x"`: "$rootDir/x", `"${rootDir}/x"`: "${rootDir}/x",
		`"${project.property("a") + '}'}/b"`: `${project.property("a") + '}'}/b`, `"1$"`: "1$", `'$x'`: "$x", `/a"b/`: `a"b`, `$/a'b/$`: "a'b", `"a\
b"`: "ab", `"${ x {
} }"`: "${ x {\n} }",
	} {
		tokens, err := lex("/w/build.gradle", []byte("x = "+text))
		if err != nil || len(tokens) < 3 || tokens[2].text != want || tokens[2].kind != other+0 && tokens[2].kind != 1 {
			t.Errorf("%s: %+v %v", text, tokens, err)
		}
	}
	tokens, err := lex("/w/build.gradle.kts", []byte(`val a = """C:\x"""; val b = 'c'; val c = 6 / 2 / 1`))
	if err != nil || tokens[3].text != `C:\x` {
		t.Errorf("%+v %v", tokens, err)
	}
}

func TestMalformed(t *testing.T) {
	for text, want := range map[string]string{
		"include 'a\n":           "1:9: the string that begins here has no end",
		"x {\n  y(\n}":           `3:1: "}" closes the "(" of line 2`,
		"x {\n":                  `1:1: the "{" that is opened here is never closed`,
		"a\n)":                   `2:1: ")" closes nothing`,
		"/* x":                   "1:1: the comment that begins here has no end",
		"\xff":                   "1:1: expected a script in UTF-8",
		"\xff\xfea\x00":          "1:1: expected a script in UTF-8",
		"x = '''a\nb":            "1:5: the string that begins here has no end",
		"x = $/a":                "1:5: the string that begins here has no end",
		strings.Repeat("{", 200): "1:101: brackets are nested more than 100 deep",
	} {
		_, err := ParseSettings("/w/settings.gradle", []byte(text))
		var p diagnostics.Problems
		if !errors.As(err, &p) || len(p) != 1 {
			t.Errorf("%.20q: %v", text, err)
			continue
		}
		p[0].File = "f"
		if got := strings.TrimPrefix(p[0].String(), "f:"); got != want && !strings.HasPrefix(got, want) {
			t.Errorf("%.20q: %s, want %s", text, got, want)
		}
	}
	// Where a slash may have been read wrongly, nothing is called wrong.
	if _, err := ParseBuild("/w/build.gradle", []byte("x = a(/b'c/)\ny = d(/ e { / f\n")); err != nil {
		t.Error(err)
	}
}

func TestCatalog(t *testing.T) {
	c, err := ParseCatalog("/w/libs.versions.toml", []byte("[versions]\njava = 21\n[plugins]\nspring-boot = { id = \"org.springframework.boot\", version = \"3\" }\nlint_it = \"com.lint:1\"\n"))
	if err != nil || c.Java != (Place{"21", 2}) || c.Plugins["spring.boot"] != "org.springframework.boot" || c.Plugins["lint.it"] != "com.lint" {
		t.Errorf("%+v %v", c, err)
	}
	var p diagnostics.Problems
	if _, err = ParseCatalog("/w/libs.versions.toml", []byte("[versions\n")); !errors.As(err, &p) || p[0].Line != 1 {
		t.Errorf("%v", err)
	}
}

func TestHostile(t *testing.T) {
	start := time.Now()
	for _, text := range []string{
		strings.Repeat("include ", 50_000), strings.Repeat("project(", 99) + strings.Repeat("project ", 50_000), "x = \"" + strings.Repeat("${", 50_000) + "\"",
		strings.Repeat("project(':a').projectDir = file('b')\n", 50_000), strings.Repeat("include ':a:b:c:d:e:f'\n", 50_000), strings.Repeat("/", 100_000),
		"plugins {\n" + strings.Repeat("alias ", 50_000), strings.Repeat("'a',", 50_000), "include 'x:" + strings.Repeat("y:", 100_000) + "'",
	} {
		ParseSettings("/w/settings.gradle", []byte(text))
		ParseBuild("/w/build.gradle", []byte(text))
	}
	if spent := time.Since(start); spent > 2*time.Minute {
		t.Errorf("%v", spent)
	}
}
