package pom

import (
	"encoding/binary"
	"errors"
	"strings"
	"testing"
	"time"
	"unicode/utf16"

	"github.com/google/go-cmp/cmp"

	"github.com/bentobuild/bento/diagnostics"
)

const whole = `<?xml version="1.0" encoding="UTF-8"?>
<!-- a comment -->
<project xmlns="http://maven.apache.org/POM/4.0.0">
  <parent>
    <groupId>com.example</groupId><artifactId>top</artifactId><version>1.0</version>
    <relativePath>../top</relativePath>
  </parent>
  <artifactId>app</artifactId>
  <packaging> jar </packaging>
  <properties><dep.version>2.${minor}</dep.version><minor>3</minor><maven.compiler.release>17</maven.compiler.release></properties>
  <modules><module>one</module><module>../two/</module></modules>
  <dependencies>
    <dependency><groupId>${project.groupId}</groupId><artifactId>lib</artifactId><version>${project.version}</version></dependency>
    <dependency><groupId>junit</groupId><artifactId>junit</artifactId><scope>test</scope></dependency>
  </dependencies>
  <dependencyManagement><dependencies>
    <dependency><groupId>g</groupId><artifactId>bom</artifactId><version>${dep.version}</version><type>pom</type><scope>import</scope></dependency>
    <dependency><groupId>g</groupId><artifactId>managed</artifactId><version>1</version></dependency>
  </dependencies></dependencyManagement>
  <build>
    <pluginManagement><plugins><plugin><artifactId>maven-checkstyle-plugin</artifactId>
      <executions><execution><goals><goal>check</goal></goals></execution></executions></plugin></plugins></pluginManagement>
    <plugins>
      <plugin><artifactId>maven-checkstyle-plugin</artifactId>
        <configuration><configLocation>${maven.multiModuleProjectDirectory}/checkstyle.xml</configLocation></configuration>
        <dependencies><dependency><groupId>com.example</groupId><artifactId>rules</artifactId><version>1.0</version></dependency></dependencies></plugin>
      <plugin><artifactId>maven-enforcer-plugin</artifactId><executions><execution><configuration><rules>
        <requireJavaVersion><version>[11,)</version></requireJavaVersion></rules></configuration></execution></executions></plugin>
    </plugins>
  </build>
  <profiles>
    <profile><id>it</id><modules><module>it</module></modules></profile>
    <profile><id>on</id><activation><activeByDefault>true</activeByDefault></activation><modules><module>extra</module></modules></profile>
  </profiles>
</project>
`

