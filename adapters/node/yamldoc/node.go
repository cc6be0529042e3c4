// Package yamldoc reads the YAML that package managers write, lockfiles of many
// thousand lines among it, and the settings that people write for them.
//
// What the managers write is a small part of YAML, and is read fast. Anything else
// is read by a full parser: a file means the same either way.
package yamldoc

// Kind is the type of a Node.
type Kind uint8

// The kinds. An absent node has kind 0.
const (
	Map Kind = iota + 1
	List
	Scalar
	Null
)

// Node is one value with its line. It does not change. All its methods work on a
// nil Node, which is an absent one.
type Node struct {
	kind  Kind
	line  int32
	text  string
	pairs []Pair
	items []*Node
}

// Pair is one key of a map.
type Pair struct {
	Key   string
	Line  int // 1-based
	Value *Node
}

// Kind tells the type, 0 for an absent node.
func (n *Node) Kind() Kind {
	if n == nil {
		return 0
	}
	return n.kind
}

// Line is where the node begins, from 1; 0 for an absent node.
func (n *Node) Line() int {
	if n == nil {
		return 0
	}
	return int(n.line)
}

// Text gives a scalar as it is written, without its quotes; "" for anything else.
func (n *Node) Text() string {
	if n == nil {
		return ""
	}
	return n.text
}

// Pairs gives the keys of a map in the order of the file, none for anything else.
func (n *Node) Pairs() []Pair {
	if n == nil {
		return nil
	}
	return n.pairs
}

// Items gives the elements of a list, none for anything else.
func (n *Node) Items() []*Node {
	if n == nil {
		return nil
	}
	return n.items
}

// Get gives what stands under a path of keys, nil where there is nothing.
func (n *Node) Get(path ...string) *Node {
	for _, key := range path {
		next := (*Node)(nil)
		for i := range n.Pairs() {
			if n.pairs[i].Key == key {
				next = n.pairs[i].Value
			}
		}
		n = next
	}
	return n
}
