// Package archtest contains only tests of the whole tree: which package may import which, how long
// files, functions and packages may be, and which phrases a file must not contain. To fix a
// failure, change the code, or add an exception with a reason to a table of this package.
package archtest
