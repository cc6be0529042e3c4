package main

import "strings"

// repeated is the value of a flag that may be repeated. Unlike the type of pflag, it allocates nothing when
// a flag is defined: each start of bento defines dozens of such flags.
type repeated struct{ list *[]string }

// Set adds a value.
func (r repeated) Set(value string) error {
	*r.list = append(*r.list, value)
	return nil
}

// Type returns the name of the value in the help of a flag whose usage does not name it.
func (r repeated) Type() string { return "stringArray" }

// String returns the values, "" for none.
func (r repeated) String() string { return strings.Join(*r.list, ",") }
