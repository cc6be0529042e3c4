package report

import (
	_ "embed"
	"fmt"
	"io"
	"slices"
	"strings"
)

// Code is the explanation of one code.
type Code struct {
	Code    string `json:"code"`
	Meaning string `json:"meaning"`
	Cause   string `json:"cause"`
	Fix     string `json:"fix"`
}

// Each file has a block of lines for each code: the code, and below it, indented, its meaning, cause and fix.
var (
	//go:embed codes.txt
	ofBento string
	//go:embed setup.txt
	ofSetup string
	//go:embed manifests.txt
	ofManifests string
	//go:embed plugins.txt
	ofPlugins string
	//go:embed packages.txt
	ofPackages string
	//go:embed extensions.txt
	ofExtensions string
	//go:embed remote.txt
	ofRemote string
	//go:embed sandbox.txt
	ofSandbox string
)

// Codes returns every entry, by code.
func Codes() []Code {
	var list []Code
	var part *string // the part that the next line may continue
	for line := range strings.Lines(ofBento + ofSetup + ofManifests + ofPlugins + ofPackages + ofExtensions + ofRemote + ofSandbox) {
		text := strings.TrimSpace(line)
		switch {
		case text == "":
		case text[0] != line[0]:
			part = list[len(list)-1].add(part, text)
		default:
			list = append(list, Code{Code: text})
			part = &list[len(list)-1].Meaning
		}
	}
	slices.SortFunc(list, func(a, b Code) int { return strings.Compare(a.Code, b.Code) })
	return list
}

// add adds a further line of an entry, which begins a part or continues part. It returns the
// part that the next line continues.
func (e *Code) add(part *string, text string) *string {
	if cause, ok := strings.CutPrefix(text, "cause: "); ok {
		part, text = &e.Cause, cause
	} else if fix, ok := strings.CutPrefix(text, "fix: "); ok {
		part, text = &e.Fix, fix
	}
	*part = strings.TrimSpace(*part + " " + text)
	return part
}

// FindCode returns the entry of a code.
func FindCode(name string) (Code, bool) {
	all := Codes()
	i := slices.IndexFunc(all, func(e Code) bool { return e.Code == name })
	if i < 0 {
		return Code{}, false
	}
	return all[i], true
}

// Explained is the document of `bento explain`.
type Explained struct {
	Schema  string `json:"schema"`
	Entries []Code `json:"entries"`
}

// WriteExplained prints codes for people: with whole all of each, else a line.
func WriteExplained(w io.Writer, style Style, doc Explained, whole bool) {
	for _, e := range doc.Entries {
		if !whole {
			fmt.Fprintf(w, "%-26s %s\n", e.Code, e.Meaning)
			continue
		}
		fmt.Fprintf(w, "%s\n  %s\n  cause  %s\n  fix    %s\n", style.Bold(e.Code), e.Meaning, e.Cause, e.Fix)
	}
}
