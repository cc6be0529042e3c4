package main

// deepen makes the stack of its goroutine 128 KiB deep at once, while it holds few frames. The
// runtime doubles a stack whenever it is full, and then reads tables of every function on it: parts
// of the program that no short command needs otherwise. Without use the frame is reserved and never
// touched.
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
