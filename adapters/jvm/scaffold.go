package jvm

import (
	"strings"

	"github.com/bentobuild/bento/adapters"
)

// The versions that new projects use.
const (
	JUnit       = "4.13.2"
	JavaRelease = "11"
)

const greeting = `package com.example;

/** Greets. */
public final class Greeting {
    private Greeting() {
    }

    /** A greeting for this name. */
    public static String of(String name) {
        return "Hello, " + name + "!";
    }

    public static void main(String[] names) {
        for (String name : names) {
            System.out.println(of(name));
        }
    }
}
`

const greetingTest = `package com.example;

import static org.junit.Assert.assertEquals;

import org.junit.Test;

public class GreetingTest {
    @Test
    public void greetsByName() {
        assertEquals("Hello, Ada!", Greeting.of("Ada"));
    }
}
`

const checkstyleRules = `<?xml version="1.0"?>
<!DOCTYPE module PUBLIC "-//Puppy Crawl//DTD Check Configuration 1.3//EN" "http://www.puppycrawl.com/dtds/configuration_1_3.dtd">
<module name="Checker">
  <module name="TreeWalker">
    <module name="AvoidStarImport"/>
    <module name="EmptyStatement"/>
    <module name="UnusedImports"/>
  </module>
</module>
`

// ScaffoldFiles returns the files of a project: a class, its test, rules for Checkstyle, and the given files of
// the build by path, with NAME replaced by the name.
func ScaffoldFiles(name string, build map[string]string) []adapters.ScaffoldFile {
	var files []adapters.ScaffoldFile
	add := func(path, text string) {
		files = append(files, adapters.ScaffoldFile{Path: path, Data: []byte(strings.ReplaceAll(text, "NAME", name))})
	}
	for _, path := range []string{"pom.xml", "settings.gradle", "build.gradle"} {
		if text, ok := build[path]; ok {
			add(path, text)
		}
	}
	add("config/checkstyle/checkstyle.xml", checkstyleRules)
	add("src/main/java/com/example/Greeting.java", greeting)
	add("src/test/java/com/example/GreetingTest.java", greetingTest)
	return files
}
