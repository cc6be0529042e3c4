// Package pipe makes pipes of which one end is for a child.
package pipe
