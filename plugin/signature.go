package plugin

import (
	"reflect"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/plugin/signature"
)

// checkMethods returns an error for an optional method that a has with a wrong signature.
func checkMethods(a adapters.Adapter) error {
	return signature.Check(a, "plugin.Main",
		reflect.TypeFor[adapters.TaskLister](),
		reflect.TypeFor[adapters.Linker](),
		reflect.TypeFor[adapters.Scoper](),
		reflect.TypeFor[adapters.Adder](),
		reflect.TypeFor[adapters.Scaffolder](),
		reflect.TypeFor[adapters.ToolchainResolver](),
		reflect.TypeFor[adapters.InstallPlanner](),
	)
}
