package plugin

import (
	"context"
	"strings"
	"testing"

	"github.com/bentobuild/bento/adapters"
)

type wrongLinks struct{ bare }

func (wrongLinks) Links(context.Context, string) ([]string, error) { return nil, nil }

type wrongTasks struct{ bare }

func (*wrongTasks) Tasks(string) adapters.TasksAnswer { return adapters.TasksAnswer{} }

type wrongScope struct{ bare }

func (wrongScope) InstallScope() {}

type byPointer struct{ bare }

func (*byPointer) Links(context.Context, string) (adapters.LinksAnswer, error) {
	return adapters.LinksAnswer{}, nil
}

// TestMethodOfAnotherSignature checks adapters whose optional methods have a signature that bento never
// calls.
func TestMethodOfAnotherSignature(t *testing.T) {
	for _, c := range []struct {
		name string
		a    adapters.Adapter
		want string // "" for none
	}{
		{"none", bare{}, ""},
		{"right, by pointer", &byPointer{}, ""},
		{"results", wrongLinks{}, "the method Links of plugin.wrongLinks is Links(context.Context, string) ([]string, error), want Links(context.Context, string) (adapters.LinksAnswer, error)"},
		{"parameters", &wrongTasks{}, "is Tasks(string) adapters.TasksAnswer, want Tasks(context.Context, string) (adapters.TasksAnswer, error)"},
		{"a pointer receiver", wrongTasks{}, "is Tasks(string) adapters.TasksAnswer, want"},
		{"no result", wrongScope{}, "is InstallScope(), want InstallScope(context.Context, string) (adapters.Scope, error)"},
		{"a value for a pointer", byPointer{}, "plugin.Main(&byPointer{})"},
	} {
		t.Run(c.name, func(t *testing.T) {
			err := checkMethods(c.a)
			switch {
			case c.want == "" && err != nil:
				t.Errorf("got %v, want no error", err)
			case c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)):
				t.Errorf("got %v, want %q", err, c.want)
			}
		})
	}
}
