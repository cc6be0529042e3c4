// Package crash marks the places where bento changes files: one call in front of
// each change. In a normal build the calls are empty and vanish. Built with the tag
// failpoints, they are the places where a test has bento killed: that the next run
// is right after each of them is what the crash tests check.
package crash
