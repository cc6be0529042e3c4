package answers

// grouping splits numbers into groups. The members of a group are in the same lists.
type grouping struct {
	of    []int // the group of each number
	sizes []int // of groups
	in    []int // the number of members of each group in the current list
	split []int // the group that those members move to, 0 for none
}

// group replaces the numbers below n in each list by their groups, and returns the groups. Most answers about
// the members of a workspace depend on the same thousands of paths, which so are in the file once. Each number
// is in a list.
func group(lists [][]int, n int) (groups [][]int) {
	g := grouping{of: make([]int, n), sizes: []int{n}, in: []int{0}, split: []int{0}}
	for _, list := range lists {
		g.refine(list)
	}
	names := make([]int, len(g.sizes)) // indices in groups plus one
	for i, of := range g.of {
		if names[of] == 0 {
			groups = append(groups, nil)
			names[of] = len(groups)
		}
		groups[names[of]-1] = append(groups[names[of]-1], i)
	}
	for i, list := range lists {
		var whole []int
		for _, n := range list {
			if at := names[g.of[n]] - 1; groups[at][0] == n {
				whole = append(whole, at)
			}
		}
		lists[i] = whole
	}
	return groups
}

// refine moves the members of a list out of each group that has others, too.
func (g *grouping) refine(list []int) {
	for _, n := range list {
		g.in[g.of[n]]++
	}
	var parted []int
	for _, n := range list {
		was := g.of[n]
		if g.in[was] == g.sizes[was] {
			continue
		}
		if g.split[was] == 0 {
			parted = append(parted, was)
			g.split[was] = len(g.sizes)
			g.sizes, g.in, g.split = append(g.sizes, g.in[was]), append(g.in, 0), append(g.split, 0)
		}
		g.of[n] = g.split[was]
	}
	for _, was := range parted {
		g.sizes[was] -= g.in[was]
		g.in[was], g.split[was] = 0, 0
	}
	for _, n := range list {
		g.in[g.of[n]] = 0
	}
}
