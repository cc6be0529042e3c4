package gradle

import (
	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/adapters/jvm"
)

// Old and new versions of Gradle accept it.
const newBuild = `plugins {
    id 'java'
    id 'checkstyle'
}

repositories {
    mavenCentral()
}

tasks.withType(JavaCompile) {
    options.encoding = 'UTF-8'
}

dependencies {
    testImplementation 'junit:junit:` + jvm.JUnit + `'
}
`

// Scaffold implements adapters.Scaffolder. The first build fetches what its tests and
// Checkstyle need.
func (a *Adapter) Scaffold(name string) ([]adapters.ScaffoldFile, error) {
	return jvm.ScaffoldFiles(name, map[string]string{
		"settings.gradle": "rootProject.name = 'NAME'\n",
		"build.gradle":    newBuild,
	}), nil
}
