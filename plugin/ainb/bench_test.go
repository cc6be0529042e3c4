package ainb

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

// BenchmarkEvents publishes an event to five extensions and waits until each has read it.
func BenchmarkEvents(b *testing.B) {
	r := &rig{m: map[string]*memory{}}
	got := make(chan struct{}, 1024)
	var list []Extension
	for i := range 5 {
		name := fmt.Sprintf("kid-%d", i)
		list = append(list, r.member(b, name, withBus+"[subscribes]\nsnapshots = [\"a\"]\n", func(k *kid) {
			k.result(k.read(), fmt.Sprintf(`{"name":%q,"version":"1.0.0"}`, name))
			for {
				q := k.read()
				if q.over || q.Method == "plugin/shutdown" {
					return
				}
				got <- struct{}{}
			}
		}))
	}
	r.start(b, func(o *Options) { o.Extensions = list })
	for _, x := range list {
		r.wake(b, x.Manifest.Plugin.Name)
	}
	payload := []byte(strings.Repeat("x", 200))
	for b.Loop() {
		if err := r.Publish("a", payload); err != nil {
			b.Fatal(err)
		}
		for range list {
			<-got
		}
	}
}

// BenchmarkPublish measures the receipt of a large publish of an extension.
func BenchmarkPublish(b *testing.B) {
	r := newRig(b, withBus, nil, (*kid).serve)
	r.wake(b, "kid-x")
	x, _ := r.find("kid-x")
	raw, err := json.Marshal(map[string]any{"topic": "a", "payload": make([]byte, 2<<20)})
	if err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(len(raw)))
	for b.Loop() {
		x.session().publish(raw)
	}
}
