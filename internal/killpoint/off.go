//go:build !failpoints

package killpoint

// Point marks the place before a change that happens in one step.
func Point() {}

// Write calls write with p.
func Write(write func([]byte) (int, error), p []byte) (int, error) { return write(p) }
