// Package groups tells another process which process groups there are, in memory that both
// see, so that nobody is woken by a change. It is for Linux.
package groups
