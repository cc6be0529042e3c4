package main

import "strings"

// repeated is the value of a flag that may be repeated. Unlike that of pflag it costs nothing while
// the flags are defined: there are dozens of such flags, and each start defines all.
type repeated struct{ list *[]string }

// Set adds a value.
func (r repeated) Set(value string) error {
	*r.list = append(*r.list, value)
	return nil
}

// Type is what the help calls the value where the usage of the flag does not name it.
func (r repeated) Type() string { return "stringArray" }

// String returns the values, "" for none.
func (r repeated) String() string { return strings.Join(*r.list, ",") }
