package devtool

import (
	"path/filepath"
	"strings"

	"github.com/bentobuild/bento/adapters"
)

// Bounds of what Imported reads: of dots and elements of a module's name, of names in one glob, of
// directories around a source, and of its results.
const (
	maxElements = 64
	maxNames    = 30
	maxAround   = 32
	maxImports  = 5_000
)

// SourceFiles are the ends of the names of files that Imported reads.
func SourceFiles() []string { return []string{".py", ".pyi"} }

// Imported returns the files that a source may import, as adapters.SourceImporter has them. A name without
// dots in front may begin in each directory around the source, or in src: which of them Python searches
// is known only when it runs.
func Imported(dir, file string, data []byte) []adapters.Embed {
	s := importScan{dir: dir, file: file, text: string(data), seen: make(map[string]bool)}
	for s.at < len(s.text) && len(s.found) < maxImports {
		s.statement()
	}
	return s.found
}

// importScan reads a source line by line.
type importScan struct {
	dir, file string
	text      string
	at, line  int
	seen      map[string]bool // modules with names
	found     []adapters.Embed
}

// statement reads a line, or more if a list of names goes on.
func (s *importScan) statement() {
	at := s.line + 1
	line := s.next()
	for part := range strings.SplitSeq(line, ";") {
		word, rest, ok := strings.Cut(strings.TrimSpace(part), " ")
		switch {
		case !ok:
		case word == "import":
			for name := range strings.SplitSeq(rest, ",") {
				s.add(at, firstWord(name), nil)
			}
		case word == "from":
			module, names, ok := strings.Cut(rest, "import")
			if !ok {
				break
			}
			names = strings.TrimSpace(names)
			if open := strings.HasPrefix(names, "("); open {
				for !strings.Contains(names, ")") && s.at < len(s.text) && len(names) < maxImports {
					names += "," + s.next()
				}
				names = strings.ReplaceAll(strings.Trim(names, "()"), ")", ",")
			}
			var list []string
			for name := range strings.SplitSeq(names, ",") {
				list = append(list, firstWord(name))
			}
			s.add(at, strings.TrimSpace(module), list)
		}
	}
}

// next returns the next line without its comment, with the lines that continue it.
func (s *importScan) next() (line string) {
	for s.at < len(s.text) {
		text, _, _ := strings.Cut(s.text[s.at:], "\n")
		s.at += len(text) + 1
		s.line++
		text, _, _ = strings.Cut(strings.TrimSuffix(text, "\r"), "#")
		before, on := strings.CutSuffix(text, `\`)
		if line += before; !on || len(line) > maxImports {
			break
		}
	}
	return line
}

func firstWord(text string) string {
	if words := strings.Fields(text); len(words) > 0 {
		return words[0]
	}
	return ""
}

// add adds the files of a module, and of modules in it with one of names.
func (s *importScan) add(line int, module string, names []string) {
	bases := s.bases()
	if rest := strings.TrimLeft(module, "."); rest != module {
		up := filepath.Dir(s.file)
		for range min(len(module)-len(rest), maxElements) - 1 {
			up = filepath.Dir(up)
		}
		module, bases = rest, []string{up}
	}
	elements := strings.Split(module, ".")
	if module == "" {
		elements = nil
	}
	if len(elements) > maxElements || !isNames(elements) {
		return
	}
	for _, base := range bases {
		at := filepath.Join(base, filepath.Join(elements...))
		if n := len(elements); n > 0 {
			s.put(line, filepath.Dir(at), elements[n-1:])
		}
		for rest := names; len(rest) > 0; rest = rest[min(len(rest), maxNames):] {
			s.put(line, at, rest[:min(len(rest), maxNames)])
		}
	}
}

// bases returns the directories in which a module without dots in front may begin.
func (s *importScan) bases() []string {
	list := []string{filepath.Join(s.dir, "src")}
	for at := filepath.Dir(s.file); len(list) < maxAround; at = filepath.Dir(at) {
		if at != list[0] {
			list = append(list, at)
		}
		if at == s.dir || at == filepath.Dir(at) {
			break
		}
	}
	return list
}

// put adds modules in a directory.
func (s *importScan) put(line int, dir string, names []string) {
	var valid []string
	for _, name := range names {
		if isNames([]string{name}) {
			valid = append(valid, name)
		}
	}
	list := strings.Join(valid, ",")
	if key := dir + "\x00" + list; len(valid) > 0 && !s.seen[key] {
		s.seen[key] = true
		glob := "{" + list + "}{.py,.pyi,.so,.*.so,.pyd,/__init__.py,/__init__.pyi}"
		s.found = append(s.found, adapters.Embed{Path: dir, Glob: glob, File: s.file, Line: line})
	}
}

// isNames reports whether a file may have each of the names: a letter is not looked at closely.
func isNames(list []string) bool {
	for _, name := range list {
		for _, c := range []byte(name) {
			if c != '_' && c < 0x80 && (c < '0' || c > '9') && (c < 'A' || c > 'Z') && (c < 'a' || c > 'z') {
				return false
			}
		}
		if name == "" || len(name) > 255 {
			return false
		}
	}
	return true
}
