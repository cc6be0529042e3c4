package tomlfile

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
)

type shapedSample struct {
	Name  At[string]      `toml:"name" doc:"the name" default:"x"`
	Count *int            `toml:"count" default:"3"`
	Words []string        `toml:"words"`
	Tasks Map[taskSample] `toml:"tasks"`
	Raw   *Value          `toml:"raw"`
	Rest  Map[taskSample] `toml:"*" doc:"any other"`
	None  string
}

func TestSchemaOf(t *testing.T) {
	got, err := json.Marshal(SchemaOf(shapedSample{}))
	if err != nil {
		t.Fatal(err)
	}
	const task = `{"additionalProperties":false,"properties":{"run":{"type":"string"}},"type":"object"}`
	const other = `{"additionalProperties":false,"description":"any other","properties":{"run":{"type":"string"}},"type":"object"}`
	want := `{"additionalProperties":` + other + `,"properties":{"count":{"default":3,"type":"integer"},` +
		`"name":{"default":"x","description":"the name","type":"string"},"raw":{},` +
		`"tasks":{"additionalProperties":` + task + `,"type":"object"},` +
		`"words":{"items":{"type":"string"},"type":"array"}},"type":"object"}`
	if diff := cmp.Diff(want, string(got)); diff != "" {
		t.Error(diff)
	}
}

// TestOtherKeys: a Map with the key * takes the keys that no field has. In a Map of tables, a value that is no table is
// reported as a misspelt key.
func TestOtherKeys(t *testing.T) {
	f := mustParse(t, "name = \"n\"\nnam = 1\n[a]\nrun = \"x\"\n[b]\nrum = \"y\"\n")
	var into shapedSample
	got := texts(f.Decode(&into))
	want := []string{
		`x.toml:2:1: unknown key nam (did you mean "name"?)`,
		`x.toml:6:1: unknown key rum in b (did you mean "run"?)`,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if len(into.Rest) != 2 || into.Rest[0].Name != "a" || into.Rest[0].Value.Run != "x" || into.Rest[0].Pos.Line != 3 {
		t.Errorf("rest = %+v", into.Rest)
	}
}
