package ainb

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/bentobuild/bento/plugin/wire"
)

const (
	readSecrets = "secrets:read"
	maxSecret   = 64 << 10
	maxRedacted = 256 // secrets of one process that its trace hides
)

// secret answers host/secret_store_get. The key must be in the list of the grant, unless the grant is
// true.
func (s *session) secret(ctx context.Context, method string, raw json.RawMessage) (any, *wire.RPCError) {
	g := s.x.granted[readSecrets]
	if !g.Granted() {
		s.x.audit(method, readSecrets, "not granted", false)
		return nil, denied(readSecrets)
	}
	p, refused := params[struct {
		Scope     *string `json:"scope"`
		Workspace string  `json:"workspace_id"`
		Key       *string `json:"key"`
	}](raw)
	if refused != nil {
		return nil, refused
	}
	scope, refused := must("scope", p.Scope)
	if refused != nil {
		return nil, refused
	}
	key, refused := must("key", p.Key)
	if refused != nil {
		return nil, refused
	}
	if !g.All && !slices.Contains(g.Only, key) {
		s.x.audit(method, readSecrets, fmt.Sprintf("no grant of the key %.120q", key), false)
		return nil, deniedWith(readSecrets, "key", key)
	}
	s.x.audit(method, readSecrets, fmt.Sprintf("scope %.120q, key %.120q", scope, key), true)
	var value []byte
	found := false
	if s.x.h.o.Secret != nil {
		var err error
		if value, found, err = s.x.h.o.Secret(ctx, scope, p.Workspace, key); err != nil {
			return nil, refusal(codeInternal, "the secrets cannot be read: %v", err)
		}
	}
	if !found {
		return nil, refusal(codeNoSecret, "secret not found: scope=%.200s key=%.200s", scope, key)
	}
	if len(value) > maxSecret {
		return nil, refusal(codeInternal, "the secret has more than %d bytes", maxSecret)
	}
	s.hide(value)
	return map[string]Bytes{"value": some(value)}, nil
}

// hide keeps a secret out of the trace.
func (s *session) hide(value []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(value) > 0 && len(s.secrets) < 2*maxRedacted {
		s.secrets = append(s.secrets, []byte(base64.StdEncoding.EncodeToString(value)), bytes.Clone(value))
	}
}

// trace returns the function that receives all bodies, without secrets; nil for none.
func (s *session) trace() func(sent bool, body []byte) {
	to := s.x.h.o.Trace
	if to == nil {
		return nil
	}
	return func(sent bool, body []byte) {
		s.mu.Lock()
		for _, secret := range s.secrets {
			if bytes.Contains(body, secret) {
				body = bytes.ReplaceAll(body, secret, []byte("***"))
			}
		}
		s.mu.Unlock()
		to(s.x.name, sent, body)
	}
}

// closeSockets closes all open sockets.
func (s *session) closeSockets() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for id, k := range s.sockets {
		k.conn.Close()
		delete(s.sockets, id)
	}
}
