package gradle

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/adapters/adaptertest"
	"github.com/bentobuild/bento/adapters/snapshot"
)

const flags = "gradle --no-daemon --console=plain "

const shelf = `-- settings.gradle --
include 'lib', 'group:app'
-- build.gradle --
subprojects {
    apply plugin: 'java'
    apply from: "$rootDir/tools/lint.gradle"
    dependencies { testImplementation project(':fakes') }
    header = file("$rootDir/HEADER")
}
-- tools/lint.gradle --
apply plugin: 'checkstyle'
checkstyle.configFile = rootProject.file('tools/style.xml')
-- tools/style.xml --
-- HEADER --
-- README.md --
-- gradle.properties --
-- gradle/libs.versions.toml --
-- lib/build.gradle --
-- lib/src/test/x --
-- group/app/build.gradle --
apply plugin: 'application'
dependencies {
    implementation project(':lib')
}
-- group/gradle.properties --
-- buildSrc/build.gradle --
`

func TestBuild(t *testing.T) {
	root := adaptertest.Project(t, shelf)
	a := New(snapshot.Options{Env: adaptertest.Env()})
	top := adaptertest.Tasks(t, a, root)
	if !top.Aggregate || len(top.Tasks) > 0 || !slices.Equal(top.Members, []string{root + "/group/app", root + "/lib"}) || len(top.Warnings) > 0 {
		t.Errorf("%+v", top)
	}
	want := map[string]string{
		"build": flags + ":lib:build -x :lib:check", "test": flags + ":lib:test", "lint": flags + ":lib:check -x :lib:test",
	}
	if d := cmp.Diff(want, adaptertest.Runs(t, a, root+"/lib")); d != "" {
		t.Error(d)
	}
	// No directory of app looks like tests, whatever scripts configure for all projects.
	want = map[string]string{"build": flags + ":group:app:build -x :group:app:check", "lint": flags + ":group:app:check", "run": "(" + flags + ":group:app:run)"}
	if d := cmp.Diff(want, adaptertest.Runs(t, a, root+"/group/app")); d != "" {
		t.Error(d)
	}
	build := adaptertest.Task(t, a, root+"/group/app", "build")
	if build.Cwd != "../.." || build.Mutex == "" || build.Mutex != adaptertest.Task(t, a, root+"/lib", "build").Mutex {
		t.Errorf("%+v", build)
	}
	// It packs the projects that it depends on again.
	if d := cmp.Diff([]string{"//**/build/libs/**", "//**/build/distributions/**"}, build.Rewrites); d != "" {
		t.Error(d)
	}
	var above []string
	for _, path := range build.ExtraInputs {
		above = append(above, adaptertest.Relative(root, path))
	}
	want2 := []string{"HEADER", "build.gradle", "gradle", "gradle.properties", "group/gradle.properties", "settings.gradle", "tools/lint.gradle", "tools/style.xml"}
	if d := cmp.Diff(want2, above); d != "" {
		t.Error(d)
	}
	links := []adapters.Link{
		{Dir: "buildSrc", File: "buildSrc", Loose: true},
		{Dir: "lib", File: "group/app/build.gradle", Line: 3, Loose: true},
	}
	if d := cmp.Diff(links, adaptertest.Links(t, a, root, root+"/group/app")); d != "" {
		t.Error(d)
	}
}

