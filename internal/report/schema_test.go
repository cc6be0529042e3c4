package report

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

type inner struct {
	N    int      `json:"n"`
	Self []*inner `json:"self,omitempty"`
}

type outer struct {
	Schema string `json:"schema"`
	inner
	Kind   string           `json:"kind" enum:"a,b"`
	Null   *string          `json:"null"`
	Maybe  *inner           `json:"maybe,omitempty"`
	At     time.Time        `json:"at"`
	Raw    json.RawMessage  `json:"raw,omitempty"`
	ByName map[string]bool  `json:"by_name,omitempty"`
	Hidden string           `json:"-"`
	Bytes  []byte           `json:"bytes,omitempty"`
	Rate   float64          `json:"rate,omitempty"`
	Any    any              `json:"any,omitempty"`
	List   []map[string]int `json:"list,omitempty"`
}

func TestOf(t *testing.T) {
	got, err := json.Marshal(SchemaOf(outer{}, SchemaOptions{ID: "bento.x/1", Title: "x", Closed: true}))
	if err != nil {
		t.Fatal(err)
	}
	const want = `{"$id":"urn:bento.x:1","$schema":"https://json-schema.org/draft/2020-12/schema","additionalProperties":false,` +
		`"properties":{"any":{},"at":{"format":"date-time","type":"string"},` +
		`"by_name":{"additionalProperties":{"type":"boolean"},"type":"object"},` +
		`"bytes":{"contentEncoding":"base64","type":"string"},` +
		`"kind":{"enum":["a","b"],"type":"string"},` +
		`"list":{"items":{"additionalProperties":{"type":"integer"},"type":"object"},"type":"array"},` +
		`"maybe":{"additionalProperties":false,"properties":{"n":{"type":"integer"},"self":{"items":{"type":["object","null"]},"type":"array"}},"required":["n"],"type":"object"},` +
		`"n":{"type":"integer"},"null":{"type":["string","null"]},"rate":{"type":"number"},"raw":{},` +
		`"schema":{"const":"bento.x/1"},` +
		`"self":{"items":{"additionalProperties":false,"properties":{"n":{"type":"integer"},"self":{"items":{"type":["object","null"]},"type":"array"}},"required":["n"],"type":["object","null"]},"type":"array"}},` +
		`"required":["schema","n","kind","null","at"],"title":"x","type":"object"}`
	if diff := cmp.Diff(want, string(got)); diff != "" {
		t.Error(diff)
	}
}
