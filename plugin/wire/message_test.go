package wire

import (
	"encoding/json"
	"errors"
	"math"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
)

func TestParseMessage(t *testing.T) {
	raw := func(s string) json.RawMessage { return json.RawMessage(s) }
	for text, want := range map[string]Message{
		`{"jsonrpc":"2.0","id":1,"result":{"a":[1]}}`:                   {Kind: Response, ID: raw("1"), Result: raw(`{"a":[1]}`)},
		` {"result" : 7 , "id":1, "jsonrpc":"2.0"} `:                    {Kind: Response, ID: raw("1"), Result: raw(`7`)},
		`{"jsonrpc":"2.0","id":1}`:                                      {Kind: Response, ID: raw("1"), Result: raw(`null`)},
		`{"jsonrpc":"2.0","id":1,"result":7,"error":null,"extra":[{}]}`: {Kind: Response, ID: raw("1"), Result: raw(`7`)},
		`{"jsonrpc":"2.0","id":1,"result":null,"error":{"code":2001,"message":"m","data":{"x":1}}}`: {
			Kind: Response, ID: raw("1"), Error: &RPCError{Code: 2001, Message: "m", Data: raw(`{"x":1}`)}},
		`{"jsonrpc":"2.0","id":1,"error":{"code":5}}`:                  {Kind: Response, ID: raw("1"), Error: &RPCError{Code: 5}},
		`{"jsonrpc":"2.0","id":null,"error":{"code":5,"message":"m"}}`: {Kind: Response, ID: raw("null"), Error: &RPCError{Code: 5, Message: "m"}},
		`{"jsonrpc":"2.0","method":"n"}`:                               {Kind: Notification, Method: "n"},
		`{"jsonrpc":"2.0","\u006dethod":"n","params":{}}`:              {Kind: Notification, Method: "n", Params: raw(`{}`)},
		`{"jsonrpc":"2.0","id":"x","method":"n"}`:                      {Kind: Request, ID: raw(`"x"`), Method: "n"},
		`{"jsonrpc":"2.0","id":null,"method":"n"}`:                     {Kind: Request, ID: raw(`null`), Method: "n"},
	} {
		got, err := ParseMessage([]byte(text), 64)
		if err != nil {
			t.Errorf("%s: %v", text, err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", text, diff)
		}
	}
}

func TestInvalidMessages(t *testing.T) {
	for text, why := range map[string]string{
		`[]`:                                     "no batches",
		`[{"jsonrpc":"2.0","id":1}]`:             "no batches",
		`null`:                                   "not a JSON object",
		`"jsonrpc"`:                              "not a JSON object",
		`{}`:                                     `no "jsonrpc":"2.0"`,
		`{"id":1,"result":1}`:                    `no "jsonrpc":"2.0"`,
		`{"jsonrpc":"1.0","id":1}`:               `"jsonrpc":"1.0"`,
		`{"jsonrpc":2.0,"id":1}`:                 `"jsonrpc":2.0`,
		`{"jsonrpc":"2.0"}`:                      "neither a method nor an id",
		`{"jsonrpc":"2.0","result":1}`:           "neither a method nor an id",
		`{"jsonrpc":"2.0","id":{},"result":1}`:   "the id is neither",
		`{"jsonrpc":"2.0","id":true,"result":1}`: "the id is neither",
		`{"jsonrpc":"2.0","id":"` + strings.Repeat("x", 300) + `","result":1}`:     "more than 256 bytes",
		`{"jsonrpc":"2.0","id":1,"id":2,"result":1}`:                               `two members "id"`,
		`{"jsonrpc":"2.0","id":1,"method":7}`:                                      "not a name",
		`{"jsonrpc":"2.0","id":1,"method":""}`:                                     "not a name",
		`{"jsonrpc":"2.0","id":1,"method":"m","result":1}`:                         "at once",
		`{"jsonrpc":"2.0","id":1,"result":1,"error":{"code":1,"message":"m"}}`:     "both",
		`{"jsonrpc":"2.0","id":1,"error":"no"}`:                                    "error: expected an object with \"code\", got a string",
		`{"jsonrpc":"2.0","id":1,"error":{"code":"x"}}`:                            "error: code: expected an integer",
		`{"jsonrpc":"2.0","id":1,"error":{"code":99999999999}}`:                    "error: code: expected an integer",
		`{"jsonrpc":"2.0","id":1,"error":{"message":"m"}}`:                         "error: code: expected an integer",
		`{"jsonrpc":"2.0","id":1` + strings.Repeat(`,"x":1`, 100) + `,"result":1}`: "more than 64 members",
	} {
		m, err := ParseMessage([]byte(text), 64)
		if err != nil || m.Kind != Invalid || !strings.Contains(m.Why, why) {
			t.Errorf("%.80s: got %v %q, %v, want invalid: %s", text, m.Kind, m.Why, err, why)
		}
	}
}

func TestMalformedBodies(t *testing.T) {
	deep := strings.Repeat("[", 64) + strings.Repeat("]", 64)
	for _, text := range []string{
		"", " ", "nope", "{", "{}}", `{"a"}`, `{"a":}`, `{"a":1,}`, `{a:1}`, `[1,]`, `[1 2]`, `01`, `+1`, `1.`, `.5`, `1e`, `-`,
		`"`, `"\x"`, `"\u12g4"`, "\"\n\"", `'a'`, "\xef\xbb\xbf{}", "\"\xff\"", "{}\x00", `nul`, `truex`, `NaN`,
		`{"jsonrpc":"2.0","id":1,"result":` + deep + `}`,
		strings.Repeat("[", 1<<20),
		strings.Repeat(`{"a":`, 1<<20),
	} {
		if m, err := ParseMessage([]byte(text), 64); !errors.Is(err, ErrMalformed) {
			t.Errorf("%.60q: got %+v, %v, want %v", text, m, err, ErrMalformed)
		}
	}
	most := `{"jsonrpc":"2.0","id":1,"result":` + deep[1:127] + `}`
	if m, err := ParseMessage([]byte(most), 64); err != nil || m.Kind != Response {
		t.Errorf("64 levels: got %+v, %v", m, err)
	}
}

func TestNumber(t *testing.T) {
	for id, want := range map[string]int64{"1": 1, "1.0": 1, "1e0": 1, "10e-1": 1, "-3": -3, "9007199254740992": 1 << 53} {
		if n, ok := (&Message{ID: json.RawMessage(id)}).Number(); !ok || n != want {
			t.Errorf("id %s: got %d, %v, want %d", id, n, ok, want)
		}
	}
	for _, id := range []string{"", "1.5", `"1"`, "null", "1e300", "1e-300", strings.Repeat("9", 40)} {
		if n, ok := (&Message{ID: json.RawMessage(id)}).Number(); ok {
			t.Errorf("id %s: got %d, want none", id, n)
		}
	}
}

// FuzzMessage: the scanner must accept exactly the JSON that encoding/json accepts.
func FuzzMessage(f *testing.F) {
	for _, seed := range []string{
		`{"jsonrpc":"2.0","id":1,"result":{"a":[1,-2.5e+3,true,null,"\u00e9\n"]}}`,
		`{"jsonrpc":"2.0","id":"x","method":"m","params":[]}`, `[{}]`, `{"a":1,}`, `"\ud800"`, `1e5`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		m, err := ParseMessage(body, math.MaxInt16)
		if valid := json.Valid(body) && utf8.Valid(body); valid != (err == nil) {
			t.Fatalf("%q: valid %v, error %v", body, valid, err)
		}
		if err != nil {
			return
		}
		for _, part := range []json.RawMessage{m.ID, m.Params, m.Result} {
			if part != nil && !json.Valid(part) {
				t.Fatalf("%q: a part %q", body, part)
			}
		}
		m.Number()
	})
}
