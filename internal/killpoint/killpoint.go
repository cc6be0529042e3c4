// Package killpoint marks the places where bento changes files: one call before each change. In a
// normal build the calls are empty and the compiler removes them. With the build tag failpoints a
// test kills bento at these places, and checks that the next run succeeds.
package killpoint
