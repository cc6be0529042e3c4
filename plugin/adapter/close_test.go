package adapter

import (
	"bytes"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bentobuild/bento/adapters"
)

// closingKid returns the plugins of this file.
func closingKid(id string) func(*kid) {
	if !strings.HasPrefix(id, "together-") {
		return nil
	}
	return func(k *kid) {
		for {
			q := k.read()
			if q.Method == "shutdown" {
				waitAtBarrier()
				os.Stderr.WriteString("bye\n")
			}
			k.answer(q)
		}
	}
}

// waitAtBarrier waits until the test releases all plugins of this kind.
func waitAtBarrier() {
	barrier, err := net.Dial("unix", filepath.Join(filepath.Dir(os.Args[0]), "barrier"))
	if err != nil {
		panic(err)
	}
	_, _ = barrier.Read(make([]byte, 1)) // blocks until the test closes it
}

// Each of 10 plugins shuts down only after all have received the request to (fault C1).
func TestClosesAtOnce(t *testing.T) {
	dir := t.TempDir()
	barrier, err := net.Listen("unix", filepath.Join(dir, "barrier"))
	if err != nil {
		t.Fatal(err)
	}
	var list []adapters.Candidate
	for i := range 10 {
		list = append(list, install(t, dir, fmt.Sprintf("together-%d", i)))
	}
	go func() {
		defer barrier.Close()
		for range list {
			arrived, err := barrier.Accept()
			if err != nil {
				return
			}
			defer arrived.Close()
		}
	}()
	var screen bytes.Buffer
	o := Options{Numbers: short(), Stderr: &screen}
	o.Numbers.Shutdown = ample
	set := start(t, o, list...)
	if n := len(set.Adapters()); n != len(list) {
		t.Fatalf("%d loaded: %v", n, set.Warnings())
	}
	set.Close()
	barrier.Close()
	if n := strings.Count(screen.String(), "bye\n"); n != len(list) {
		t.Errorf("%d of %d were asked to shut down, and could", n, len(list))
	}
}
