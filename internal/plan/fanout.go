package plan

import (
	"slices"
	"strings"
)

// A script of a workspace's root often only makes a tool run the scripts of the members: "turbo run
// build", "pnpm -r test". fanOut finds that out from the text of the script. A command that it does
// not know is work of the script itself.

// fanOut judges scripts by their texts.
type fanOut struct {
	// script returns the text of a script of the same package, "" for none.
	script func(name string) string
	seen   map[string]bool // scripts that were followed
	// filters are the filters of the commands that hand on to members.
	filters []filter
}

// fansOut reports whether a script only runs scripts of members, and returns the filters of these
// members.
func fansOut(text string, script func(name string) string) (to []filter, ok bool) {
	f := fanOut{script: script, seen: make(map[string]bool)}
	ok = f.all(text)
	return f.filters, ok
}

// all reports whether each command of a script hands on to members, apart from those that only
// print, and at least one does.
func (f *fanOut) all(text string) bool {
	hands := false
	for _, words := range commands(text) {
		if words = unwrap(words); len(words) == 0 || words[0] == "echo" || words[0] == "true" || words[0] == ":" {
			continue
		}
		if !f.one(words) {
			return false
		}
		hands = true
	}
	return hands
}

// one reports whether a command hands on to members.
func (f *fanOut) one(words []string) bool {
	if handsOn(words[0], words[1:]) {
		f.filters = append(f.filters, filterOf(words))
		return true
	}
	program, args := words[0], words[1:]
	switch program {
	case "pnpm", "yarn", "npm", "bun":
		return f.follow(args)
	case "deno":
		return len(args) > 0 && args[0] == "task" && f.follow(args)
	case "run-s", "run-p", "npm-run-all":
		names := named(args)
		return len(names) > 0 && !slices.ContainsFunc(names, func(name string) bool { return !f.called(name) })
	}
	return false
}

// handsOn reports whether a program itself runs scripts of members.
func handsOn(program string, args []string) bool {
	switch program {
	case "turbo", "nx", "lerna", "wireit", "rush", "bento":
		return true
	case "pnpm":
		return hasOption(args, "-r", "--recursive", "-F", "--filter") || slices.Contains(named(args), "recursive")
	case "yarn":
		first := named(args)
		return len(first) > 0 && (first[0] == "workspaces" || first[0] == "workspace")
	case "npm":
		return hasOption(args, "-w", "--workspace", "-ws", "--workspaces")
	case "bun":
		return hasOption(args, "--filter", "-F", "--workspaces")
	case "deno":
		return len(args) > 0 && args[0] == "task" && hasOption(args, "-r", "--recursive", "-f", "--filter")
	}
	return false
}

// follow reports whether a package manager runs a script of the same package that hands on.
func (f *fanOut) follow(args []string) bool {
	names := named(args)
	if len(names) > 1 && slices.Contains([]string{"run", "run-script", "task"}, names[0]) {
		names = names[1:]
	}
	return len(names) > 0 && f.called(names[0])
}

func (f *fanOut) called(name string) bool {
	text := f.script(name)
	if text == "" || f.seen[name] {
		return false
	}
	f.seen[name] = true
	return f.all(text)
}

// hasOption reports whether args have an option, "--name" or "--name=value". Options after "--"
// belong to the script.
func hasOption(args []string, options ...string) bool {
	for _, arg := range args {
		name, _, _ := strings.Cut(arg, "=")
		if arg == "--" {
			return false
		}
		if slices.Contains(options, name) {
			return true
		}
	}
	return false
}

// named returns the words that are no options.
func named(args []string) []string {
	var names []string
	for _, arg := range args {
		if arg == "--" {
			break
		}
		if !strings.HasPrefix(arg, "-") {
			names = append(names, arg)
		}
	}
	return names
}

// unwrap returns a command without the wrappers and assignments that only prepare its environment.
func unwrap(words []string) []string {
	for len(words) > 0 {
		first := words[0]
		switch {
		case isAssignment(first):
			words = words[1:]
		case first == "pn": // pnpm under its short name
			words = append([]string{"pnpm"}, words[1:]...)
		case slices.Contains([]string{"cross-env", "cross-env-shell", "env", "dotenv", "dotenvx", "env-cmd", "npx", "pnpx", "pnx", "bunx", "exec", "command", "time", "nice"}, first):
			words = wrapped(words[1:])
		case len(words) > 1 && slices.Contains([]string{"pnpm exec", "pnpm dlx", "yarn exec", "yarn dlx", "npm exec", "bun x", "dotenvx run"}, first+" "+words[1]):
			words = wrapped(words[2:])
		case len(words) > 1 && first == "yarn" && isFanner(words[1]): // yarn runs installed commands too
			words = words[1:]
		case len(words) > 1 && first == "pnpm" && isFanner(words[1]):
			words = words[1:]
		default:
			return words
		}
	}
	return words
}

func isFanner(word string) bool {
	return slices.Contains([]string{"turbo", "nx", "lerna", "rush"}, word)
}

// wrapped returns the command after the options of a wrapper: after "--" if there is one, else from
// the first word that is neither an option nor the value of one.
func wrapped(args []string) []string {
	if i := slices.Index(args, "--"); i >= 0 {
		return args[i+1:]
	}
	for len(args) > 0 && (strings.HasPrefix(args[0], "-") || args[0] == "run" || isAssignment(args[0])) {
		if slices.Contains([]string{"-e", "-f", "-c", "-v", "-p"}, args[0]) && len(args) > 1 {
			args = args[1:]
		}
		args = args[1:]
	}
	return args
}

func isAssignment(word string) bool {
	name, _, ok := strings.Cut(word, "=")
	return ok && name != "" && strings.Trim(name, "_ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789") == ""
}

// commands splits a script into its commands, and each command into words, as a shell does for plain
// scripts.
func commands(text string) [][]string {
	var list [][]string
	var words []string
	var word strings.Builder
	var quote rune
	open := false // a word has begun
	endWord := func() {
		if open {
			words = append(words, word.String())
			word.Reset()
			open = false
		}
	}
	for _, r := range text {
		switch {
		case quote != 0 && r == quote:
			quote = 0
		case quote != 0:
			word.WriteRune(r)
		case r == '\'' || r == '"':
			quote, open = r, true
		case strings.ContainsRune("&|;\n()", r):
			endWord()
			list, words = append(list, words), nil
		case r == ' ' || r == '\t' || r == '\r':
			endWord()
		default:
			word.WriteRune(r)
			open = true
		}
	}
	endWord()
	return append(list, words)
}
