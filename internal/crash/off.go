//go:build !failpoints

package crash

// Point stands in front of a change that is made in one step.
func Point() {}

// Write calls write with p.
func Write(write func([]byte) (int, error), p []byte) (int, error) { return write(p) }
