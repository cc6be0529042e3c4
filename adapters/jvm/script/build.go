package script

import "strings"

// Build is a parsed build script, or a script that others apply.
type Build struct {
	Path string // absolute

	// Strings are the plain strings of the script, and those that begin with the directory
	// of the project or of the build ("$rootDir/x").
	Strings []Statement
	// Unsure are dependencies on computed projects.
	Unsure []Statement
	// Accessors are the type-safe names of projects that it uses: "libs.core" of
	// projects.libs.core.
	Accessors []Statement
	// Plugins are the ids of the plugins that it applies. A plugin from a version catalog
	// is "alias:" and its name there, one of unknown id "type:" and the name of its class.
	Plugins []Statement
	// Java are the versions of Java that it requires.
	Java []Java
	// Words are names that report a feature: "testImplementation".
	Words []Statement
}

// Statement is a statement of a script, and the projects that it concerns: Own, All, or the path
// of one.
type Statement struct {
	Text  string
	Scope string
	Line  int
	Test  bool // for tests only
}

// Java is a version of Java that a script requires.
type Java struct {
	Version string // "" for a computed toolchain
	// Toolchain reports whether exactly this release compiles, regardless of PATH. Otherwise Version
	// is the release that the outputs run on.
	Toolchain bool
	Scope     string
	Line      int
}

// ParseBuild reads a build script. path is absolute. The error is a
// diagnostics.Problems.
func ParseBuild(path string, data []byte) (*Build, error) {
	tokens, err := lex(path, data)
	if err != nil {
		return nil, err
	}
	b := &buildReader{Build: &Build{Path: path}, walker: walker{tokens: tokens}}
	for {
		t, ok := b.step()
		if !ok {
			return b.Build, nil
		}
		switch t.kind {
		case text:
			b.string(t)
		case word:
			b.word(t)
		}
	}
}

type buildReader struct {
	*Build
	walker
}

func (b *buildReader) statement(s string, line int) Statement {
	test := len(b.header) > 0 && strings.HasPrefix(b.header[0].text, "test") && b.in("dependencies") || b.in("testing")
	return Statement{Text: s, Scope: b.scope(), Line: line, Test: test}
}

// string adds a string, unless it is the path of the project that the block concerns.
func (b *buildReader) string(t token) {
	if t.computed && !strings.HasPrefix(t.text, "$") {
		return
	}
	if len(b.header) >= 3 && b.header[0].is("project") && b.header[1].is("(") && b.peek(0).is(")") && b.opens() {
		return
	}
	b.Strings = append(b.Strings, b.statement(t.text, t.line))
}

// opens reports whether a block begins after the next parenthesis.
func (b *buildReader) opens() bool {
	i := 1
	for b.peek(i).kind == eol && i < 4 {
		i++
	}
	return b.peek(i).is("{")
}

// testWords returns words that show that a project has tests, or how they run.
func testWords() []string {
	return []string{
		"testImplementation", "testCompile", "testCompileOnly", "testRuntime", "testRuntimeOnly", "testFixtures",
		"useJUnitPlatform", "useJUnit", "useTestNG", "testing", "androidTestImplementation",
	}
}

// word reads the statement that a name begins.
func (b *buildReader) word(t token) {
	switch t.text {
	case "project":
		b.project(t)
	case "projects":
		b.accessor(t)
	case "id", "plugin", "apply", "kotlin", "alias":
		b.plugin(t)
	case "JavaLanguageVersion", "jvmToolchain", "sourceCompatibility", "targetCompatibility", "release":
		b.java(t)
	default:
		for _, name := range testWords() {
			if t.text == name {
				b.Words = append(b.Words, b.statement(name, t.line))
				return
			}
		}
		if b.in("plugins") && !b.in("gradlePlugin") && len(b.header) == 1 && b.peek(0).kind == eol {
			b.applied(t.text, t.line) // java, `java-library`
		}
	}
}

// project adds a dependency on a computed project.
func (b *buildReader) project(t token) {
	if !b.in("dependencies") {
		return
	}
	next := b.peek(0)
	if !next.is("(") && next.kind != text || next.is("(") && b.peek(1).is(")") {
		return // a property of the project, or the project itself
	}
	c := b.arguments(shortCall)
	for _, s := range c.strings {
		if !s.computed {
			if !strings.HasPrefix(s.text, ":") { // relative to the project
				b.Strings = append(b.Strings, b.statement(Absolute(":", s.text), t.line))
			}
			return
		}
	}
	b.Unsure = append(b.Unsure, b.statement("computed project(…)", t.line))
}

