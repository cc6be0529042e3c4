// Package signature finds the optional methods that an author of a plugin or an extension
// wrote with a wrong signature: they would never be called, and no message would say so.
package signature

import (
	"fmt"
	"reflect"
)

// Check returns an error for a method that v has with another signature than one of the
// one-method interfaces optional, or only with a pointer receiver. main is the function that
// was given v.
func Check(v any, main string, optional ...reflect.Type) error {
	t := reflect.TypeOf(v)
	all := t // has the methods of both receivers
	if t.Kind() != reflect.Pointer {
		all = reflect.PointerTo(t)
	}
	for _, o := range optional {
		want := o.Method(0)
		if t.Implements(o) {
			continue
		}
		if all.Implements(o) {
			return fmt.Errorf("the method %s of %v has a pointer receiver, and %s was given a value: give it a pointer, as in %s(&%s{})", want.Name, t, main, main, t.Name())
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
