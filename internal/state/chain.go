package state

import (
	"encoding/json"
	"slices"
	"strings"
)

// Inside is the variable that holds the Chain of a run. Every process of the run has it, also with a strict
// environment. By it a bento inside a task does not wait for the run that waits for it, and does not start its own
// task again.
const Inside = "BENTO_INSIDE"

// Step is one piece of work in a workspace.
type Step struct {
	Root string // of the workspace
	Work string // the id of a task, or another name of what runs there
}

// Chain is the work that a process belongs to: each step was started by the one before.
type Chain []Step

// maxChain is the largest size of a chain that is read, in bytes.
const maxChain = 64 << 10

// ParseChain reads the value of Inside. A value that no bento wrote is an empty chain.
func ParseChain(value string) Chain {
	var c Chain
	if len(value) > maxChain || json.Unmarshal([]byte(value), &c) != nil {
		return nil
	}
	return c
}

// With returns the value of Inside for a step that the last one starts.
func (c Chain) With(root, work string) string {
	text, err := json.Marshal(append(slices.Clip(c), Step{root, work}))
	if err != nil {
		panic(err) // impossible for strings
	}
	return string(text)
}

// In reports whether a step of the chain is in the workspace at root.
func (c Chain) In(root string) bool {
	return slices.ContainsFunc(c, func(s Step) bool { return s.Root == root })
}

// Has reports whether the chain has a step.
func (c Chain) Has(root, work string) bool { return slices.Contains(c, Step{root, work}) }

// Words returns the chain for a sentence: its steps, and the workspaces of those that are not in root.
func (c Chain) Words(root string) string {
	words := make([]string, len(c))
	for i, s := range c {
		if words[i] = s.Work; s.Root != root {
			words[i] += " of " + s.Root
		}
	}
	return strings.Join(words, " → ")
}