func TestKotlin(t *testing.T) {
	root := adaptertest.Project(t, `-- settings.gradle.kts --
pluginManagement { includeBuild("build-logic") }
include("app", "my-libs:core", "lib")
includeBuild("../other")
-- gradle/libs.versions.toml --
[plugins]
lint = { id = "com.diffplug.spotless", version = "6" }
-- app/build.gradle.kts --
plugins {
    id("shelf.java")
    application
}
dependencies {
    implementation(projects.myLibs.core)
    testImplementation(project(":lib"))
}
-- app/src/test/x --
-- my-libs/core/build.gradle.kts --
-- lib/build.gradle.kts --
-- build-logic/src/main/kotlin/shelf.java.gradle.kts --
plugins { alias(libs.plugins.lint) }
java { toolchain { languageVersion = JavaLanguageVersion.of(17) } }
-- other/settings.gradle --
`)
	a := New(snapshot.Options{Env: adaptertest.Env()})
	const flags = flags + "-Porg.gradle.java.installations.auto-download=false "
	want := map[string]string{
		"build": flags + ":app:build -x :app:check", "lint": flags + ":app:check -x :app:test", "test": flags + ":app:test",
		"format": "(" + flags + ":app:spotlessApply)", "run": "(" + flags + ":app:run)",
	}
	if d := cmp.Diff(want, adaptertest.Runs(t, a, root+"/app")); d != "" {
		t.Error(d)
	}
	links := []adapters.Link{
		{Dir: "my-libs/core", File: "app/build.gradle.kts", Line: 6, Loose: true},
		{Dir: "lib", File: "app/build.gradle.kts", Line: 7, Dev: true, Loose: true},
		{Dir: "build-logic", File: "settings.gradle.kts", Line: 1, Loose: true},
		{Dir: "../other", File: "settings.gradle.kts", Line: 3, Loose: true},
	}
	if d := cmp.Diff(links, adaptertest.Links(t, a, root, root+"/app")); d != "" {
		t.Error(d)
	}
	if got := adaptertest.Task(t, a, root+"/app", "build").Rewrites; !slices.Contains(got, "//build-logic/**/build/libs/**") {
		t.Errorf("it packs the included build again: %q", got)
	}
	pin, err := a.RequiredToolchain(t.Context(), root+"/app")
	if err != nil || pin == nil || pin.Version != "17" || !pin.Strict || filepath.Base(pin.File) != "shelf.java.gradle.kts" {
		t.Errorf("%+v %v", pin, err)
	}
	// With downloads allowed Gradle may fetch the toolchain itself.
	a = New(snapshot.Options{Env: adaptertest.Env(), AllowDownload: true})
	if run := adaptertest.Task(t, a, root+"/app", "build").Run; strings.Contains(run, "auto-download") {
		t.Error(run)
	}
}

func TestRoots(t *testing.T) {
	a := New(snapshot.Options{Env: adaptertest.Env()})
	for name, c := range map[string]struct {
		archive string
		want    map[string]string
	}{
		"one project": {
			"-- build.gradle --\nplugins { id 'java'; id 'pmd' }\ndependencies { testImplementation 'x:y:1' }\n-- src/main/x --\n",
			map[string]string{"build": flags + ":build -x :check", "lint": flags + ":check -x :test", "test": flags + ":test"},
		},
		"settings alone": {"-- settings.gradle --\n-- build.gradle --\n", map[string]string{"build": flags + ":build -x :check"}},
		"code of its own": {
			"-- settings.gradle --\ninclude 'lib'\n-- build.gradle --\n-- lib/build.gradle --\n-- src/main/x --\n", map[string]string{"build": flags + ":build -x :check"},
		},
		"code in a place of its own": {
			"-- settings.gradle --\ninclude 'unicode'\n-- build.gradle --\nplugins { id 'java-library' }\nsourceSets { main.java.srcDirs = ['java'] }\ndependencies { testImplementation 'x:y:1' }\n-- unicode/build.gradle --\n-- java/x --\n",
			map[string]string{"build": flags + ":build -x :check", "test": flags + ":test"},
		},
		"for all projects but the root": {
			"-- settings.gradle --\ninclude 'a'\n-- build.gradle --\nplugins { id 'idea'; id 'org.springframework.boot' apply false }\nallprojects { apply plugin: 'java' }\n-- a/build.gradle --\n", map[string]string{},
		},
		"projects without a script": {
			"-- settings.gradle --\ninclude 'lib', 'app', 'docs'\n-- lib/src/main/x --\n-- app/src/test/x --\n-- docs/x --\n",
			map[string]string{"build": flags + ":app:build -x :app:check :lib:build -x :lib:check", "test": flags + ":app:test"},
		},
		"computed": {
			"-- settings.gradle --\ninclude 'lib'\nfile('.').eachDir { include it.name }\n-- lib/build.gradle --\n",
			map[string]string{"build": flags + "build -x check", "test": flags + "check"},
		},
	} {
		root := adaptertest.Project(t, c.archive)
		if d := cmp.Diff(c.want, adaptertest.Runs(t, a, root)); d != "" {
			t.Errorf("%s: %s", name, d)
		}
	}
}

