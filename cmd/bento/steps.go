package main

import (
	"slices"
	"strings"
	"unicode"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// commandsIn returns the command lines of bento that a hint names, in its order. It leaves out those with placeholders,
// and those that lack an argument.
func commandsIn(root *cobra.Command, hint string) (lines []string) {
	words := strings.Fields(hint)
	for i := range words {
		if plainWord(words[i]) != "bento" || i+1 == len(words) {
			continue
		}
		if line, ok := commandAt(root, words[i+1:]); ok && !slices.Contains(lines, line) {
			lines = append(lines, line)
		}
	}
	return lines
}

// sentenceEnds are the signs that end a command in a sentence.
const sentenceEnds = ",;:.)"

// plainWord returns a word of a sentence without the signs around it.
func plainWord(word string) string {
	return strings.TrimRight(strings.TrimLeft(word, "("), sentenceEnds)
}

// commandAt returns the command line that a sentence begins with, after the name of the program.
func commandAt(root *cobra.Command, words []string) (line string, ok bool) {
	cmd, took := root, []string{"bento"}
	needs, value := false, false // an argument; the value of the last flag
	for n, word := range words {
		text := plainWord(word)
		sub := subcommandOf(cmd, text)
		switch {
		case text == "" || isPlaceholder(text) || strings.ContainsAny(text, "\"'`$&|<>()\\"):
			return "", false // no line that a shell would take as it is
		case value:
			value = false
		case sub != nil && len(took) == len(strings.Fields(cmd.CommandPath())):
			cmd, needs = sub, requiresArgument(sub)
		case strings.HasPrefix(text, "-"):
			flag, given := flagOfLine(cmd, text)
			if flag == nil {
				return finished(cmd, took, needs)
			}
			value = flag.NoOptDefVal == "" && !given
		case isArgument(text) || strings.Contains(cmd.Use, " ") && endsSentence(words[n:]):
			needs = false
		default:
			return finished(cmd, took, needs || value)
		}
		took = append(took, text)
		if text != strings.TrimLeft(word, "(") { // a sign ends the command
			break
		}
	}
	return finished(cmd, took, needs || value)
}

// finished returns a command line that a sentence has named, unless that lacks something.
func finished(cmd *cobra.Command, took []string, lacks bool) (line string, ok bool) {
	return strings.Join(took, " "), !lacks && cmd.HasParent() && !cmd.HasAvailableSubCommands() || len(took) > 1 && took[len(took)-1] == "--help"
}

func subcommandOf(cmd *cobra.Command, name string) *cobra.Command {
	for _, sub := range cmd.Commands() {
		if sub.Name() == name {
			return sub
		}
	}
	return nil
}

// flagOfLine returns the flag that a word names, nil for none, and whether the word has its value.
func flagOfLine(cmd *cobra.Command, word string) (flag *pflag.Flag, given bool) {
	name, _, given := strings.Cut(strings.TrimLeft(word, "-"), "=")
	if name == "help" {
		return &pflag.Flag{NoOptDefVal: "true"}, false
	}
	for _, set := range []*pflag.FlagSet{cmd.Flags(), cmd.InheritedFlags()} {
		if flag = set.Lookup(name); flag == nil && len(name) == 1 {
			flag = set.ShorthandLookup(name)
		}
		if flag != nil {
			return flag, given
		}
	}
	return nil, false
}

// requiresArgument reports whether the usage of a command has an argument that is not optional.
func requiresArgument(cmd *cobra.Command) bool {
	depth := 0
	for _, word := range strings.Fields(cmd.Use)[1:] {
		depth += strings.Count(word, "[")
		if depth == 0 {
			return true
		}
		depth -= strings.Count(word, "]")
	}
	return false
}

// isPlaceholder reports whether a word stands for others, as in DISH:TASK.
func isPlaceholder(word string) bool {
	letters := strings.TrimFunc(word, func(c rune) bool { return !unicode.IsLetter(c) })
	for part := range strings.FieldsFuncSeq(letters, func(c rune) bool { return !unicode.IsLetter(c) }) {
		if len(part) > 1 && strings.ToUpper(part) == part {
			return true
		}
	}
	return false
}

// isArgument reports whether a word is no word of a sentence.
func isArgument(word string) bool { return strings.ContainsAny(word, ":/.=@*_0123456789") }

// endsSentence reports whether a sentence has no further word.
func endsSentence(words []string) bool {
	return len(words) == 1 || strings.ContainsAny(words[0], sentenceEnds)
}
