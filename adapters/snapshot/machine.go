package snapshot

import "github.com/bentobuild/bento/adapters"

// Machine keeps values read from the machine (the tools on PATH, the installed toolchains) as long as
// the snapshot is valid for which they were read, so that a thousand dishes share one read. Without a
// snapshot it keeps no value. It is safe for concurrent use; two goroutines may both read. The zero
// value is empty.
type Machine[T any] struct{ memo Memo[T] }

// See returns the value of look for the snapshot of s.
func (m *Machine[T]) See(s Source, look func() (T, error)) (T, error) { return m.Of(s, "", look) }

// Of is See for one of several values.
func (m *Machine[T]) Of(s Source, key string, look func() (T, error)) (T, error) {
	return m.memo.Get(s.Files(key), key, func(f *Files) (T, error) {
		f.seen.own()[""] = adapters.State{Kind: adapters.Unsteady} // no file decides
		return look()
	})
}
