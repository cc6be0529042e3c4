// Package archtest holds no code, only tests of the shape of the whole tree: which
// package may import which, how long files, functions and packages may get, and
// what a file must not say. What a test here refuses is changed in the code, or
// in a table of this package together with the reason.
package archtest
