package plugin

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/bentobuild/bento/adapters"
)

// picky is an adapter with options and a scaffold.
type picky struct{ bare }

func (picky) Manifest() *adapters.Manifest {
	return &adapters.Manifest{AdapterID: "picky", OptionsSchema: json.RawMessage(`{"type":"object"}`), SteeringEnv: []string{"CC"}, PassEnv: []string{"PICKY_*"}}
}

func (picky) Detect(ctx context.Context, _ string) (bool, error) {
	o := struct{ Size string }{"medium"}
	if err := Settings(ctx, &o); err != nil {
		return false, err
	}
	return o.Size == "large", nil
}

func (picky) Scaffold(name string) ([]adapters.ScaffoldFile, error) {
	if name == "bad" {
		return nil, errors.New("no")
	}
	return []adapters.ScaffoldFile{{Path: "a.txt", Data: []byte(name)}, {Path: "run", Mode: 0o755}}, nil
}

// TestSettings: a method has the options of its request, else those of initialize, else none.
func TestSettings(t *testing.T) {
	s := serve(t, picky{})
	ask := func(params, want string) {
		t.Helper()
		if got := s.ask(t, "detect", json.RawMessage(params)); got != want {
			t.Errorf("%s: got %s, want %s", params, got, want)
		}
	}
	ask(`{"dir":"/d"}`, `{"matches":false}`)
	got := s.ask(t, "initialize", json.RawMessage(`{"protocol_version":1,"options":{"Size":"large"}}`))
	for _, want := range []string{`"options":true`, `"scaffold":true`, `"options_schema":{"type":"object"}`, `"env":["CC"]`, `"pass_env":["PICKY_*"]`} {
		if !strings.Contains(got, want) {
			t.Errorf("manifest: got %s, want %s", got, want)
		}
	}
	ask(`{"dir":"/d"}`, `{"matches":true}`)
	ask(`{"dir":"/d","options":{"Size":"small"}}`, `{"matches":false}`)
	ask(`{"dir":"/d"}`, `{"matches":true}`)
	if got := s.ask(t, "detect", json.RawMessage(`{"dir":"/d","options":7}`)); !strings.HasPrefix(got, "error ") {
		t.Errorf("options of another kind: got %s", got)
	}
}

// TestScaffold: the wire has the files of a new project as text.
func TestScaffold(t *testing.T) {
	s := serve(t, picky{})
	for params, want := range map[string]string{
		`{"name":"shop"}`: `{"files":[{"path":"a.txt","text":"shop"},{"path":"run","text":"","executable":true}]}`,
		`{"name":"bad"}`:  "error ",
		`{}`:              `{"files":[{"path":"a.txt","text":""},{"path":"run","text":"","executable":true}]}`,
	} {
		if got := s.ask(t, "scaffold", json.RawMessage(params)); !strings.HasPrefix(got, want) {
			t.Errorf("%s: got %s, want %s", params, got, want)
		}
	}
	if got := serve(t, bare{}).ask(t, "scaffold", json.RawMessage(`{"name":"x"}`)); got != `error -32601: method not found: scaffold ` {
		t.Errorf("without the ability: %s", got)
	}
}
