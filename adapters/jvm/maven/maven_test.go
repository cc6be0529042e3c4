package maven

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

// pomOf makes the pom of a project of what is given besides its name.
func pomOf(artifact, inside string) string {
	return "<project><groupId>ex</groupId><artifactId>" + artifact + "</artifactId><version>1.0</version>\n" + inside + "</project>\n"
}

const reactor = `-- pom.xml --
<project><groupId>ex</groupId><artifactId>root</artifactId><version>1.0</version><packaging>pom</packaging>
<modules><module>lib</module><module>group/app</module></modules>
<build><plugins><plugin><artifactId>maven-checkstyle-plugin</artifactId>
<configuration><configLocation>rules/style.xml</configLocation><header>${maven.multiModuleProjectDirectory}/HEADER</header><skip>README.md.x</skip></configuration>
</plugin></plugins></build></project>
-- mvnw --
-- .mvn/maven.config --
-- rules/style.xml --
-- HEADER --
-- README.md --
-- lib/pom.xml --
<project><parent><groupId>ex</groupId><artifactId>root</artifactId><version>1.0</version></parent><artifactId>lib</artifactId></project>
-- lib/src/test/x --
-- group/app/pom.xml --
<project><parent><groupId>ex</groupId><artifactId>root</artifactId><version>1.0</version><relativePath>../..</relativePath></parent>
<artifactId>app</artifactId>
<dependencies>
<dependency><groupId>${project.groupId}</groupId><artifactId>lib</artifactId><version>${project.version}</version></dependency>
<dependency><groupId>ex</groupId><artifactId>lib</artifactId><version>0.9</version><type>old</type></dependency>
<dependency><groupId>ex</groupId><artifactId>fakes</artifactId><scope>test</scope></dependency>
</dependencies></project>
`

func TestReactor(t *testing.T) {
	root := adaptertest.Project(t, reactor)
	if err := os.Chmod(filepath.Join(root, "mvnw"), 0o755); err != nil {
		t.Fatal(err)
	}
	a := New(snapshot.Options{Env: adaptertest.Env()})
	top := adaptertest.Tasks(t, a, root)
	if !top.Aggregate || len(top.Tasks) > 0 || !slices.Equal(top.Members, []string{root + "/group/app", root + "/lib"}) || len(top.Warnings) > 0 {
		t.Errorf("%+v", top)
	}
	want := map[string]string{
		"build": "./mvnw -B -ntp -pl lib -am package -DskipTests", "test": "./mvnw -B -ntp -pl lib -am test", "lint": "./mvnw -B -ntp -pl lib checkstyle:check",
	}
	if d := cmp.Diff(want, adaptertest.Runs(t, a, root+"/lib")); d != "" {
		t.Error(d)
	}
	build := adaptertest.Task(t, a, root+"/group/app", "build")
	if build.Cwd != "../.." || build.Mutex == "" || build.Mutex != adaptertest.Task(t, a, root+"/lib", "build").Mutex {
		t.Errorf("%+v", build)
	}
	// It packs the modules that it depends on again.
	if d := cmp.Diff([]string{"//**/target/*.{jar,war,ear,rar,zip,tar.gz}"}, build.Rewrites); d != "" {
		t.Error(d)
	}
	var above []string
	for _, path := range build.ExtraInputs {
		above = append(above, adaptertest.Relative(root, path))
	}
	if d := cmp.Diff([]string{".mvn", "HEADER", "mvnw", "pom.xml", "rules/style.xml"}, above); d != "" {
		t.Error(d)
	}
	// The tests of what a module depends on are run again with its own; a failure there is theirs.
	if test := adaptertest.Task(t, a, root+"/lib", "test"); !slices.Equal(test.DependsOn, []string{"^test"}) {
		t.Errorf("%+v", test)
	}
}

