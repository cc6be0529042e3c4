package main

import (
	"context"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/plugin/adapter"
	"github.com/bentobuild/bento/plugin/host"
	"github.com/bentobuild/bento/plugin/plugintest"
)

// replay runs "replay FILE ID OLD NEW": it replaces OLD in a trace by NEW. The replayed plugin must then
// install the dish NEW/cafe with the same log message.
func replay(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 4 {
		ts.Fatalf("usage: replay FILE ID OLD NEW")
	}
	r, err := plugintest.NewReplay(strings.NewReader(ts.ReadFile(args[0])), plugintest.ReplayOptions{
		ID: args[1], Replace: map[string]string{args[2]: args[3]},
	})
	ts.Check(err)
	set, err := adapter.Start(context.Background(), []adapters.Candidate{{ID: args[1], Contract: adapters.ContractV1}}, adapter.Options{
		Launch: func(adapters.Candidate) host.Launcher { return r },
	})
	ts.Check(err)
	defer set.Close()
	if len(set.Adapters()) != 1 {
		ts.Fatalf("%v", set.Warnings())
	}
	var said []string
	err = set.Adapters()[0].Install(context.Background(), adapters.InstallRequest{DishDir: args[3] + "/cafe", DishName: "cafe"},
		func(l adapters.Log) { said = append(said, l.Message) })
	ts.Check(err)
	if got := strings.Join(said, ""); got != "noop install\n" || len(r.Unknown()) > 0 {
		ts.Fatalf("it said %q, unknown: %v", got, r.Unknown())
	}
}
