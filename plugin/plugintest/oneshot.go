package plugintest

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/bentobuild/bento/plugin/host"
	"github.com/bentobuild/bento/plugin/oneshot"
)

// OneshotOptions are the options of RunOneshot. A response has 5 s, and the exit after it 500 ms.
type OneshotOptions struct {
	Setup
	ID       string          // the plugin_id that the manifest has to have; "" for any
	Function string          // the called function; "" for the first of the manifest
	Input    json.RawMessage // for it; empty means {}
	// Capabilities are the granted capabilities; nil allows the manifest to declare any.
	Capabilities []string
	Dir          string        // working directory; "": an empty one
	SHA256       string        // the digest of the executable, as of host.Command; "" for any
	Sandbox      *host.Sandbox // confines it unless nil
	Handshake    time.Duration // timeout of its answer; 0 means 2 s, as in the contract
}

// RunOneshot drives a one-shot tool through all axes, as Run drives an adapter. argv[0] is an
// absolute path.
func RunOneshot(ctx context.Context, argv []string, o OneshotOptions) (*Report, error) {
	began := time.Now()
	l, err := newLab(o.Setup, 5*time.Second, 500*time.Millisecond)
	if err != nil {
		return nil, err
	}
	defer l.close()
	o.Handshake = cmp.Or(o.Handshake, 2*time.Second)
	o.Dir = cmp.Or(o.Dir, l.scratch)
	if len(o.Input) == 0 {
		o.Input = json.RawMessage("{}")
	}
	s := &oneshotSuite{lab: l, argv: argv, o: o}
	l.launch = s.launchTool
	s.greet(ctx)
	return newReport(s.manifest.ID, argv[0], l.try(ctx, s.axes()), began), ctx.Err()
}

// oneshotSuite is one test of a one-shot tool.
type oneshotSuite struct {
	*lab
	argv []string
	o    OneshotOptions

	// Results of the first exchange.
	text     json.RawMessage // the answer to the handshake; nil for none
	kind     string          // its type
	manifest oneshot.Manifest
	shape    error // the fault of the types of the manifest
	greeted  error // why the manifest is missing
	replied  error // why the response is missing
}

// axes returns the table of docs/TOOL-PROTOCOL.md. It depends on the first exchange, which greet makes.
func (s *oneshotSuite) axes() []axis {
	const atEOF = "the end of its standard input"
	return []axis{
		{"O2.1", Must, "standard output holds two lines, each one JSON object of at most 1 MiB, and nothing before or between", nil},
		{"O2.2", Should, "nothing follows the response", nil},
		{"O2.3", Must, "lines are UTF-8 without a byte order mark and NUL", nil},
		{"O2.4", Should, "a line ends with LF alone, with no white space around its object", nil},
		{"O2.5", Must, "a request of 1 MiB is answered", s.called(s.responds(s.input(map[string]any{"bento_padding": strings.Repeat("0123456789abcde\n", 1<<20/17)})))},
		{"O2.6", Must, "lines that arrive in pieces are answered", s.called(s.respondsToPieces)},

		{"O3.1", Must, "the handshake is answered in time", of(without(s.greeted))},
		{"O3.2", Must, "the answer has the type \"handshake\", and a manifest whose members have their types", of(s.shaped())},
		{"O3.3", Must, "protocol_version is " + oneshot.Protocol, of(s.rightProtocol())},
		{"O3.4", Must, "plugin_id is that of the tool, plugin_version is not blank", of(s.rightIdentity())},
		{"O3.5", Must, "exposed_tools names the functions, at least one", of(s.rightFunctions())},
		{"O3.6", Must, "capabilities are granted ones, each once; at least one if any is granted", of(s.rightCapabilities())},
		{"O3.7", Must, "every start returns the same manifest", s.known(s.sameManifest)},
		{"O3.8", Should, "the manifest has no members that the contract lacks", nil},
		{"O3.9", Should, "it does not claim to implement a version that it does not know", s.known(s.refusesVersion)},
		{"O3.10", Must, "unknown members are ignored", s.called(s.ignoresMembers)},

		{"O4.1", Must, "a request is answered in time by a line of the type \"response\"", s.unlessRefused(of(without(s.replied)))},
		{"O4.2", Must, "the response has the request_id of the request", nil},
		{"O4.3", Must, "the status is \"ok\" without an error, or \"error\" with one that has a message", nil},
		{"O4.4", Should, "a function that the manifest lacks is answered with an error", s.called(s.refusesFunction)},
		{"O4.5", Must, "the input {} is answered, by an error or not", s.called(s.responds(s.input(map[string]any{})))},
		{"O4.6", Should, "an input that is not an object is answered, by an error or not", s.otherInputs("null", "7", `"text"`, "[1]", "true")},
		{"O4.7", Must, "a context without members is answered", s.called(s.responds(s.emptyContext()))},
		{"O4.8", Should, "an error has a code", nil},
		{"O4.9", Should, "responses have no members that the contract lacks", nil},
		{"O4.10", Should, "the same input has the same output", s.called(s.sameOutput)},

		{"O5.1", Must, "it exits by itself after its response, in time", s.called(s.succeeds, s.leaves)},
		{"O5.2", Must, "its exit status after a response \"ok\" is 0", s.called(s.succeeds, s.hasLeft, exitsWith0)},
		{"O5.3", Should, "it exits in time with status 0 after an error, too", s.called(s.exitsAfterError)},
		{"O5.4", Should, "it exits if its standard input ends after the handshake", s.known(s.shakes, closesInput, exits(atEOF))},
		{"O5.5", Should, "it exits if its standard input ends before the handshake", s.known(closesInput, exits(atEOF))},
		{"O5.6", Must, "it leaves no processes behind", s.called(s.succeeds, s.hasLeft, leavesNothing)},
	}
}

