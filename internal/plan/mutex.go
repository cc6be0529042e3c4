package plan

// orderMutexes makes tasks run before the one server that has their mutex, unless they wait for it: a
// server keeps its mutex until the run ends. It is an order only. Two servers with one mutex can never
// run at once, and nothing is ordered for them.
func (b *builder) orderMutexes(tasks []*Task) {
	servers, others := make(map[string][]*Task), make(map[string][]*Task)
	for _, t := range tasks {
		switch {
		case t.Mutex == "":
		case t.Persistent:
			servers[t.Mutex] = append(servers[t.Mutex], t)
		default:
			others[t.Mutex] = append(others[t.Mutex], t)
		}
	}
	if len(servers) == 0 {
		return
	}
	g := orderOf(tasks)
	for _, s := range tasks {
		if !s.Persistent || s.Mutex == "" || len(servers[s.Mutex]) > 1 {
			continue
		}
		after := reach(s.Index, g.After)
		for _, t := range others[s.Mutex] {
			if !after[t.Index] {
				g.AddEdge(t.Index, s.Index)
				s.behind = append(s.behind, t)
			}
		}
	}
}
