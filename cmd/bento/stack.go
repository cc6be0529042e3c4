package main

// deepen grows the stack of its goroutine to 128 KiB at once, while it has few frames. The runtime doubles
// a full stack, and then reads the tables of every function on it. A short command does not need these
// parts of the program otherwise. Unless use is set, deepen reserves its frame without touching it.
//
//go:noinline
func deepen(use bool) (sum byte) {
	if !use {
		return 0
	}
	var frame [64 << 10]byte
	for i := range frame {
		frame[i] = byte(i) + sum
		sum += frame[len(frame)-1-i]
	}
	return sum
}