// greet makes the first exchange, whose manifest the tests need.
func (s *oneshotSuite) greet(ctx context.Context) {
	t, err := s.launch(ctx, "")
	if err != nil {
		s.greeted = err
		return
	}
	defer t.end()
	if s.text, s.greeted = s.hello(ctx, t, oneshot.Protocol, nil); s.greeted != nil {
		return
	}
	if s.shape = s.read(s.text); !s.refused() {
		_, s.replied = s.introduced(ctx, t, s.question())
	}
}

// read reads the answer to the handshake.
func (s *oneshotSuite) read(text []byte) error {
	var top struct {
		Type     string            `json:"type"`
		Manifest *oneshot.Manifest `json:"manifest"`
	}
	err := json.Unmarshal(text, &top)
	if s.kind = top.Type; top.Manifest != nil {
		s.manifest = *top.Manifest
	} else if err == nil {
		err = errNoManifest
	}
	return plainly(err)
}

// refused reports whether bento would send no request.
func (s *oneshotSuite) refused() bool {
	return slices.ContainsFunc([]outcome{without(s.greeted), s.shaped(), s.rightProtocol(), s.rightIdentity(), s.rightFunctions(), s.rightCapabilities()},
		func(o outcome) bool { return o.status != Pass })
}

func (s *oneshotSuite) unlessRefused(t test) test {
	if s.refused() {
		return of(skip(notAsked))
	}
	return t
}

// known returns the test that makes steps on a process of a tool whose manifest is good.
func (s *oneshotSuite) known(steps ...step) test { return s.unlessRefused(s.started(steps...)) }

// called is known for a tool that has answered the first request, too.
func (s *oneshotSuite) called(steps ...step) test {
	if s.replied != nil {
		return s.unlessRefused(of(skip("its response is invalid, see above")))
	}
	return s.known(steps...)
}

// ofFirst judges the manifest, if it was readable.
func (s *oneshotSuite) ofFirst(ok bool, format string, args ...any) outcome {
	if s.text == nil || s.kind != "handshake" || s.shape != nil {
		return skip("there is no manifest that can be read")
	}
	return when(ok, format, args...)
}

func (s *oneshotSuite) shaped() outcome {
	switch {
	case s.text == nil:
		return skip("there is no answer")
	case s.shape != nil && s.kind == "handshake":
		return without(s.shape)
	}
	return when(s.kind == "handshake", "the type %.60q", s.kind)
}

func (s *oneshotSuite) rightProtocol() outcome {
	return s.ofFirst(strings.TrimSpace(s.manifest.Protocol) == oneshot.Protocol, "%.60q", s.manifest.Protocol)
}

func (s *oneshotSuite) rightIdentity() outcome {
	m, want := s.manifest, "of the tool"
	if s.o.ID != "" {
		want = strconv.Quote(s.o.ID)
	}
	if s.o.ID != "" && m.ID != s.o.ID || strings.TrimSpace(m.ID) == "" {
		return s.ofFirst(false, "plugin_id %.60q, want the id %s", m.ID, want)
	}
	return s.ofFirst(strings.TrimSpace(m.Version) != "", "plugin_version %q", m.Version)
}

func (s *oneshotSuite) rightFunctions() outcome {
	list := s.manifest.Functions
	blank := func(name string) bool { return strings.TrimSpace(name) == "" }
	switch {
	case len(list) == 0:
		return s.ofFirst(false, "no exposed_tools")
	case slices.ContainsFunc(list, blank):
		return s.ofFirst(false, "a function without a name: %.200q", list)
	}
	return s.ofFirst(s.o.Function == "" || slices.Contains(list, s.o.Function), "%.200q, which lacks %q", list, s.o.Function)
}

func (s *oneshotSuite) rightCapabilities() outcome {
	list := s.manifest.Capabilities
	for i, c := range list {
		switch {
		case c == "" || strings.TrimSpace(c) != c:
			return s.ofFirst(false, "the capability %.60q is empty, or begins or ends with white space", c)
		case slices.Contains(list[:i], c):
			return s.ofFirst(false, "the capability %.60q is declared twice", c)
		case s.o.Capabilities != nil && !slices.Contains(s.o.Capabilities, c):
			return s.ofFirst(false, "the capability %.60q is not granted; granted: %q", c, s.o.Capabilities)
		}
	}
	return s.ofFirst(len(list) > 0 || len(s.o.Capabilities) == 0, "no capabilities, granted: %q", s.o.Capabilities)
}
