package answers

import (
	"iter"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/internal/tree"
)

// pathLooker looks at each path once for all answers.
type pathLooker struct {
	*Saver
	numbers map[string]int // of paths, indices of states
	states  []pathState
	answer  int   // number of the answer
	list    []int // numbers of its paths
}

// pathState is the state of a path for the last answer that depends on it.
type pathState struct {
	adapters.State
	path   string
	answer int   // number of the answer
	at     int   // index in Saver.paths plus one, 0 for none
	others []int // the same for other states of the path
}

// look adds the paths that an answer depends on, unless they are known; ok is false if one of them has
// changed meanwhile.
func (l *pathLooker) look(a *answered) (on []int, ok bool) {
	l.answer++
	l.list = l.list[:0]
	for path, state := range l.m.pathsOf(a) {
		n, known := l.numbers[path]
		if !known {
			n = len(l.states)
			l.numbers[path] = n
			l.states = append(l.states, pathState{path: path})
		}
		p := &l.states[n]
		if p.answer == l.answer {
			p.State = p.And(state, true)
			continue
		}
		p.State, p.answer = state, l.answer
		l.list = append(l.list, n)
	}
	on = make([]int, 0, len(l.list))
	for _, n := range l.list {
		i := l.place(&l.states[n])
		if k := l.paths[i].Kind; k == adapters.Unseen || k == adapters.Unsteady {
			return nil, false
		}
		on = append(on, i)
	}
	return on, true
}

// place returns the index in Saver.paths of a path in its state.
func (l *pathLooker) place(p *pathState) int {
	if p.at > 0 && l.paths[p.at-1].State == p.State {
		return p.at - 1
	}
	for _, i := range p.others {
		if l.paths[i].State == p.State {
			return i
		}
	}
	i := len(l.paths)
	l.paths = append(l.paths, l.m.lookAt(p.path, p.State))
	if p.at == 0 {
		p.at = i + 1
	} else {
		p.others = append(p.others, i)
	}
	return i
}

// pathsOf yields the paths that an answer depends on, with their states at that time.
func (m *Cache) pathsOf(a *answered) iter.Seq2[string, adapters.State] {
	return func(yield func(string, adapters.State) bool) {
		for _, reads := range a.reads {
			for path, state := range reads {
				if !yield(path, state) {
					return
				}
			}
		}
		for _, g := range a.from {
			for _, n := range m.saved.Groups[g] {
				before := m.saved.trace(n)
				for path := range m.saved.Spots[n].paths() {
					if !yield(path, before.State) {
						return
					}
				}
			}
		}
	}
}

func (m *Cache) lookAt(path string, state adapters.State) seen {
	t := seen{path: path, spot: spot{Path: path}, trace: m.looker.traced(path, state)}
	if t.Kind == adapters.Absent && t.Around != (tree.Stamp{}) {
		t.Path = m.looker.near(path)
	}
	if state.Sum != [32]byte{} && state.Kind == adapters.Regular {
		m.o.Source.State(path, true) // the index learns the digest, and the next invocation reads nothing
	}
	return t
}
