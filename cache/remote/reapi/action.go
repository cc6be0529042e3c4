package reapi

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/bentobuild/bento/cache/remote"
)

// Variable is a name and a value: a variable of an environment, or a property of a platform.
type Variable struct{ Name, Value string }

// Command is the command of an action.
type Command struct {
	Argv       []string
	Env        []Variable
	Dir        string   // the working directory, relative to the input root
	Outputs    []string // paths relative to Dir
	Properties []Variable
}

// Encode returns the Command of the API: arguments = 1, environment_variables = 2, platform = 5, working_directory = 6,
// output_paths = 7, output_node_properties = 8. Lists of which the order is of no consequence are sorted, as the API demands.
func (c *Command) Encode() []byte {
	var b []byte
	for _, word := range c.Argv {
		b = appendMessage(b, 1, word)
	}
	for _, v := range sortedVariables(c.Env) {
		b = appendMessage(b, 2, encodeVariable(v))
	}
	if len(c.Properties) > 0 {
		b = appendMessage(b, 5, encodePlatform(c.Properties))
	}
	b = appendBytes(b, 6, c.Dir)
	for _, p := range slices.Compact(slices.Sorted(slices.Values(c.Outputs))) {
		b = appendMessage(b, 7, p)
	}
	return appendMessage(b, 8, "unix_mode")
}

func sortedVariables(list []Variable) []Variable {
	return slices.SortedFunc(slices.Values(list), func(a, b Variable) int {
		return cmp.Or(strings.Compare(a.Name, b.Name), strings.Compare(a.Value, b.Value))
	})
}

func encodeVariable(v Variable) []byte { return appendBytes(appendBytes(nil, 1, v.Name), 2, v.Value) }

func encodePlatform(properties []Variable) (b []byte) {
	for _, p := range sortedVariables(properties) {
		b = appendMessage(b, 1, encodeVariable(p))
	}
	return b
}

// Action is what a server executes.
type Action struct {
	Command, Root remote.Digest
	Timeout       time.Duration // 0 for none
	Salt          []byte
	Properties    []Variable // those of the command
}

// Encode returns the Action of the API: command_digest = 1, input_root_digest = 2, timeout = 6, salt = 9, platform = 10.
func (a *Action) Encode() []byte {
	b := appendDigest(nil, 1, a.Command)
	b = appendDigest(b, 2, a.Root)
	if a.Timeout > 0 {
		m := appendNumber(nil, 1, uint64(a.Timeout/time.Second))
		b = appendMessage(b, 6, appendNumber(m, 2, uint64(a.Timeout%time.Second)))
	}
	b = appendBytes(b, 9, a.Salt)
	if len(a.Properties) > 0 {
		b = appendMessage(b, 10, encodePlatform(a.Properties))
	}
	return b
}

// Encode returns the Directory of the API: files = 1, directories = 2, symlinks = 3, each sorted by name.
func (d *Directory) Encode() []byte {
	var b []byte
	slices.SortFunc(d.Files, func(x, y File) int { return strings.Compare(x.Path, y.Path) })
	for _, f := range d.Files {
		m := appendDigest(appendBytes(nil, 1, f.Path), 2, f.Digest)
		if f.Exec {
			m = appendNumber(m, 4, 1)
		}
		b = appendMessage(b, 1, m)
	}
	slices.SortFunc(d.Dirs, func(x, y Dir) int { return strings.Compare(x.Path, y.Path) })
	for _, sub := range d.Dirs {
		b = appendMessage(b, 2, appendDigest(appendBytes(nil, 1, sub.Path), 2, sub.Digest))
	}
	slices.SortFunc(d.Links, func(x, y Link) int { return strings.Compare(x.Path, y.Path) })
	for _, l := range d.Links {
		b = appendMessage(b, 3, appendBytes(appendBytes(nil, 1, l.Path), 2, l.Target))
	}
	return b
}
