package plugin

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/bentobuild/bento/adapters"
)

// planner starts no process.
type planner struct{ bare }

func (planner) ToolchainFingerprint(ctx context.Context, _ string) (string, error) {
	said := ExecOutput(ctx)
	return said.Stdout + "|" + said.Stderr, nil
}

func (planner) ResolvedToolchain(ctx context.Context, dir string) (*adapters.ResolvedToolchain, error) {
	return &adapters.ResolvedToolchain{Fingerprint: dir, Version: ExecOutput(ctx).Stdout}, nil
}

func (planner) InstallCommands(_ context.Context, req adapters.InstallRequest) ([][]string, error) {
	switch req.DishName {
	case "none":
		return nil, nil
	case "fails":
		return [][]string{{"zig"}}, &adapters.MissingTool{Tool: "zig"}
	}
	return [][]string{{"zig", "build", "--fetch"}, {"zig", "sync"}}, nil
}

// TestPlanner: an adapter receives the output of its exec command, and returns the commands of an install.
func TestPlanner(t *testing.T) {
	s := serve(t, planner{})
	for _, c := range []struct{ method, params, want string }{
		{"resolvedToolchainFingerprint", `{"exec":{"stdout":"0.14.0","stderr":"w"}}`, `"0.14.0|w"`},
		{"resolvedToolchainFingerprint", `{}`, `"|"`},
		{"resolvedToolchain", `{"dir":"/a","exec":{"stdout":"0.14.0","stderr":""}}`, `{"fingerprint":"/a","version":"0.14.0"}`},
		{"resolvedToolchain", `{"exec":{"stdout":"0.14.0","stderr":""}}`, `error -32602: params.dir: expected an absolute path, got "" `},
		{"install", `{"dish_dir":"/a","dish_name":"a"}`, `{"commands":[["zig","build","--fetch"],["zig","sync"]]}`},
		{"install", `{"dish_dir":"/a","dish_name":"none"}`, `null`},
		{"install", `{"dish_dir":"/a","dish_name":"fails"}`, `error 2099: zig is not installed {"detail":"zig is not installed","missing_tool":"zig"}`},
	} {
		params := json.RawMessage(c.params)
		if got := s.ask(t, c.method, params); got != c.want {
			t.Errorf("%s %s:\n got %s\nwant %s", c.method, c.params, got, c.want)
		}
	}
	if got := s.ask(t, "resolvedToolchainFingerprint", nil); got != `"|"` {
		t.Errorf("without params: got %s", got)
	}
}
