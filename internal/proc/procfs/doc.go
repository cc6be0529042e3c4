// Package procfs reads what Linux tells of processes in /proc, and marks them so that it
// can be read there.
package procfs
