package adapter

import (
	"encoding/json"
	"maps"
	"sync"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/plugin/host"
	"github.com/bentobuild/bento/plugin/wire"
)

// A module sees only the workspace, so its answers hold as long as the files that it has looked at. bento
// saves them with its manifest. While nothing has changed, the module is neither compiled nor called.

// saved are the answers of one module. Those of this invocation are saved for the next. A nil saved
// saves nothing. It is safe for concurrent use.
type saved struct {
	mu       sync.Mutex
	old      map[question]savedAnswer
	used     map[question]savedAnswer
	observed map[question]host.Observed // of the last answer to a request
}

// question is a request: its method and its directory, after the tool from the output of the manifest's
// exec. It is one text, so that it can be a key of JSON.
type question string

type savedAnswer struct {
	Result   json.RawMessage `json:"result"`
	Observed host.Observed   `json:"looks"`
}

// questionOf returns the question of a method about a directory.
func questionOf(method, dir, tool string) question {
	return question(tool + "\x00" + method + "\x00" + dir)
}

// isSaved reports whether the answers of a method are saved. Such an answer depends only on the directory.
func isSaved(method string) bool {
	switch method {
	case wire.MethodDetect, wire.MethodToolchain, wire.MethodTasks, wire.MethodLinks, wire.MethodInstallScope, wire.MethodFingerprint, wire.MethodResolved:
		return true
	}
	return false
}

// recall returns the saved answer, if it holds.
func (s *saved) recall(q question) (json.RawMessage, bool) {
	if s == nil {
		return nil, false
	}
	s.mu.Lock()
	a, known := s.used[q]
	if !known {
		a, known = s.old[q]
	}
	s.mu.Unlock()
	if !known || !a.Observed.Hold() {
		return nil, false
	}
	s.keep(q, a)
	return a.Result, true
}

// recall decodes the saved answer of a call, if it holds.
func (p *Process) recall(c host.Call, tool string, into any) bool {
	if p.settings(c.Dir) != "" {
		return false
	}
	result, ok := p.saved.recall(questionOf(c.Method, c.Dir, tool))
	return ok && p.reader.Decode(c.Method, result, into) == nil
}

func (s *saved) keep(q question, a savedAnswer) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.used[q] = a
}

// see notes the files that the module has looked at for a request.
func (s *saved) see(request []byte, observed host.Observed) {
	var r struct {
		Method string   `json:"method"`
		Params wire.Dir `json:"params"`
	}
	if json.Unmarshal(request, &r) != nil || !isSaved(r.Method) {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.observed[questionOf(r.Method, r.Params.Dir, "")] = observed
}

// answered saves the result of a call; tool is the tool of the question.
func (s *saved) answered(c host.Call, tool string, result json.RawMessage) {
	if s == nil || !isSaved(c.Method) {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	q := questionOf(c.Method, c.Dir, "")
	if observed := s.observed[q]; observed != nil {
		s.used[questionOf(c.Method, c.Dir, tool)] = savedAnswer{result, observed}
	}
	delete(s.observed, q)
}

// all returns the answers that were used in this invocation.
func (s *saved) all() map[question]savedAnswer {
	s.mu.Lock()
	defer s.mu.Unlock()
	return maps.Clone(s.used)
}

// savedOf returns the store of answers of a candidate. It returns nil if the candidate is no module, and
// under a trace, which must have all messages.
func (o *Options) savedOf(c adapters.Candidate) *saved {
	if c.Contract != adapters.ContractWasm || o.Notes == nil || o.traced {
		return nil
	}
	s := &saved{used: make(map[question]savedAnswer), observed: make(map[question]host.Observed)}
	if n, ok := o.noteOf(c); ok {
		s.old = n.Answers
	}
	return s
}
