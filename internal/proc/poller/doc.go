// Package poller waits for several descriptors at once, on one goroutine. Go's own
// poller takes one for each. It is for Linux.
package poller
