package gradle

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bentobuild/bento/adapters/adaptertest"
	"github.com/bentobuild/bento/adapters/snapshot"
)

// big writes a build of n projects, each with up to five others, and returns the
// directories of all.
func big(tb testing.TB, n int) (dirs []string) {
	root := adaptertest.Project(tb, "-- build.gradle --\nsubprojects {\n    apply plugin: 'java'\n    repositories { mavenCentral() }\n    sourceCompatibility = 11\n    dependencies { testImplementation 'junit:junit:4.13.2' }\n}\n-- gradle.properties --\n-- gradle/libs.versions.toml --\n[plugins]\na = \"b:1\"\n")
	var settings strings.Builder
	settings.WriteString("rootProject.name = 'big'\n")
	for i := range n {
		dir := fmt.Sprintf("g%d/m%d", i/50, i)
		fmt.Fprintf(&settings, "include ':g%d:m%d'\n", i/50, i)
		var deps strings.Builder
		for k := 1; k <= 5 && i >= k*7; k++ {
			fmt.Fprintf(&deps, "    implementation project(':g%d:m%d')\n", (i-k*7)/50, i-k*7)
		}
		for k := range 10 {
			fmt.Fprintf(&deps, "    implementation \"org.far%d:far-%d:1.%d\"\n", k, k, k)
		}
		adaptertest.Write(tb, filepath.Join(root, dir, "build.gradle"), "dependencies {\n"+deps.String()+"}\n")
		dirs = append(dirs, filepath.Join(root, dir))
	}
	adaptertest.Write(tb, filepath.Join(root, "settings.gradle"), settings.String())
	return append(dirs, root)
}

func TestBigBuild(t *testing.T) {
	if links := adaptertest.AskAll(t, New(snapshot.Options{Env: adaptertest.Env()}), big(t, 120)); links != 120*5-(5+4+3+2+1)*7 {
		t.Errorf("%d links", links)
	}
}

func BenchmarkBuild1000(b *testing.B) {
	dirs := big(b, 1000)
	for b.Loop() {
		adaptertest.AskAll(b, New(snapshot.Options{Env: adaptertest.Env()}), dirs)
	}
}
