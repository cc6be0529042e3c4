package main

import (
	"encoding/json"
	"slices"

	"github.com/spf13/cobra"
)

// traits are what bento knows of a command besides its flags and texts. The command has them as an annotation.
type traits struct {
	Reads   bool     // it changes nothing, so that it may end at any point
	Unless  string   // with this flag it is the opposite of Reads
	Warns   bool     // of keys of the configuration that have no effect
	Strict  bool     // a failed plugin that the workspace needs fails it
	Flags   []string // the global flags that have an effect on it, besides everywhere
	Refuses bool     // it returns errors of its own for the flags of written
}

// annotations returns the annotations of a command with these traits.
func (t traits) annotations() map[string]string {
	data, _ := json.Marshal(t) // no value of it can fail
	return map[string]string{"traits": string(data)}
}

// traitsOf returns the traits of a command.
func traitsOf(cmd *cobra.Command) (t traits) {
	_ = json.Unmarshal([]byte(cmd.Annotations["traits"]), &t) // without the annotation it is the zero value
	return t
}

// onlyReads reports whether the command line of cmd changes nothing.
func (t traits) onlyReads(cmd *cobra.Command) bool {
	return t.Reads != (t.Unless != "" && cmd.Flags().Changed(t.Unless) && cmd.Flags().Lookup(t.Unless).Value.String() != "false")
}

// matters reports whether a global flag has an effect on a command.
func (t traits) matters(flag string) bool {
	return slices.Contains(everywhere, flag) || slices.Contains(t.Flags, flag)
}