func TestLinks(t *testing.T) {
	root := adaptertest.Project(t, reactor)
	a := New(snapshot.Options{Env: adaptertest.Env()})
	want := []adapters.Link{
		{Package: "maven:ex:lib:1.0", File: "group/app/pom.xml", Line: 4},
		{Package: "maven:ex:lib:0.9", File: "group/app/pom.xml", Line: 5},
		{Package: "maven:ex:fakes", File: "group/app/pom.xml", Line: 6, Dev: true},
		{Package: "maven:org.apache.maven.plugins:maven-checkstyle-plugin", File: "pom.xml", Line: 3},
	}
	if d := cmp.Diff(want, adaptertest.Links(t, a, root, root+"/group/app")); d != "" {
		t.Error(d)
	}
	lib, err := a.Links(t.Context(), root+"/lib")
	if err != nil || !slices.Equal(lib.Provides, []string{"maven:ex:lib", "maven:ex:lib:1.0"}) {
		t.Errorf("%+v %v", lib.Provides, err)
	}
	if links := adaptertest.Links(t, a, root, root); len(links) > 0 {
		t.Errorf("the root is only its modules: %v", links)
	}
}

func TestParents(t *testing.T) {
	root := adaptertest.Project(t, "-- build/parent/pom.xml --\n"+
		"<project><groupId>ex</groupId><artifactId>parent</artifactId><version>1.0</version><packaging>pom</packaging>\n"+
		"<modules><module>../../a</module></modules></project>\n"+
		"-- a/pom.xml --\n<project>\n<parent><groupId>ex</groupId><artifactId>parent</artifactId><version>1.0</version><relativePath>../build/parent</relativePath></parent>\n<artifactId>a</artifactId></project>\n"+
		"-- b/pom.xml --\n<project><parent><groupId>ex</groupId><artifactId>parent</artifactId><version>2.0</version><relativePath>../build/parent</relativePath></parent><artifactId>b</artifactId></project>\n"+
		"-- c/pom.xml --\n<project><parent><groupId>ex</groupId><artifactId>c</artifactId><version>1</version><relativePath>.</relativePath></parent><groupId>ex</groupId><artifactId>c</artifactId><version>1</version></project>\n")
	a := New(snapshot.Options{Env: adaptertest.Env()})
	// The aggregator lies beside its module.
	if d := cmp.Diff([]adapters.Link{{Dir: "build/parent", File: "a/pom.xml", Line: 2}}, adaptertest.Links(t, a, root, root+"/a")); d != "" {
		t.Error(d)
	}
	build := adaptertest.Task(t, a, root+"/a", "build")
	if build.Cwd != "../build/parent" || !strings.Contains(build.Run, " -pl ../../a -am ") {
		t.Errorf("%+v", build)
	}
	// Another version is not this parent: Maven takes it from a repository.
	if got := adaptertest.Task(t, a, root+"/b", "build"); got.Cwd != "" || len(got.ExtraInputs) > 0 {
		t.Errorf("%+v", got)
	}
	_, err := a.Tasks(t.Context(), root+"/c")
	if got := adaptertest.Where(t, root, err); !strings.Contains(got, "c/pom.xml:1: the parents of this project lead back") {
		t.Error(got)
	}
}

