package plugin

import (
	"fmt"
	"reflect"

	"github.com/bentobuild/bento/adapters"
)

// checkMethods returns an error for an optional method that a has with another signature than that
// of its interface, or only with a pointer receiver: without it the method would never be called,
// and nothing would say so.
func checkMethods(a adapters.Adapter) error {
	t := reflect.TypeOf(a)
	all := t // has the methods of both receivers
	if t.Kind() != reflect.Pointer {
		all = reflect.PointerTo(t)
	}
	for _, optional := range []reflect.Type{
		reflect.TypeFor[adapters.TaskLister](),
		reflect.TypeFor[adapters.Linker](),
		reflect.TypeFor[adapters.Scoper](),
		reflect.TypeFor[adapters.Adder](),
		reflect.TypeFor[adapters.ToolchainResolver](),
	} {
		want := optional.Method(0)
		if t.Implements(optional) {
			continue
		}
		if all.Implements(optional) {
			return fmt.Errorf("the method %s of %v has a pointer receiver, and plugin.Main was given a value: give it a pointer, as in plugin.Main(&%s{})", want.Name, t, t.Name())
		}
		if got, ok := all.MethodByName(want.Name); ok {
			return fmt.Errorf("the method %s of %v is %s, want %s", want.Name, t, signature(want.Name, got.Type, 1), signature(want.Name, want.Type, 0))
		}
	}
	return nil
}

// signature returns a method as Go source has it. skip is the number of receivers among its
// parameters.
func signature(name string, t reflect.Type, skip int) string {
	text := name + "("
	for i := skip; i < t.NumIn(); i++ {
		if i > skip {
			text += ", "
		}
		text += t.In(i).String()
	}
	text += ")"
	switch t.NumOut() {
	case 0:
		return text
	case 1:
		return text + " " + t.Out(0).String()
	}
	text += " ("
	for i := range t.NumOut() {
		if i > 0 {
			text += ", "
		}
		text += t.Out(i).String()
	}
	return text + ")"
}
