package main

// jvmTasks returns the tasks of the fixtures of Maven and Gradle.
func jvmTasks() []string {
	return []string{"lib:build", "lib:lint", "lib:test", "app:build", "app:lint", "app:test"}
}

func jvmToolchains() []toolchain {
	both := toolchain{
		tasks:   jvmTasks(),
		library: edit{"lib/src/main/java/shelf/Labels.java", `"book: "`, `"book" + ": "`},
		program: edit{"app/src/main/java/shelf/App.java", "append('\\n')", `append("\n")`},
		test: breakage{
			edit: edit{"lib/src/test/java/shelf/LabelsTest.java", `"book: Emma"`, `"book: Ada"`},
			task: "lib:test", says: "titlesBeginWithACapital", place: "lib/src/test/java/shelf/LabelsTest.java:10",
		},
		compile: breakage{
			edit: edit{"lib/src/main/java/shelf/Labels.java", "StringUtils.capitalize", "StringUtils.capitalise"},
			task: "lib:build", says: "capitalise", place: "lib/src/main/java/shelf/Labels.java:12",
		},
		// Without a lockfile, the manifest decides the versions. The edit changes that of the application.
		locked: []string{"app"}, lockKeeps: true,
		nothing: true,
		asks:    "99",
	}
	maven, gradle := both, both
	maven.id, maven.needs, maven.version = "maven", []string{"mvn", "javac"}, []string{"sh", "-c", "mvn -v 2>/dev/null | grep -o 'Apache Maven [0-9.]*'"}
	maven.lock = func(k *kitchen) {
		k.make(edit{"app/pom.xml", "  </dependencies>", "    <dependency>\n      <groupId>org.apache.commons</groupId>\n      <artifactId>commons-lang3</artifactId>\n      <version>3.14.0</version>\n    </dependency>\n  </dependencies>"})
	}
	maven.pin = edit{"pom.xml", "<maven.compiler.release>17<", "<maven.compiler.release>99<"}
	gradle.id, gradle.needs, gradle.version = "gradle", []string{"gradle", "javac"}, []string{"sh", "-c", "gradle --version 2>&1 | grep ^Gradle"}
	gradle.lock = func(k *kitchen) {
		k.make(edit{"app/build.gradle", "implementation project", "implementation 'org.apache.commons:commons-lang3:3.14.0'\n    implementation project"})
	}
	gradle.pin = edit{"build.gradle", "JavaVersion.VERSION_1_8", "'99'"}
	return []toolchain{maven, gradle}
}