func TestUnsure(t *testing.T) {
	root := adaptertest.Project(t, `-- settings.gradle --
include 'a', 'b', 'c'
names.each { include it }
-- build.gradle --
dependencies { all.each { jacocoAggregation(project(":${it.name}")) } }
-- a/build.gradle --
dependencies {
    implementation project(":$x")
}
-- b/build.gradle --
-- c/build.gradle --
`)
	a := New(snapshot.Options{Env: adaptertest.Env()})
	said := func(dir string) string {
		var list []string
		for _, d := range adaptertest.Tasks(t, a, dir).Warnings {
			d.File = adaptertest.Relative(root, d.File)
			list = append(list, string(d.Severity)+" "+d.String())
		}
		return strings.Join(list, "\n")
	}
	if got := said(root); !strings.Contains(got, "warning settings.gradle:2: computed include: only running the settings shows") {
		t.Error(got)
	}
	if got := said(root); !strings.Contains(got, "warning build.gradle:1: computed project(…): only running the script shows which project it names; the root depends on all") {
		t.Error(got)
	}
	if got := said(root + "/a"); !strings.Contains(got, "warning a/build.gradle:2: computed project(…): only running the script shows") {
		t.Error(got)
	}
	// A possible project is a link.
	want := []adapters.Link{{Dir: "b", File: "a/build.gradle", Line: 2, Loose: true}, {Dir: "c", File: "a/build.gradle", Line: 2, Loose: true}}
	if d := cmp.Diff(want, adaptertest.Links(t, a, root, root+"/a")); d != "" {
		t.Error(d)
	}
	if links := adaptertest.Links(t, a, root, root); len(links) != 3 {
		t.Errorf("the root builds all of them: %v", links)
	}
}

func TestFlat(t *testing.T) {
	root := adaptertest.Project(t, "-- master/settings.gradle --\nincludeFlat 'lib', 'app'\n-- lib/build.gradle --\n-- app/build.gradle --\ndependencies { compile project(':lib') }\n")
	a := New(snapshot.Options{Env: adaptertest.Env()})
	if task := adaptertest.Task(t, a, root+"/app", "build"); task.Cwd != "../master" || task.Run != flags+":app:build -x :app:check" {
		t.Errorf("%+v", task)
	}
	if d := cmp.Diff([]adapters.Link{{Dir: "lib", File: "app/build.gradle", Line: 1, Loose: true}}, adaptertest.Links(t, a, root, root+"/app")); d != "" {
		t.Error(d)
	}
}

func TestNotIncluded(t *testing.T) {
	root := adaptertest.Project(t, "-- settings.gradle --\ninclude 'a'\n-- a/build.gradle --\n-- b/build.gradle --\n")
	a := New(snapshot.Options{Env: adaptertest.Env()})
	if task := adaptertest.Task(t, a, root+"/b", "build"); task.Cwd != "" || task.Run != flags+":build -x :check" {
		t.Errorf("%+v", task)
	}
}

// Scripts may be called after their projects.
func TestNamedScripts(t *testing.T) {
	root := adaptertest.Project(t, "-- settings.gradle --\ninclude 'lib', 'app'\n-- lib/lib.gradle --\napply plugin: 'java'\n-- app/app.gradle.kts --\ndependencies { implementation(project(\":lib\")) }\n-- other/other.gradle --\n")
	a := New(snapshot.Options{Env: adaptertest.Env()})
	for dir, want := range map[string]bool{"lib": true, "app": true, "other": false} {
		if yes, err := a.Detect(t.Context(), filepath.Join(root, dir)); yes != want || err != nil {
			t.Errorf("%s: %v %v", dir, yes, err)
		}
	}
	if d := cmp.Diff([]adapters.Link{{Dir: "lib", File: "app/app.gradle.kts", Line: 1, Loose: true}}, adaptertest.Links(t, a, root, root+"/app")); d != "" {
		t.Error(d)
	}
	if top := adaptertest.Tasks(t, a, root); !top.Aggregate {
		t.Errorf("%+v", top)
	}
}

func TestWrapper(t *testing.T) {
	root := adaptertest.Project(t, "-- gradlew --\n-- settings.gradle --\ninclude 'a'\n-- a/build.gradle --\n")
	if err := os.Chmod(filepath.Join(root, "gradlew"), 0o755); err != nil {
		t.Fatal(err)
	}
	a := New(snapshot.Options{Env: adaptertest.Env()})
	if run := adaptertest.Task(t, a, root+"/a", "build").Run; !strings.HasPrefix(run, "./gradlew --no-daemon ") {
		t.Error(run)
	}
}

func TestMalformed(t *testing.T) {
	a := New(snapshot.Options{Env: adaptertest.Env()})
	for file, c := range map[string]struct{ text, want string }{
		"settings.gradle":           {"include 'a\n", "settings.gradle:1:9: the string that begins here has no end"},
		"build.gradle.kts":          {"plugins {\r\n  id(\"x\"\r\n}\r\n", `build.gradle.kts:3:1: "}" closes the "(" of line 2`},
		"gradle/libs.versions.toml": {"[versions\n", "gradle/libs.versions.toml:1"},
	} {
		root := adaptertest.Project(t, "-- build.gradle --\n")
		if file == "build.gradle.kts" {
			root = adaptertest.Project(t, "")
		}
		adaptertest.Write(t, filepath.Join(root, file), c.text)
		_, err := a.Tasks(t.Context(), root)
		if got := adaptertest.Where(t, root, err); !strings.HasPrefix(got, c.want) {
			t.Errorf("%s: %s", file, got)
		}
	}
}

