package maven

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bentobuild/bento/adapters/adaptertest"
	"github.com/bentobuild/bento/adapters/snapshot"
)

// big writes a reactor of n modules in groups of fifty, each with up to five others and ten
// external artifacts, and returns the directories of all projects.
func big(tb testing.TB, n int) (root string, dirs []string) {
	root = adaptertest.Project(tb, "")
	const parent = "<parent><groupId>ex</groupId><artifactId>%s</artifactId><version>1-SNAPSHOT</version></parent><artifactId>%s</artifactId>\n"
	add := func(dir, text string) {
		dir = filepath.Join(root, dir)
		adaptertest.Write(tb, filepath.Join(dir, "pom.xml"), "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<project xmlns=\"http://maven.apache.org/POM/4.0.0\">\n"+text+"</project>\n")
		dirs = append(dirs, dir)
	}
	var top, managed strings.Builder
	for g := range (n + 49) / 50 {
		fmt.Fprintf(&top, "<module>g%d</module>\n", g)
		var modules strings.Builder
		for i := g * 50; i < min(n, g*50+50); i++ {
			fmt.Fprintf(&modules, "<module>m%d</module>\n", i)
			var deps strings.Builder
			for k := 1; k <= 5 && i >= k*7; k++ {
				fmt.Fprintf(&deps, "  <dependency>\n    <groupId>${project.groupId}</groupId>\n    <artifactId>m%d</artifactId>\n    <version>${project.version}</version>\n  </dependency>\n", i-k*7)
			}
			for k := range 10 {
				fmt.Fprintf(&deps, "  <dependency>\n    <groupId>org.far%d</groupId>\n    <artifactId>far-%d</artifactId>\n  </dependency>\n", (i+k)%150, (i+k)%150)
			}
			add(fmt.Sprintf("g%d/m%d", g, i), fmt.Sprintf(parent, fmt.Sprintf("g%d", g), fmt.Sprintf("m%d", i))+"<dependencies>\n"+deps.String()+"</dependencies>\n")
		}
		add(fmt.Sprintf("g%d", g), fmt.Sprintf(parent, "root", fmt.Sprintf("g%d", g))+"<packaging>pom</packaging><modules>"+modules.String()+"</modules>\n")
	}
	for i := range 150 {
		fmt.Fprintf(&managed, "<dependency><groupId>org.far%d</groupId><artifactId>far-%d</artifactId><version>1.%d</version></dependency>\n", i, i, i)
	}
	add("", "<groupId>ex</groupId><artifactId>root</artifactId><version>1-SNAPSHOT</version><packaging>pom</packaging><modules>\n"+top.String()+
		"</modules><dependencyManagement><dependencies>"+managed.String()+"</dependencies></dependencyManagement>\n")
	return root, dirs
}

func TestBigReactor(t *testing.T) {
	_, dirs := big(t, 120)
	// 120 modules with ten artifacts from elsewhere each, and five of the reactor but for the first.
	if links := adaptertest.AskAll(t, New(snapshot.Options{Env: adaptertest.Env()}), dirs); links != 120*10+120*5-(5+4+3+2+1)*7 {
		t.Errorf("%d links", links)
	}
}

func BenchmarkReactor1000(b *testing.B) {
	_, dirs := big(b, 1000)
	for b.Loop() {
		adaptertest.AskAll(b, New(snapshot.Options{Env: adaptertest.Env()}), dirs)
	}
}
