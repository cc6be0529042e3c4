// Package sep is the host's side of SEP v1, the sidecar extension protocol: it decides what an
// extension may do, starts it, answers its requests, sends it events and watches its health.
//
// The contract's document has the names of methods and permissions, and a schema of the manifest.
// Bodies, codes, framing and times are those of docs/EXTENSION-PROTOCOL-SEP.md.
package sep
