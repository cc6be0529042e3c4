package plugintest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/bentobuild/bento/plugin/trace"
	"github.com/bentobuild/bento/plugin/wire"
)

// conversations returns the exchanges of one plugin in a trace, for each of its processes.
func conversations(r io.Reader, o ReplayOptions) (list [][]*trace.Exchange, err error) {
	all, err := exchanges(r, o)
	if err != nil {
		return nil, err
	}
	var ids []string
	byProcess := make(map[string]int) // by plugin and clause: its last conversation, from 1
	for _, e := range all {
		id, _, _ := strings.Cut(e.Plugin, " ") // a clause follows in a trace of the suite
		if !slices.Contains(ids, id) {
			ids = append(ids, id)
		}
		if o.ID != "" && id != o.ID || !e.Answered() {
			continue
		}
		if byProcess[e.Plugin] == 0 || e.Method == wire.MethodInitialize {
			list = append(list, nil)
			byProcess[e.Plugin] = len(list)
		}
		at := &list[byProcess[e.Plugin]-1]
		*at = append(*at, e)
	}
	switch {
	case o.ID == "" && len(ids) > 1:
		return nil, fmt.Errorf("the trace has the plugins %s: name one", strings.Join(ids, ", "))
	case len(list) == 0 && len(ids) > 0:
		return nil, fmt.Errorf("the trace has no answer of the plugin %q, it has %s", o.ID, strings.Join(ids, ", "))
	case len(list) == 0:
		return nil, errors.New("the trace has no plugin that answers")
	}
	return list, nil
}

// RunReplay sends a plugin the requests of a trace, as `bento plugin trace -o` writes it. For each
// recorded process it starts one process. It compares the answers. Installs and additions of packages have
// effects and are left out.
func RunReplay(ctx context.Context, path string, o Options, r io.Reader, of ReplayOptions) (*Report, error) {
	began := time.Now()
	list, err := conversations(r, of)
	if err != nil {
		return nil, err
	}
	s, err := newSuite(path, o)
	if err != nil {
		return nil, err
	}
	defer s.close()
	results := make([][]Result, len(list))
	together(len(list), func(i int) { results[i] = s.repeat(ctx, fmt.Sprintf("conversation %d", i), list[i], of.Name) })
	return newReport(s.id, s.path, slices.Concat(results...), began), ctx.Err()
}

// repeat repeats one conversation, to the first request that has no answer.
func (s *suite) repeat(ctx context.Context, clause string, conversation []*trace.Exchange, file string) (list []Result) {
	t, err := s.launch(ctx, clause)
	if err == nil {
		defer t.end()
	}
	for _, e := range conversation {
		o := skip("it has effects")
		if e.Method != wire.MethodInstall && e.Method != wire.MethodAdd {
			if err == nil {
				o, err = t.repeat(ctx, e)
			}
			if err != nil {
				o = fail("%v", err)
			}
		}
		list = append(list, Result{
			Clause: e.Method, Level: Must, Status: o.status, Got: o.got, Expected: "as recorded" + about(e.Params),
			Place: fmt.Sprintf("%s:%d", file, e.Line), Frames: lastExchange(s.frames.about(clause, o)),
		})
		if err != nil {
			return list
		}
	}
	return list
}

// about returns the directory that params are about, as text.
func about(params json.RawMessage) string {
	var p struct {
		Dir     string `json:"dir"`
		DishDir string `json:"dish_dir"`
	}
	_ = wire.Decode(params, &p) // other params have none
	if dir := p.Dir + p.DishDir; dir != "" {
		return fmt.Sprintf(", of %q", dir)
	}
	return ""
}

// repeat makes a recorded request and compares the answer. It returns an error if the plugin does not
// answer.
func (t *talk) repeat(ctx context.Context, e *trace.Exchange) (outcome, error) {
	var params any
	if e.Params != nil {
		params = e.Params
	}
	m, err := t.ask(ctx, e.Method, params)
	if err != nil {
		return outcome{}, err
	}
	answer := func(result json.RawMessage, rpc *wire.RPCError) (v any) {
		if rpc != nil {
			return map[string]any{"error": map[string]any{"code": rpc.Code, "message": rpc.Message}}
		}
		_ = json.Unmarshal(result, &v) // it was parsed
		return map[string]any{"result": v}
	}
	return compare("", answer(e.Result, e.Error), answer(m.Result, m.Error), nil), nil
}