// accessor reads projects.libs.core.
func (b *buildReader) accessor(t token) {
	if n := len(b.header); n > 1 && b.header[n-2].is(".") {
		return
	}
	var parts []string
	for i := 0; b.peek(i).is(".") && b.peek(i+1).kind == word && len(parts) < maxSegments; i += 2 {
		parts = append(parts, b.peek(i+1).text)
	}
	if len(parts) > 0 {
		b.Accessors = append(b.Accessors, b.statement(strings.Join(parts, "."), t.line))
	}
}

// plugin reads the ways to apply a plugin.
func (b *buildReader) plugin(t token) {
	if t.text == "alias" {
		b.alias(t)
		return
	}
	c := b.arguments(shortCall)
	plain := len(c.strings) > 0 && !c.strings[0].computed
	switch {
	case t.text == "id" && b.in("plugins") && plain && !b.withheld():
		b.applied(c.strings[0].text, t.line)
	case t.text == "kotlin" && b.in("plugins") && plain && !b.withheld():
		b.applied("org.jetbrains.kotlin."+c.strings[0].text, t.line)
	case t.text == "plugin" && plain && len(b.header) > 1 && (b.header[0].is("apply") || b.in("apply")):
		// apply plugin: 'x', apply(plugin = "x")
		if b.peek(0).is(":") || b.peek(0).is("=") {
			b.applied(c.strings[0].text, t.line)
		}
	case t.text == "apply" && plain && len(b.header) > 2 && (b.header[len(b.header)-3].is("plugins") || b.header[len(b.header)-3].is("pluginManager")):
		b.applied(c.strings[0].text, t.line)
	case t.text == "apply" && b.peek(0).is("<") && b.peek(1).kind == word:
		b.applied("type:"+b.peek(1).text, t.line)
	}
}

func (b *buildReader) applied(id string, line int) {
	b.Plugins = append(b.Plugins, b.statement(id, line))
}

// withheld reports whether "apply false" follows a plugin.
func (b *buildReader) withheld() bool {
	for i := 0; i < shortCall && b.peek(i).kind != eol; i++ {
		if b.peek(i).is("apply") && (b.peek(i+1).is("false") || b.peek(i+2).is("false")) {
			return true
		}
	}
	return false
}

// alias reads alias(libs.plugins.x.y).
func (b *buildReader) alias(t token) {
	if b.withheld() {
		return
	}
	var parts []string
	for i := 0; i < shortCall && b.peek(i).kind != eol && !b.peek(i).is(")"); i++ {
		if b.peek(i).kind == word {
			parts = append(parts, b.peek(i).text)
		}
	}
	if len(parts) > 2 && parts[1] == "plugins" {
		b.applied("alias:"+strings.Join(parts[2:], "."), t.line)
	}
}

// java reads the version after a name. It skips a computed version, but records a computed
// toolchain.
func (b *buildReader) java(t token) {
	toolchain := t.text == "JavaLanguageVersion" || t.text == "jvmToolchain"
	if t.text == "release" && !b.in("options") && !after(b.header, "options", ".") {
		return
	}
	for i := 0; i < 8; i++ {
		next := b.peek(i)
		if next.kind == eol || next.is("{") || next.is("}") {
			break
		}
		version := next.text
		if name, ok := strings.CutPrefix(version, "VERSION_"); ok && next.kind == word {
			version = strings.ReplaceAll(name, "_", ".")
		} else if next.kind == word || next.computed {
			continue
		}
		if version != "" && version[0] >= '0' && version[0] <= '9' {
			b.Java = append(b.Java, Java{version, toolchain, b.scope(), t.line})
			return
		}
	}
	if toolchain {
		b.Java = append(b.Java, Java{"", true, b.scope(), t.line})
	}
}

// after reports whether signs precede the last token of a statement.
func after(header []token, signs ...string) bool {
	before := header[:max(0, len(header)-1)]
	if len(before) < len(signs) {
		return false
	}
	before = before[len(before)-len(signs):]
	for i, sign := range signs {
		if !before[i].is(sign) {
			return false
		}
	}
	return true
}
