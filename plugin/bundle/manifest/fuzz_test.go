package manifest

import (
	"encoding/json"
	"testing"
)

// FuzzModule: an accepted manifest has names that may be directories, and canonical bytes that are
// JSON.
func FuzzModule(f *testing.F) {
	f.Add([]byte(good))
	f.Fuzz(func(t *testing.T, data []byte) {
		m, err := ReadModule(ModuleFile, data)
		if err != nil {
			return
		}
		if !ValidID(m.ID) || !ValidVersion(m.Version) || !baseName.MatchString(m.WasmFile) {
			t.Errorf("accepted: %+v", m)
		}
		var doc map[string]any
		if err := json.Unmarshal(m.Canonical(), &doc); err != nil || doc["id"] != m.ID || len(doc) != 12 {
			t.Errorf("%s: %v", m.Canonical(), err)
		}
		_ = m.Compatible()
	})
}

// FuzzProcess: an accepted manifest has unique functions with schemas that are JSON.
func FuzzProcess(f *testing.F) {
	f.Add([]byte(goodProcess))
	f.Fuzz(func(t *testing.T, data []byte) {
		p, err := ReadProcess(ProcessFile, data)
		if err != nil {
			return
		}
		seen := make(map[string]bool)
		for _, fn := range p.Tools {
			if seen[fn.Name] || !json.Valid(fn.InputSchema) || !json.Valid(fn.OutputSchema) {
				t.Errorf("accepted: %+v", fn)
			}
			seen[fn.Name] = true
		}
		if !ValidID(p.ID) || !ValidVersion(p.Version) || p.Command == "" || len(p.Tools) == 0 {
			t.Errorf("accepted: %+v", p)
		}
	})
}
