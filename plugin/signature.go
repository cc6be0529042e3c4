package plugin

import (
	"reflect"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/plugin/signature"
)

// checkMethods returns an error for an optional method that a has with a wrong signature. Only Main calls it. The
// linker keeps every exported method of a program that looks methods up by name. bento serves adapters in its own
// process: it would be 2.7 MB larger, and its start 11 % slower.
func checkMethods(a adapters.Adapter) error {
	return signature.Check(a, "plugin.Main", optional()...)
}

// optional returns the interfaces of the optional methods, of one method each.
func optional() []reflect.Type {
	return []reflect.Type{
		reflect.TypeFor[adapters.TaskLister](),
		reflect.TypeFor[adapters.Linker](),
		reflect.TypeFor[adapters.Scoper](),
		reflect.TypeFor[adapters.Adder](),
		reflect.TypeFor[adapters.Scaffolder](),
		reflect.TypeFor[adapters.ToolchainResolver](),
		reflect.TypeFor[adapters.InstallPlanner](),
	}
}
