package jsonfile

import "github.com/bentobuild/bento/diagnostics"

// Entry is a name with a text, and its place.
type Entry struct {
	Name  string
	Value string
	Line  int // 1-based, 0 for a missing entry
}

// Find returns the entry of that name, with Line 0 when it is missing.
func Find(list []Entry, name string) Entry {
	for _, e := range list {
		if e.Name == name {
			return e
		}
	}
	return Entry{Name: name}
}

// Fields reads the members of one file, and collects the problems of values of a wrong type.
type Fields struct {
	Path     string
	Problems diagnostics.Problems
}

// Wrong adds the problem of a value that is not what is wanted.
func (f *Fields) Wrong(v *Value, name, want string) {
	f.Problems = append(f.Problems, v.Mistyped(f.Path, name, want))
}

// Text reads an optional string.
func (f *Fields) Text(object *Value, name string) Entry {
	for _, m := range object.Members() {
		if m.Name != name || m.Value.Kind() == Null {
			continue
		}
		if m.Value.Kind() != String {
			f.Wrong(m.Value, name, "a string")
		}
		return Entry{Name: name, Value: m.Value.Text(), Line: m.Line}
	}
	return Entry{Name: name}
}
