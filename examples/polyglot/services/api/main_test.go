package main

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"example.com/lunchbox/api/internal/order"
)

func TestHandler(t *testing.T) {
	site := t.TempDir()
	if err := os.WriteFile(filepath.Join(site, "index.html"), []byte("the page"), 0o644); err != nil {
		t.Fatal(err)
	}
	h := handler(site, order.Prices{"rice": 160, "tea": 100})
	for _, test := range []struct {
		method, path, body string
		status             int
		want               string
	}{
		{"GET", "/", "", http.StatusOK, "the page"},
		{"POST", "/api/order", `{"rice": 2, "tea": 1}`, http.StatusOK, `{"cents":420}`},
		{"POST", "/api/order", `{"cake": 1}`, http.StatusNotFound, `"cake"`},
		{"POST", "/api/order", `{"rice": -1}`, http.StatusBadRequest, "-1"},
		{"POST", "/api/order", `{`, http.StatusBadRequest, "EOF"},
		{"DELETE", "/api/order", "", http.StatusMethodNotAllowed, ""},
	} {
		w := httptest.NewRecorder()
		h.ServeHTTP(w, httptest.NewRequest(test.method, test.path, strings.NewReader(test.body)))
		if w.Code != test.status || !strings.Contains(w.Body.String(), test.want) {
			t.Errorf("%s %s %s: got %d %q, want %d %q", test.method, test.path, test.body, w.Code, w.Body, test.status, test.want)
		}
	}
}
