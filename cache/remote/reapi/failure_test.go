package reapi

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestPage: the messages that the page explains are those that users see.
func TestPage(t *testing.T) {
	page, err := os.ReadFile(filepath.Join("..", "..", "..", "docs", "remote-cache.md"))
	if err != nil {
		t.Fatal(err)
	}
	c := &Client{name: "grpcs://cache.example"}
	blake3 := &capabilities{functions: []uint64{BLAKE3.number()}}
	messages := []string{
		adviceFor(errors.New("remote error: tls: no application protocol")),
		strings.ReplaceAll(blake3.check(SHA256).Error(), "BLAKE3", "…"),
		(&SilentError{After: defaultFirst}).Error(),
	}
	for _, code := range []Code{Unauthenticated, PermissionDenied, ResourceExhausted} {
		if f := c.failure(writeBlob, status{code: code}); f.hint() == "" {
			t.Errorf("%v has no hint", f)
		}
		messages = append(messages, code.String())
	}
	for _, m := range messages {
		if !strings.Contains(string(page), "| `"+m+"` |") {
			t.Errorf("the page does not explain %q", m)
		}
	}
	if defaultIdle < defaultFirst || defaultFirst != time.Second {
		t.Error("the page has other times")
	}
}
