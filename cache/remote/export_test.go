package remote

import "github.com/bentobuild/bento/internal/pack"

// Forge returns an envelope without any check, as a modified bento could write it.
func Forge(said ID, record []byte, wire []Digest, signer *Signer) []byte {
	var w pack.Writer
	w.Raw([]byte(envelopeMagic))
	w.Raw(said.Key[:])
	w.String(said.Class)
	w.String(said.Scope)
	w.String(string(record))
	w.Uint(uint64(len(wire)))
	for _, d := range wire {
		w.Raw(d.Hash[:])
	}
	if signer == nil {
		w.Uint(0)
		return w.Payload()
	}
	w.Uint(1)
	w.Raw(signer.public())
	w.Raw(signer.sign(message(said, record)))
	return w.Payload()
}

// Carry returns an ActionResult with an envelope.
func Carry(e *Envelope, sealed []byte) []byte { return encodeResult(e, sealed).result }

// StageSize is the least size of a blob of which a part is kept.
const StageSize = stageSize