func TestSingle(t *testing.T) {
	a := New(snapshot.Options{Env: adaptertest.Env()})
	for name, c := range map[string]struct {
		archive string
		want    map[string]string
	}{
		"plain":  {pomOf("x", ""), map[string]string{"build": "mvn -B -ntp package -DskipTests"}},
		"tested": {pomOf("x", "") + "-- src/test/java/T.java --\n", map[string]string{"build": "mvn -B -ntp package -DskipTests", "test": "mvn -B -ntp test"}},
		"tests elsewhere": {
			pomOf("x", "<build><testSourceDirectory>t</testSourceDirectory></build>"), map[string]string{"build": "mvn -B -ntp package -DskipTests", "test": "mvn -B -ntp test"},
		},
		"bound linter": {
			pomOf("x", "<build><plugins><plugin><artifactId>spotbugs-maven-plugin</artifactId><executions><execution/></executions></plugin></plugins></build>"),
			map[string]string{"build": "mvn -B -ntp package -DskipTests", "lint": "mvn -B -ntp verify -DskipTests"},
		},
		"bound rewriter": {
			pomOf("x", bound("spotless-maven-plugin", "apply")),
			map[string]string{"build": "mvn -B -ntp package -DskipTests", "lint": "mvn -B -ntp spotless:check", "format": "(mvn -B -ntp spotless:apply)"},
		},
		"bound rewriter and linter": {
			pomOf("x", bound("fmt-maven-plugin", "format", "maven-pmd-plugin", "check")),
			map[string]string{"build": "mvn -B -ntp package -DskipTests", "lint": "mvn -B -ntp verify -DskipTests -Dfmt.skip", "format": "(mvn -B -ntp fmt:format)"},
		},
		"rewriter that also checks": {
			pomOf("x", bound("spotless-maven-plugin", "apply</goal><goal>check")),
			map[string]string{
				"build": "mvn -B -ntp package -DskipTests", "lint": "mvn -B -ntp verify -DskipTests -Dspotless.apply.skip", "format": "(mvn -B -ntp spotless:apply)",
			},
		},
		"program": {
			pomOf("x", "<build><plugins><plugin><artifactId>spring-boot-maven-plugin</artifactId></plugin><plugin><artifactId>spotless-maven-plugin</artifactId></plugin></plugins></build>"),
			map[string]string{
				"build": "mvn -B -ntp package -DskipTests", "lint": "mvn -B -ntp spotless:check", "run": "(mvn -B -ntp spring-boot:run)", "format": "(mvn -B -ntp spotless:apply)",
			},
		},
		"list of versions": {pomOf("x", "<packaging>pom</packaging>"), map[string]string{}},
		"assembly": {
			pomOf("x", "<packaging>pom</packaging><build><plugins><plugin><artifactId>maven-assembly-plugin</artifactId><executions><execution/></executions></plugin></plugins></build>"),
			map[string]string{"build": "mvn -B -ntp package -DskipTests"},
		},
		"old wrapper": {
			pomOf("x", "") + "-- mvnw --\n-- .mvn/wrapper/maven-wrapper.properties --\ndistributionUrl=https://x/apache-maven-3.5.4-bin.zip\n",
			map[string]string{"build": "sh ./mvnw -B package -DskipTests"},
		},
	} {
		root := adaptertest.Project(t, "-- pom.xml --\n"+c.archive)
		if d := cmp.Diff(c.want, adaptertest.Runs(t, a, root)); d != "" {
			t.Errorf("%s: %s", name, d)
		}
	}
}

// bound returns a build with plugins and the goal that each runs.
func bound(plugins ...string) string {
	text := ""
	for p := range slices.Chunk(plugins, 2) {
		text += "<plugin><artifactId>" + p[0] + "</artifactId><executions><execution><goals><goal>" + p[1] + "</goal></goals></execution></executions></plugin>"
	}
	return "<build><plugins>" + text + "</plugins></build>"
}

func TestSelection(t *testing.T) {
	for name, c := range map[string]struct{ root, module, want string }{
		"a profile":        {"<profiles><profile><id>it</id><modules><module>m</module></modules></profile></profiles>", "m", ""},
		"below a profile":  {"<profiles><profile><id>it</id><modules><module>g</module></modules></profile></profiles>", "g/m", " -pl m -am"},
		"one that is on":   {"<profiles><profile><id>it</id><activation><activeByDefault>true</activeByDefault></activation><modules><module>m</module></modules></profile></profiles>", "m", " -pl m -am"},
		"a blank":          {"<modules><module>my lib</module></modules>", "my lib", " -pl 'my lib' -am"},
		"a sign of -pl":    {"<modules><module>!m</module></modules>", "!m", " -pl ex:m -am"},
		"a comma":          {"<modules><module>a,b</module></modules>", "a,b", " -pl ex:m -am"},
		"Maven 4":          {"<subprojects><subproject>m</subproject></subprojects>", "m", " -pl m -am"},
		"the pom by name":  {"<modules><module>m/pom.xml</module></modules>", "m", " -pl m -am"},
		"not in the build": {"", "m", ""},
	} {
		root := adaptertest.Project(t, "-- pom.xml --\n"+pomOf("root", "<packaging>pom</packaging>"+c.root)+
			"-- g/pom.xml --\n"+pomOf("g", "<packaging>pom</packaging><modules><module>m</module></modules>")+"-- "+c.module+"/pom.xml --\n"+pomOf("m", ""))
		a := New(snapshot.Options{Env: adaptertest.Env()})
		if got := adaptertest.Task(t, a, filepath.Join(root, c.module), "build").Run; got != "mvn -B -ntp"+c.want+" package -DskipTests" {
			t.Errorf("%s: %s", name, got)
		}
	}
}