func TestPins(t *testing.T) {
	for _, c := range []struct{ archive, want string }{
		{"-- build.gradle --\n", ""},
		{"-- build.gradle --\nsourceCompatibility = 11\n", "java >=11 build.gradle:1 strict"},
		{"-- build.gradle --\nsourceCompatibility = 11\njava { toolchain { languageVersion = JavaLanguageVersion.of(21) } }\n-- .java-version --\n17\n", "java 17 .java-version:1, java 21 build.gradle:2 strict"},
		{"-- build.gradle --\n-- gradle/libs.versions.toml --\n[versions]\njava = \"21\"\n", "java 21 gradle/libs.versions.toml:2"},
		{"-- build.gradle --\n-- gradle.properties --\njava.version=11\n", "java 11 gradle.properties:1"},
		{"-- build.gradle --\n-- gradle/gradle-daemon-jvm.properties --\ntoolchainVersion=21\n", "java 21 gradle/gradle-daemon-jvm.properties:1 strict"},
		{
			"-- build.gradle --\n-- gradlew --\ngradle-wrapper.jar\n-- gradle/wrapper/gradle-wrapper.properties --\ndistributionUrl=https\\://x/gradle-8.10-bin.zip\n",
			"gradle 8.10 gradle/wrapper/gradle-wrapper.properties:1",
		},
	} {
		root := adaptertest.Project(t, c.archive)
		pin, err := New(snapshot.Options{Env: adaptertest.Env()}).RequiredToolchain(t.Context(), root)
		if err != nil {
			t.Fatal(err)
		}
		if got := adaptertest.Pins(root, pin); got != c.want {
			t.Errorf("%s: %s, want %s", c.archive, got, c.want)
		}
	}
}

func TestCheckPin(t *testing.T) {
	a := New(snapshot.Options{Env: adaptertest.Env()})
	const fingerprint = "openjdk version \"17.0.15\" 2025\nx\nGradle 4.4.1\nJVM: 17\njdk 25.0.3 Someone\njdk 17.0.15 Debian\n"
	for _, c := range []struct {
		tool, want, file string
		ok               bool
	}{
		{"java", "25", "/w/build.gradle.kts", true}, {"java", "21", "/w/build.gradle", false}, {"java", "25", "/w/gradle/libs.versions.toml", true},
		{"java", "25", "/w/.java-version", false}, {"java", "17", "/w/.java-version", true}, {"gradle", "4.4", "/w/x", true}, {"gradle", "8.10", "/w/x", false},
	} {
		v := a.CheckPin(adapters.Toolchain{Tool: c.tool, Version: c.want, File: c.file}, fingerprint)
		if v.OK != c.ok || v.Found == "" || !v.OK && v.Hint == "" {
			t.Errorf("%s %s of %s: %+v", c.tool, c.want, c.file, v)
		}
	}
}

func TestUserSettings(t *testing.T) {
	home := t.TempDir()
	a := New(snapshot.Options{Env: adaptertest.Env("GRADLE_USER_HOME=" + home)})
	seen := map[string]bool{}
	for _, c := range []struct {
		file, text string
		steers     bool
	}{
		{"gradle.properties", "org.gradle.jvmargs=-Xmx1g\nnexusPassword=x\n", false},
		{"gradle.properties", "flavour=a\n", true},
		{"gradle.properties", "flavour=b\n", true},
		{"init.d/x.gradle", "y", true},
	} {
		adaptertest.Write(t, filepath.Join(home, c.file), c.text)
		got := a.userSettings()
		if (got != "") != c.steers || c.steers && seen[got] {
			t.Errorf("%s %q: %q", c.file, c.text, got)
		}
		seen[got] = true
	}
}

func TestAdd(t *testing.T) {
	root := adaptertest.Project(t, "-- build.gradle.kts --\n")
	err := adapters.Add(t.Context(), New(snapshot.Options{}), adapters.AddRequest{DishDir: root, Packages: []string{"g:a:1"}, Dev: true}, nil)
	u, ok := err.(*adapters.Unsupported)
	if !ok || !strings.Contains(u.Hint, `testImplementation("g:a:1")`) {
		t.Errorf("%v", err)
	}
}
