package plugintest

import (
	"context"
	"encoding/json"
	"path/filepath"
	"slices"
	"time"

	"github.com/bentobuild/bento/diagnostics"
	"github.com/bentobuild/bento/plugin/ainb/manifest"
	"github.com/bentobuild/bento/plugin/host"
	"github.com/bentobuild/bento/plugin/wire"
)

// AinbOptions are the options of RunAinb. An answer has 5 s, also of the handshake, and so has an exit.
type AinbOptions struct {
	Setup
	Config json.RawMessage // the settings of the extension; nil means null
}

// RunAinb tests the extension in dir on the axes of the ainb contract v2. It skips axes of surfaces that
// the manifest does not offer. The extension has all capabilities that it declares, in an empty home
// directory and without a network.
func RunAinb(ctx context.Context, dir string, o AinbOptions) (*Report, error) {
	began := time.Now()
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	l, err := newLab(o.Setup, 5*time.Second, 5*time.Second)
	if err != nil {
		return nil, err
	}
	defer l.close()
	s := &ainbSuite{lab: l, dir: dir, config: o.Config, manifest: &manifest.Manifest{}}
	l.launch = s.launchExtension
	if s.found, s.problems = manifest.Read(dir); s.found != nil {
		s.manifest = s.found.Manifest
	}
	return newReport(s.id(), dir, l.try(ctx, s.axes()), began), ctx.Err()
}

// ainbSuite is one test of an ainb extension.
type ainbSuite struct {
	*lab
	dir      string
	config   json.RawMessage
	found    *manifest.Found    // nil if the manifest is refused
	manifest *manifest.Manifest // empty then
	problems []diagnostics.Diagnostic
}

func (s *ainbSuite) id() string { return s.manifest.Plugin.Name }

// axes returns the table of the contract. It depends on the manifest.
func (s *ainbSuite) axes() []axis {
	p, topics := s.manifest.Provides, s.manifest.Subscribes.Snapshots
	screen := func(look hostStep) test {
		return needs("provides.screens", p.Screens, s.hosted(s.wakes, look))
	}
	command := func(run hostStep) test {
		return needs("provides.cli_namespaces", p.CLINamespaces, s.hosted(s.wakes, run))
	}
	subscribed := func(payloads ...[]byte) test {
		return needs("subscribes.snapshots", topics, s.started(s.greets, s.takes(payloads...)))
	}
	table := []axis{
		{"A01", Must, "the manifest is valid, and means the same when it is written again", of(s.validManifest())},
		{"A01.identity", Must, "plugin/init is answered with the name and version of the manifest, or with the manifest itself, and with no abi_version but 2", s.hosted(s.isAwake)},
		{"A01.abi", Should, "plugin/init of another revision is answered with an error", s.started(s.refusesRevision)},
		{"A02", Must, "standard output has frames of JSON-RPC 2.0 alone", nil},
		{"A02.viewport", Must, "a screen of 80 by 24 has no cell outside of its own buffer", screen(s.fillsItsBuffer)},
		{"A03", Must, "an unknown method is answered with -32601, an unknown notification ignored",
			s.started(s.greets, notes(noMethod, struct{}{}), refuses(noMethod, struct{}{}, wire.CodeMethodNotFound))},
		{"A04", Must, "it goes on, or refuses plugin/init, when all that it asks for is denied", s.started(s.takesDenial)},
		{"A05", Must, "the same state is drawn with the same bytes", screen(s.drawsTheSame)},
		{"A06", Should, "the topics of provides.snapshots are published", needs("provides.snapshots", p.Snapshots, s.hosted(s.wakes, s.publishes))},
		{"A07", Must, "it takes the events of its topics", subscribed(events()...)},
		{"A07.chunks", Must, "it takes payloads of 2 MiB in a row", subscribed(chunks()...)},
		{"A08", Must, "an answer after its timeout does not disturb the next one", command(s.survivesTimeouts)},
		{"A09", Must, "host/log has a level of the contract and a message", nil},
		{"A10", Must, "host/fs is asked for absolute paths", nil},
		{"A11", Must, "it exits with status 0 within 5 s of plugin/shutdown and the end of its input", s.started(s.greets, shutsDownByRequest)},
		{"A11.notification", Must, "the same for plugin/shutdown as a notification", s.started(s.greets, shutsDownByNotification)},
		{"A12", Must, "it starts again within 5 s of a SIGKILL", s.hosted(s.wakes, s.recovers)},
		{"A13", Must, "three SIGKILLs quarantine it, and it starts after a reload", s.hosted(s.wakes, s.isQuarantined)},
		{"A14", Must, "every namespace answers --help with stdout, stderr and exit_code", command(s.answersCommands)},
	}
	for i := 1; s.found == nil && i < len(table); i++ {
		table[i].test = of(skip("the manifest is refused, see above"))
	}
	return table
}

// needs returns a test of what a manifest may list.
func needs(member string, list []string, t test) test {
	if len(list) == 0 {
		return of(skip("the manifest has no " + member))
	}
	return t
}

// logLevels are those of the adapters' contract, too.
var logLevels = []string{"trace", "debug", "info", "warn", "error"}

// launchExtension starts the extension without a host. Only requests about the bus are agreed to, and for
// A04 none.
func (s *ainbSuite) launchExtension(ctx context.Context, clause string) (*talk, error) {
	t, err := s.begin(ctx, clause, &host.Command{Argv: []string{s.found.Executable}, Dir: s.scratch, Env: s.Env}, s.Stderr)
	if err != nil {
		return nil, err
	}
	t.read(wire.Limits{Strict: true}, "A02", func(m *wire.Message) {
		s.judge(clause, m)
		switch {
		case m.Kind != wire.Request:
		case clause != "A04" && m.Method == "host/snapshot/get":
			t.reply(m, map[string]any{"payload": nil, "version": 0}, nil)
		case clause != "A04" && m.Method == "host/snapshot/subscribe":
			t.reply(m, struct{}{}, nil)
		default:
			t.reply(m, nil, &wire.RPCError{Code: -32001, Message: "capability denied: " + m.Method})
		}
	})
	return t, nil
}

// judge notes the faults of a message.
func (s *ainbSuite) judge(clause string, m *wire.Message) {
	note := func(of, format string, args ...any) { s.seen.note(clause, of, format, args...) }
	switch {
	case m.Kind == wire.Invalid:
		note("A02", "%s", m.Why)
	case m.Method == "host/log":
		var l struct {
			Level   string  `json:"level"`
			Message *string `json:"message"`
		}
		if wire.Decode(m.Params, &l) != nil || l.Message == nil || !slices.Contains(logLevels, l.Level) {
			note("A09", "host/log with the params %.200s", m.Params)
		}
	case m.Method == "host/fs/read_file" || m.Method == "host/fs/read_dir":
		var p struct {
			Path string `json:"path"`
		}
		if wire.Decode(m.Params, &p) != nil || !filepath.IsAbs(p.Path) {
			note("A10", "%s with the params %.200s", m.Method, m.Params)
		}
	}
}