func TestOddModules(t *testing.T) {
	root := adaptertest.Project(t, "-- w/pom.xml --\n"+pomOf("root", "<packaging>pom</packaging>\n<modules>\n<module>gone</module>\n<module>..</module>\n<module>.</module>\n<module>../../../../../../../../elsewhere</module></modules>"))
	a := New(snapshot.Options{Env: adaptertest.Env()})
	answer := adaptertest.Tasks(t, a, root+"/w")
	var warned []string
	for _, d := range answer.Warnings {
		d.File = adaptertest.Relative(root, d.File)
		warned = append(warned, d.String())
	}
	if len(warned) != 3 || !strings.Contains(strings.Join(warned, "\n"), `w/pom.xml:4: the module "gone" has no pom.xml`) {
		t.Errorf("%q", warned)
	}
	// A file outside the repository becomes a link to it.
	links := adaptertest.Links(t, a, root, root+"/w")
	if len(links) != 1 || !strings.HasSuffix(links[0].Dir, "/elsewhere") || links[0].Line != 7 {
		t.Errorf("%+v", links)
	}
	// Two aggregators that name each other.
	root = adaptertest.Project(t, "-- a/pom.xml --\n"+pomOf("a", "<packaging>pom</packaging><modules><module>..</module></modules>")+"-- pom.xml --\n"+pomOf("r", "<packaging>pom</packaging><modules><module>a</module></modules>"))
	if got := adaptertest.Tasks(t, a, root+"/a"); !got.Aggregate {
		t.Errorf("%+v", got)
	}
}

func TestMalformed(t *testing.T) {
	for text, want := range map[string]string{
		"<project>\n<a></project>":      "pom.xml:2:4: expected </a> for the <a> of line 2, got </project>",
		"<!DOCTYPE project><project/>":  "pom.xml:1:1: a document type is not allowed here",
		"\xef\xbb\xbf<project>\r\n</b>": "pom.xml:2:1: expected </project> for the <project> of line 1",
	} {
		root := adaptertest.Project(t, "")
		adaptertest.Write(t, filepath.Join(root, "pom.xml"), text)
		a := New(snapshot.Options{Env: adaptertest.Env()})
		_, err := a.Tasks(t.Context(), root)
		if got := adaptertest.Where(t, root, err); !strings.HasPrefix(got, want) {
			t.Errorf("%q: %s", text, got)
		}
		if yes, err := a.Detect(t.Context(), root); !yes || err != nil {
			t.Errorf("not detected: %v", err)
		}
	}
	root := adaptertest.Project(t, "")
	adaptertest.Write(t, filepath.Join(root, "pom.xml"), strings.Repeat(" ", snapshot.MaxManifest+1))
	if _, err := New(snapshot.Options{}).Tasks(t.Context(), root); err == nil || !strings.Contains(err.Error(), "larger than 16 MiB") {
		t.Errorf("%v", err)
	}
}

func TestPins(t *testing.T) {
	const release = "<properties>\n<maven.compiler.release>21</maven.compiler.release></properties>"
	enforcer := func(rules string) string {
		return "<build><plugins><plugin><artifactId>maven-enforcer-plugin</artifactId><configuration><rules>" + rules + "</rules></configuration></plugin></plugins></build>"
	}
	a := New(snapshot.Options{Env: adaptertest.Env()})
	for _, c := range []struct{ inside, more, want string }{
		{"", "", ""},
		{release, "", "java >=21 pom.xml:3 strict"},
		{release, "-- .java-version --\n17\n", "java 17 .java-version:1, java >=21 pom.xml:3 strict"},
		{"<properties><java>1.8</java><maven.compiler.source>${java}</maven.compiler.source></properties>", "", "java >=1.8 pom.xml:2 strict"},
		{"<properties><maven.compiler.release>${unknown}</maven.compiler.release></properties>", "", ""},
		{enforcer("<requireJavaVersion><version>[11,18)</version></requireJavaVersion>"), "", "java [11,18) pom.xml:2 strict"},
		{enforcer("<requireJavaVersion><version>(,18)</version></requireJavaVersion>"), "", "java (,18) pom.xml:2 strict"},
		{enforcer("<requireMavenVersion><version>3.9</version></requireMavenVersion>"), "-- .sdkmanrc --\njava=17.0.9-tem\n", "java 17.0.9-tem .sdkmanrc:1, maven >=3.9 pom.xml:2 strict"},
	} {
		root := adaptertest.Project(t, "-- pom.xml --\n"+pomOf("x", c.inside)+c.more)
		pin, err := a.RequiredToolchain(t.Context(), root)
		if err != nil {
			t.Fatal(err)
		}
		if got := adaptertest.Pins(root, pin); got != c.want {
			t.Errorf("%s: %s, want %s", c.inside, got, c.want)
		}
	}
}

