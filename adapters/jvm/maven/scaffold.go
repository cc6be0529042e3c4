package maven

import (
	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/adapters/jvm"
)

// The versions of plugins are pinned: Maven's defaults depend on its own version.
const newPom = `<?xml version="1.0" encoding="UTF-8"?>
<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>com.example</groupId>
  <artifactId>NAME</artifactId>
  <version>0.1.0</version>
  <properties>
    <maven.compiler.release>` + jvm.JavaRelease + `</maven.compiler.release>
    <project.build.sourceEncoding>UTF-8</project.build.sourceEncoding>
  </properties>
  <dependencies>
    <dependency>
      <groupId>junit</groupId>
      <artifactId>junit</artifactId>
      <version>` + jvm.JUnit + `</version>
      <scope>test</scope>
    </dependency>
  </dependencies>
  <build>
    <plugins>
      <plugin>
        <artifactId>maven-resources-plugin</artifactId>
        <version>3.3.1</version>
      </plugin>
      <plugin>
        <artifactId>maven-compiler-plugin</artifactId>
        <version>3.13.0</version>
      </plugin>
      <plugin>
        <artifactId>maven-surefire-plugin</artifactId>
        <version>3.2.5</version>
      </plugin>
      <plugin>
        <artifactId>maven-jar-plugin</artifactId>
        <version>3.4.2</version>
      </plugin>
      <plugin>
        <artifactId>maven-checkstyle-plugin</artifactId>
        <version>3.3.1</version>
        <configuration>
          <configLocation>config/checkstyle/checkstyle.xml</configLocation>
          <violationSeverity>warning</violationSeverity>
        </configuration>
      </plugin>
    </plugins>
  </build>
</project>
`

// Scaffold implements adapters.Scaffolder. The first build fetches plugins.
func (a *Adapter) Scaffold(name string) ([]adapters.ScaffoldFile, error) {
	return jvm.ScaffoldFiles(name, map[string]string{"pom.xml": newPom}), nil
}
