//go:build !linux || !(amd64 || arm64)

package observe

import (
	"errors"

	"github.com/bentobuild/bento/internal/action"
	"github.com/bentobuild/bento/internal/proc"
)

// Offered returns "", or the reason why nothing can be observed here.
func Offered() string { return "only Linux on amd64 and arm64 can show which files a program uses" }

// Refused is Offered.
func Refused() string { return Offered() }

// start starts s without observing it.
func (*Executor) start(s proc.Spec, limits *action.Limits) (*process, error) {
	if limits != nil {
		return nil, errors.New(Offered())
	}
	child, err := proc.Start(s)
	return &process{Process: child, unseen: Offered()}, err
}

// Enter is never needed here.
func Enter([]string) error { return errors.New(Offered()) }

type listener struct{ notes *notes }

func (*listener) stop() {}
