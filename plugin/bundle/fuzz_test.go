package bundle

import (
	"bytes"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/bentobuild/bento/plugin/bundle/archive"
)

// FuzzPackage: any bytes are refused, or are a package that has the same digest after it was packed again.
func FuzzPackage(f *testing.F) {
	for _, files := range [][]archive.File{module("a", "1.0.0", ""), program("p", "1")} {
		var out bytes.Buffer
		if err := archive.WriteTar(&out, files); err != nil {
			f.Fatal(err)
		}
		f.Add(out.Bytes())
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		files, err := archive.Read(data, archive.Limits{Packed: 1 << 20, Expanded: 1 << 20})
		if err != nil {
			return
		}
		p, err := Load(files)
		if err != nil {
			return
		}
		var out bytes.Buffer
		if err := archive.WriteTar(&out, p.files); err != nil {
			t.Fatal(err)
		}
		again, err := archive.Read(out.Bytes(), archive.Limits{})
		if err != nil {
			t.Fatal(err)
		}
		if q, err := Load(again); err != nil || q.Digest != p.Digest {
			t.Errorf("read back: %v %v", q, err)
		}
	})
}

// FuzzState: a state file that was read is the same after it was written and read again.
func FuzzState(f *testing.F) {
	f.Add([]byte(`{"plugins": {"a": {"version": "1", "enabled": false, "installed_at": "1772366400", "source": "x"}, "b": {"installed_at": 1}}}`))
	f.Add([]byte(`{"plugins": {"a": {"installed_at": "9999-12-31T23:59:59-01:00"}, "b": {"installed_at": 500000000000}, "c": {"installed_at": "-62167219201"}}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		list, err := parseState(data)
		if err != nil {
			return
		}
		text, err := list.text()
		if err != nil {
			t.Fatal(err)
		}
		again, err := parseState(text)
		if diff := cmp.Diff(list, again, cmpopts.EquateEmpty()); err != nil || diff != "" {
			t.Errorf("%v\n%s", err, diff)
		}
	})
}