func parse(t *testing.T, path, text string) *Model {
	t.Helper()
	m, err := Parse(path, []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func TestParse(t *testing.T) {
	m := parse(t, "/w/app/pom.xml", whole)
	if m.Parent.Path != "/w/top/pom.xml" || m.Parent.Line != 4 || m.Packaging.Text != "jar" || m.Artifact != (Value{"app", 8}) {
		t.Errorf("%+v %+v", m, m.Parent)
	}
	modules := map[string]Module{"/w/app/one": {Line: 11}, "/w/two": {Line: 11}, "/w/app/it": {32, "it"}, "/w/app/extra": {Line: 33}}
	if d := cmp.Diff(modules, m.Modules); d != "" {
		t.Error(d)
	}
	var uses []string
	for _, u := range m.Uses {
		uses = append(uses, u.Group+":"+u.Artifact)
	}
	want := []string{
		"${project.groupId}:lib", "junit:junit", "g:bom", "org.apache.maven.plugins:maven-checkstyle-plugin", "com.example:rules",
		"org.apache.maven.plugins:maven-enforcer-plugin", "org.apache.maven.plugins:maven-checkstyle-plugin",
	}
	if d := cmp.Diff(want, uses); d != "" {
		t.Error(d)
	}
	if !m.Uses[1].Test || m.Uses[0].Test || m.Rules["requireJavaVersion"] != (Value{"[11,)", 28}) {
		t.Errorf("%+v %+v", m.Uses[:2], m.Rules)
	}
	if len(m.Texts) != 1 || m.Texts[0].Line != 25 {
		t.Errorf("texts %+v", m.Texts)
	}
}

func TestChain(t *testing.T) {
	top := parse(t, "/w/top/pom.xml", `<project><groupId>com.example</groupId><artifactId>top</artifactId><version>1.0</version>
<properties><minor>9</minor><own>${project.artifactId}</own><loop>${loop}</loop><a>${b}${b}</a><b>${a}${a}</b><maven.compiler.release>${jdk}</maven.compiler.release><jdk>11</jdk></properties></project>`)
	c := Chain{parse(t, "/w/app/pom.xml", whole), top}
	if !c[0].Parent.Matches(top) {
		t.Error("it is the parent")
	}
	if got := c.Coordinates(); got != (Coordinates{"com.example", "app", "1.0"}) {
		t.Errorf("%+v", got)
	}
	for text, want := range map[string]string{
		"${dep.version}": "2.3", "${own}-x": "app-x", "${project.parent.artifactId}": "top", "${none}": "${none}?", "${loop}": "?", "${a}": "?", "$x ${": "$x ${",
	} {
		got, ok := c.Expand(text)
		if strings.HasSuffix(want, "?") {
			if ok || want != "?" && got+"?" != want {
				t.Errorf("%s: %.100q %v", text, got, ok)
			}
		} else if !ok || got != want {
			t.Errorf("%s: %q %v", text, got, ok)
		}
	}
	if has, bound := c.Plugin("maven-checkstyle-plugin"); !has || !bound {
		t.Error("checkstyle is bound where it is managed")
	}
	if has, _ := c.Plugin("maven-pmd-plugin"); has {
		t.Error("there is no pmd")
	}
	if v, in := (Chain{top}).Compiler("release"); v.Text != "11" || in != top {
		t.Errorf("release %+v", v)
	}
}

func TestCompilerWinsOverItsProperty(t *testing.T) {
	m := parse(t, "/w/pom.xml", `<project><properties><maven.compiler.release>8</maven.compiler.release></properties><build><plugins><plugin>
<artifactId>maven-compiler-plugin</artifactId><configuration><release>${maven.compiler.release}</release></configuration></plugin></plugins></build></project>`)
	if v, _ := (Chain{m}).Compiler("release"); v.Text != "8" || v.Line != 2 {
		t.Errorf("%+v", v)
	}
}

func TestEncodings(t *testing.T) {
	text := `<?xml version="1.0" encoding="UTF-16"?><project><artifactId>ä</artifactId></project>`
	units := utf16.Encode([]rune("\ufeff" + text))
	little, big := make([]byte, 0, 2*len(units)), make([]byte, 0, 2*len(units))
	for _, u := range units {
		little, big = binary.LittleEndian.AppendUint16(little, u), binary.BigEndian.AppendUint16(big, u)
	}
	for name, data := range map[string]string{
		"little": string(little), "big": string(big), "mark": "\xef\xbb\xbf" + strings.Replace(text, "UTF-16", "utf-8", 1),
		"latin": strings.NewReplacer("UTF-16", "ISO-8859-1", "ä", "\xe4").Replace(text), "entity": "<project><artifactId>&auml;</artifactId></project>",
		"lines": "<project>\r\n<artifactId>\r\nä\r\n</artifactId></project>\r\n",
		"long":  strings.NewReplacer("UTF-16", "latin1", "ä", "\xe4").Replace(text) + "<!--" + strings.Repeat("\xe4", 100_000) + "-->",
	} {
		m, err := Parse("/w/pom.xml", []byte(data))
		if err != nil || m.Artifact.Text != "ä" {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestMalformed(t *testing.T) {
	for text, want := range map[string]string{
		"":                    "1:1: expected an XML document, got none",
		"{}":                  `1:1: expected an element, got the text "{}"`,
		"<project>":           "1:10: the file ends inside <project>, which begins in line 1",
		"<a/>":                "1:1: expected <project>, got <a>",
		"<project/>\n<a/>":    "2:1: expected one element, got <a> after <project>",
		"<project>\n <a></b>": "2:5: expected </a> for the <a> of line 2, got </b>",
		"</a>":                "1:1: </a> closes nothing",
		"<project>\n&x;":      "2:4: invalid character entity &x;",
		"<project>\n<a b>":    "2:6: attribute name without = in element",
		"<!DOCTYPE p [<!ENTITY a \"b\"><!ENTITY c \"&a;&a;\">]>\n<project>&c;</project>": "1:1: a document type is not allowed here: it could define entities or read other files",
		"<!DOCTYPE p SYSTEM \"file:///etc/passwd\"><project/>":                           "1:1: a document type is not allowed here: it could define entities or read other files",
		"<?xml version=\"1.0\" encoding=\"EBCDIC\"?><project/>":                          `1:40: xml: opening charset "EBCDIC": the encoding "EBCDIC" is not known`,
		"\xff\xfe<":     "1:1: UTF-16 with half a character at the end",
		"<project>\x00": "1:11: illegal character code U+0000",
		"<project>\n<version/>\n<version/></project>": "3:1: <version> occurs twice in <project>, first in line 2",
		strings.Repeat("<a>", 200):                    "1:385: elements are nested more than 128 deep",
	} {
		_, err := Parse("/w/pom.xml", []byte(text))
		var p diagnostics.Problems
		if !errors.As(err, &p) || len(p) != 1 || p[0].File != "/w/pom.xml" {
			t.Errorf("%.40q: %v", text, err)
			continue
		}
		p[0].File = "f"
		if got := strings.TrimPrefix(p[0].String(), "f:"); got != want {
			t.Errorf("%.40q:\n%s\nwant %s", text, got, want)
		}
	}
}

// What is hostile costs time in proportion to its size.
func TestHostile(t *testing.T) {
	start := time.Now()
	for _, text := range []string{
		"<project>" + strings.Repeat("a<!---->", 100_000) + "</project>",
		"<project>" + strings.Repeat("<a/>", 600_000) + "</project>",
		"<project><properties>" + strings.Repeat("<a>${a}</a>", 50_000) + "</properties></project>",
		"<project>" + strings.Repeat("&lt;", 200_000) + "</project>",
	} {
		Parse("/w/pom.xml", []byte(text))
	}
	if spent := time.Since(start); spent > 2*time.Minute {
		t.Errorf("%v", spent)
	}
}

func TestSteers(t *testing.T) {
	plain := `<settings><mirrors><mirror><url>x</url></mirror></mirrors><servers><server><password>p</password></server></servers></settings>`
	if got := Steers([]byte(plain)); got != "" {
		t.Errorf("mirrors steer: %s", got)
	}
	one := Steers([]byte(strings.Replace(plain, "</servers>", "</servers><activeProfiles><activeProfile>a</activeProfile></activeProfiles>", 1)))
	two := Steers([]byte(strings.Replace(plain, "</servers>", "</servers><activeProfiles><activeProfile>b</activeProfile></activeProfiles>", 1)))
	if one == "" || one == two || Steers([]byte("<")) == "" {
		t.Errorf("%q %q", one, two)
	}
}
