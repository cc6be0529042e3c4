package plugintest

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/plugin/adapter/answer"
	"github.com/bentobuild/bento/plugin/wire"
)

// axis is the test of one clause.
type axis struct {
	clause   string
	level    Level
	expected string
	// run is the test, on a process that has just started; nil for an axis that is judged
	// by the messages of all processes.
	run func(context.Context, *peer) outcome
	// first is true if the axis needs no successful handshake.
	first bool
}

// outcome is the result of a test: its status and a description of the fault.
type outcome struct{ status, got string }

func pass() outcome { return outcome{status: Pass} }

func fail(format string, args ...any) outcome {
	return outcome{Fail, wire.Plain(fmt.Sprintf(format, args...))}
}

func skip(why string) outcome { return outcome{Skip, why} }

// when returns a pass if ok.
func when(ok bool, format string, args ...any) outcome {
	if ok {
		return pass()
	}
	return fail(format, args...)
}

// without returns a pass if err is nil.
func without(err error) outcome {
	if err != nil {
		return fail("%v", err)
	}
	return pass()
}

func (a axis) result(o outcome) Result {
	return Result{Clause: a.clause, Level: a.level, Expected: a.expected, Status: o.status, Got: o.got}
}

// axes returns all axes in the order of their clauses.
func axes() []axis {
	var list []axis
	for _, part := range [][]axis{frameAxes(), messageAxes(), lifeAxes(), manifestAxes(), queryAxes(), installAxes(), additionAxes()} {
		list = append(list, part...)
	}
	return list
}

// greet does the first handshake, whose result the other axes need.
func (s *suite) greet(ctx context.Context) {
	p, err := s.launch(ctx, "")
	if err != nil {
		s.refused = err
		return
	}
	defer p.end()
	if s.text, err = p.result(ctx, wire.MethodInitialize, hello()); err != nil {
		s.refused = err
		return
	}
	s.seen.members(wire.MethodInitialize, s.text)
	id := s.id
	if id == "" {
		id = announced(s.text)
	}
	if s.manifest, s.dropped, s.refused = answer.ReadManifest(s.text, id); s.refused == nil {
		s.refused = s.fill(ctx, p)
	}
}

func hello() wire.Initialize {
	return wire.Initialize{ProtocolVersion: adapters.ProtocolVersion, BentoVersion: "0.0.0"}
}

func announced(manifest json.RawMessage) string {
	var m struct {
		ID string `json:"adapter_id"`
	}
	_ = wire.Decode(manifest, &m) // ReadManifest refuses a malformed one
	return m.ID
}

const notAsked = "bento refuses the plugin, see above"

// try runs one axis on a separate process.
func (s *suite) try(ctx context.Context, a axis) outcome {
	if !a.first && s.refused != nil {
		return skip(notAsked)
	}
	p, err := s.launch(ctx, a.clause)
	if err != nil && a.first && s.text == nil && a.clause != "4.1" {
		return skip("there is no manifest")
	}
	if err != nil {
		return fail("it cannot be started: %v", err)
	}
	defer p.end()
	if a.first {
		return a.run(ctx, p)
	}
	if _, err := p.result(ctx, wire.MethodInitialize, hello()); err != nil {
		return fail("%v", err)
	}
	return a.run(ctx, p)
}
