package plugintest

import (
	"context"
	"os"
	"strings"
	"time"

	"github.com/bentobuild/bento/plugin/sep"
	"github.com/bentobuild/bento/plugin/sep/manifest"
)

// SEPOptions are the options of RunSEP. An answer has 5 s, and the exit after sep.shutdown 3 s. Without Env,
// the extension has the environment of this process, as far as its manifest asks for it.
type SEPOptions struct {
	Setup
	Manifest *manifest.Manifest
	Dir      string            // of the manifest, absolute
	Set      map[string]string // further variables of the extension
	Stdio    bool              // use the standard streams rather than a socket
}

// RunSEP drives an extension of SEP v1 through all axes, as Run drives an adapter.
func RunSEP(ctx context.Context, o SEPOptions) (*Report, error) {
	return runSEP(ctx, o, func(axis) bool { return true })
}

// runSEP is RunSEP with some of the axes.
func runSEP(ctx context.Context, o SEPOptions, wanted func(axis) bool) (*Report, error) {
	began := time.Now()
	if o.Env == nil {
		o.Env = os.Environ()
	}
	l, err := newLab(o.Setup, 5*time.Second, 3*time.Second)
	if err != nil {
		return nil, err
	}
	defer l.close()
	m := o.Manifest
	s := &sepSuite{lab: l, o: o, terms: sep.Settle(m, &sep.Entry{Enabled: true, Approved: true, Grant: m.Permissions})}
	l.launch = s.launchExtension
	var table []axis
	for _, a := range s.axes() {
		if wanted(a) {
			table = append(table, a)
		}
	}
	return newReport(m.ID, m.Path(), l.try(ctx, table), began), ctx.Err()
}

// sepSuite is one test of an extension of SEP.
type sepSuite struct {
	*lab
	o     SEPOptions
	terms sep.Terms
}

// axes returns the table of docs/EXTENSION-PROTOCOL-SEP.md.
func (s *sepSuite) axes() []axis {
	large := map[string]string{"text": strings.Repeat("x", 1<<20)}
	const atConnection = "the end of the connection"
	return []axis{
		{"S1.1", Must, "it connects to SEP_ENDPOINT within its startupTimeoutMs", s.started(s.connects)},
		{"S1.2", Must, "its first message is sep.hello with the value of SEP_TOKEN", nil},
		{"S2.1", Must, "the connection holds frames of JSON within maxRequestBytes, and nothing else", nil},
		{"S2.2", Must, "a frame may arrive in pieces", s.greeted(s.healthyInPieces)},
		{"S2.3", Must, "a message of 1 MiB is answered", s.greeted(refuses(unknown, large, -32601))},
		{"S2.4", Should, "what follows a frame in the same read belongs to the next one", s.greeted(sendsTwoAtOnce, s.healthy(1))},

		{"S3.1", Must, "each message is one of JSON-RPC 2.0", nil},
		{"S3.2", Must, "a request gets one answer, with its id", nil},
		{"S3.3", Must, "an unknown method is answered with the error -32601", s.greeted(refuses(unknown, nil, -32601))},
		{"S3.4", Must, "an unknown notification is ignored", s.greeted(notes(unknown, map[string]int{"a": 1}), s.healthy(1))},
		{"S3.5", Must, "unknown members of a message and of its params are ignored", s.greeted(s.ignoresMembers, s.healthy(2))},
		{"S3.6", Must, "a request may have a text as id", s.greeted(s.takesTextID)},
		{"S3.7", Should, "a body that is not JSON is answered with the error -32700, or ignored", s.greeted(sends(`{"jsonrpc":`), s.alive)},
		{"S3.8", Should, "a batch is answered with the error -32600, or ignored",
			s.greeted(sends(`[{"jsonrpc":"2.0","id":1,"method":"sep.health","params":{"seq":1}}]`), s.alive)},
		{"S3.9", Must, "the ids of its requests are texts or integers", nil},
		{"S3.10", Should, "it notifies of nothing but sep.hello", nil},

		{"S4.1", Must, "sep.initialize is answered within startupTimeoutMs", s.greeted()},
		{"S4.2", Must, "extensionId and version are those of the manifest", s.started(s.namesItself)},
		{"S4.3", Must, "apiVersion is a version that the host and the manifest know", s.started(s.agreesOn(sep.APIVersion))},
		{"S4.4", Must, "a host of a later minor version gets a version that the manifest knows", s.started(s.agreesOn("1.99.0"))},
		{"S4.5", Must, "a host of another major version is refused with the reason version_unsupported", s.started(s.refusesMajor)},
		{"S4.6", Must, "it asks for nothing before it has answered sep.initialize", nil},
		{"S4.7", Must, "a second sep.initialize is answered with the error -32011", s.greeted(refuses("sep.initialize", s.host("S4.7", sep.APIVersion), -32011))},
		{"S4.8", Should, "sep.health before sep.initialize is answered with the error -32010",
			s.started(s.connects, refuses("sep.health", map[string]int{"seq": 1}, -32010))},

		{"S5.1", Must, "sep.health is answered with its seq and a status of the contract", s.greeted(s.healthy(1), s.healthy(2), s.healthy(3))},
		{"S5.2", Should, "a seq of 64 bits is answered exactly", s.greeted(s.healthy(1<<63 + 1))},
		{"S5.3", Must, "sep.health is answered within heartbeatIntervalMs while events come", s.greeted(s.healthyInStorm)},

		{"S6.1", Must, "each event of its manifest is taken, also with data that it does not know", s.greeted(s.takesEvents)},
		{"S6.2", Must, "an event that it does not know is ignored", s.greeted(event("later.unknown", 1, map[string]any{}), s.healthy(1))},

		{"S7.1", Must, "it lives on if all that it asks for is denied", s.greeted(s.takesDenial)},
		{"S7.2", Must, "it asks for methods of the contract, whose permissions its manifest declares", nil},
		{"S7.3", Should, "it stays below its maxRequestsPerSecond", nil},
		{"S7.4", Must, "the panels that it registers are valid", nil},

		{"S8.1", Must, "sep.shutdown is answered with {}", s.greeted(s.shutsDown)},
		{"S8.2", Must, "it exits within 3 s of sep.shutdown", s.greeted(s.leaves)},
		{"S8.3", Should, "its exit status is 0 then", s.greeted(s.leaves, exitsWith0)},
		{"S8.4", Should, "it exits at the end of the connection", s.greeted(closesConnection, exits(atConnection))},
		{"S8.5", Should, "SIGTERM ends it", s.greeted(terminates, exits("SIGTERM"))},
	}
}

// greeted returns the test that makes steps after the handshake.
func (s *sepSuite) greeted(steps ...step) test { return s.started(s.initializes, do(steps...)) }
