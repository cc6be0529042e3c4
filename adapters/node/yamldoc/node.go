// Package yamldoc reads the YAML that package managers write, such as lockfiles of many
// thousand lines, and the settings that people write for them.
//
// The fast parser reads the small part of YAML that the managers write. The full parser
// reads everything else. Both return the same nodes.
package yamldoc

// Kind is the type of a Node.
type Kind uint8

// The kinds. A missing node has kind 0.
const (
	Map Kind = iota + 1
	List
	Scalar
	Null
)

// Node is one value with its line. It does not change. All its methods accept a nil Node,
// which is a missing one.
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

// Kind returns the type, 0 for a missing node.
func (n *Node) Kind() Kind {
	if n == nil {
		return 0
	}
	return n.kind
}

// Line returns the line where the node begins, from 1; 0 for a missing node.
func (n *Node) Line() int {
	if n == nil {
		return 0
	}
	return int(n.line)
}

// Text returns the text of a scalar without its quotes; "" for any other node.
func (n *Node) Text() string {
	if n == nil {
		return ""
	}
	return n.text
}

// Pairs returns the keys of a map in the order of the file, none for any other node.
func (n *Node) Pairs() []Pair {
	if n == nil {
		return nil
	}
	return n.pairs
}

// Items returns the elements of a list, none for any other node.
func (n *Node) Items() []*Node {
	if n == nil {
		return nil
	}
	return n.items
}

// Get returns the node at a path of keys, or nil.
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