func TestCheckPin(t *testing.T) {
	a := New(snapshot.Options{Env: adaptertest.Env()})
	const fingerprint = "openjdk version \"17.0.15\" 2025\nx\nApache Maven 3.8.7\nJava version: 17.0.15\n"
	for _, c := range []struct {
		tool, want, found string
		ok                bool
	}{
		{"java", ">=17", "17.0.15", true}, {"java", ">=99", "17.0.15", false}, {"maven", ">=3.9", "3.8.7", false}, {"maven", ">=3.6", "3.8.7", true},
	} {
		v := a.CheckPin(adapters.Toolchain{Tool: c.tool, Version: c.want}, fingerprint)
		if v.OK != c.ok || v.Found != c.found || !v.OK && v.Hint == "" {
			t.Errorf("%s %s: %+v", c.tool, c.want, v)
		}
	}
}

func TestUserSettings(t *testing.T) {
	a := New(snapshot.Options{Env: adaptertest.Env()})
	a.home = t.TempDir()
	seen := map[string]bool{}
	for _, c := range []struct{ file, text string }{
		{"", ""}, {"settings.xml", "<settings><profiles><profile><id>x</id></profile></profiles></settings>"},
		{"settings.xml", "<settings><profiles><profile><id>y</id></profile></profiles></settings>"}, {"toolchains.xml", "<toolchains/>"},
	} {
		if c.file != "" {
			adaptertest.Write(t, filepath.Join(a.home, ".m2", c.file), c.text)
		}
		got := a.userSettings()
		if seen[got] || c.file == "" && got != "" {
			t.Errorf("%s %s: %q", c.file, c.text, got)
		}
		seen[got] = true
	}
	adaptertest.Write(t, filepath.Join(a.home, ".m2", "settings.xml"), "<settings><mirrors><mirror/></mirrors></settings>")
	if err := os.Remove(filepath.Join(a.home, ".m2", "toolchains.xml")); err != nil {
		t.Fatal(err)
	}
	if got := a.userSettings(); got != "" {
		t.Errorf("mirrors steer: %q", got)
	}
}

func TestAdd(t *testing.T) {
	err := adapters.Add(t.Context(), New(snapshot.Options{}), adapters.AddRequest{DishDir: t.TempDir(), Packages: []string{"g:a:1"}, Dev: true}, nil)
	u, ok := err.(*adapters.Unsupported)
	if !ok || !strings.Contains(u.Hint, "<dependency><groupId>g</groupId><artifactId>a</artifactId><version>1</version><scope>test</scope></dependency>") {
		t.Errorf("%v", err)
	}
}

// What is known of a reactor follows its poms, also those that lead to where the next
// one above is.
func TestAnswersFollowTheFiles(t *testing.T) {
	lines := func(name, inside string) string {
		return "-- " + name + "/pom.xml --\n" + strings.ReplaceAll(pomOf(name, inside), "><", ">\n<")
	}
	root := adaptertest.Project(t, lines("above", "<packaging>pom</packaging><modules><module>../group</module></modules>")+
		lines("group", "<parent><groupId>ex</groupId><artifactId>above</artifactId><version>1.0</version><relativePath>../above</relativePath></parent>"+
			"<packaging>pom</packaging><modules><module>../app</module></modules>")+
		lines("app", "<parent><groupId>ex</groupId><artifactId>group</artifactId><version>1.0</version><relativePath>../group</relativePath></parent>"))
	again := func() adapters.Adapter { return New(snapshot.Options{Env: adaptertest.Env()}) }
	adaptertest.Follows(t, again, root, []string{"pom.xml"})
}
