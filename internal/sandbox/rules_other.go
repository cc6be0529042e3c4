//go:build !linux

package sandbox

import (
	"errors"

	"github.com/bentobuild/bento/internal/proc"
)

// errNoRules is the error of a system without a sandbox for programs.
var errNoRules = errors.New("only Linux can keep a program from files")

// Confine returns an error: it supports only Linux.
func (r *Rules) Confine(s proc.Spec, _ []string, _ string) (confined proc.Spec, started func(), err error) {
	return s, nil, errNoRules
}

// EnterRules returns an error: it supports only Linux.
func EnterRules([]string) error { return errNoRules }
