package remote

import (
	"bytes"
	"errors"
	"fmt"
	"path"
	"strings"

	"github.com/bentobuild/bento/cache"
	"github.com/bentobuild/bento/internal/pack"
)

// Envelope is a result as it is sent: what it is the result of, its record, and by whom it is signed. An encoded
// envelope is envelopeMagic and the fields in the order of Seal, as package pack writes them. A change of the format
// changes envelopeMagic; an unknown one is a miss.
type Envelope struct {
	ID
	Record *cache.Record
	Wire   []Digest // of the blobs that Blobs returns for Record, in that order; nil where a store needs none
	By     string   // name of the trusted key that signed it, "" for none
}

const envelopeMagic = "bentoe\x00\x01"

// Bounds of what is sent and accepted.
const (
	MaxEnvelope   = 32 << 20  // of an encoded envelope, in bytes
	MaxOutputs    = 200_000   // of a result
	MaxBytes      = 256 << 30 // of all blobs of a result
	maxSignatures = 8
	maxWord       = 256 // of a class or scope, in bytes
)

// Reason is why a result is not used.
type Reason string

// The reasons. They are texts after "results were refused: ".
const (
	Unsigned     Reason = "they have no signature"
	UnknownKey   Reason = "no trusted key has signed them"
	ExpiredKey   Reason = "the key that signed them has expired"
	BadSignature Reason = "their signature is wrong"
	Elsewhere    Reason = "they belong to another key, machine class or scope"
	OtherVersion Reason = "another version of bento made them"
	Damaged      Reason = "they are damaged"
	OutOfBounds  Reason = "they are too large"
	Forbidden    Reason = "they have outputs that no task may have"
)

// RefusedError reports that a server has a result that is not used. It is also ErrMiss.
type RefusedError struct {
	Reason Reason
	Cause  error // nil if Reason has everything
}

func (e *RefusedError) Error() string {
	if e.Cause == nil {
		return "remote result refused: " + string(e.Reason)
	}
	return fmt.Sprintf("remote result refused: %s: %v", e.Reason, e.Cause)
}

// Is reports whether target is ErrMiss.
func (e *RefusedError) Is(target error) bool { return target == ErrMiss }

func (e *RefusedError) Unwrap() error { return e.Cause }

func refuse(reason Reason, cause error) error { return &RefusedError{Reason: reason, Cause: cause} }

// Seal returns the encoded envelope of e, signed by signer, which may be nil. It ignores e.By. It returns an error,
// which is ErrPrivate, for a result that must not be sent.
func Seal(e *Envelope, signer *Signer) ([]byte, error) {
	if err := checkWord(e.Class); err != nil {
		return nil, err
	}
	if err := checkWord(e.Scope); err != nil {
		return nil, err
	}
	if e.Record.Host != "" || e.Record.Pack != (cache.Digest{}) || e.Record.Ingredients != (cache.Digest{}) {
		return nil, errors.New("seal: the record is not the result of Public")
	}
	if err := checkRecord(e.Record); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrPrivate, err)
	}
	record, err := cache.EncodeRecord(e.Key, e.Record)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrPrivate, err)
	}
	var w pack.Writer
	w.Grow(len(record) + len(e.Wire)*wireSize + 512)
	w.Raw([]byte(envelopeMagic))
	w.Raw(e.Key[:])
	w.String(e.Class)
	w.String(e.Scope)
	w.String(string(record))
	w.Uint(uint64(len(e.Wire)))
	for _, d := range e.Wire {
		w.Raw(d.Hash[:])
	}
	if signer == nil {
		w.Uint(0)
	} else {
		w.Uint(1)
		w.Raw(signer.public())
		w.Raw(signer.sign(message(e.ID, record)))
	}
	if n := len(w.Payload()); n > MaxEnvelope {
		return nil, fmt.Errorf("%w: its record has %d bytes, more than %d", ErrPrivate, n, MaxEnvelope)
	}
	return w.Payload(), nil
}

const wireSize = 32 // of a digest on the wire, whose size the record has

// Open decodes an envelope that came from a server as the result of id. It returns a *RefusedError unless trust
// accepts it as exactly that, and its record is one that a task of bento can have.
func Open(data []byte, id ID, trust *Trust) (*Envelope, error) {
	if len(data) > MaxEnvelope {
		return nil, refuse(OutOfBounds, nil)
	}
	body, ours := bytes.CutPrefix(data, []byte(envelopeMagic))
	if !ours {
		return nil, refuse(OtherVersion, nil)
	}
	r := pack.NewReader(body)
	var got ID
	copy(got.Key[:], r.Raw(uint64(len(got.Key))))
	got.Class, got.Scope = r.String(), r.String()
	record := r.Raw(r.Uint())
	sums := r.Raw(r.Count(wireSize) * wireSize)
	signatures := readSignatures(r)
	if r.End() != nil {
		return nil, refuse(Damaged, nil)
	}
	if got != id {
		return nil, refuse(Elsewhere, nil)
	}
	by, err := trust.check(func() []byte { return message(id, record) }, signatures)
	if err != nil {
		return nil, err
	}
	e := &Envelope{ID: id, By: by}
	if err := e.readRecord(record); err != nil {
		return nil, err
	}
	return e, e.readWire(sums)
}

func (e *Envelope) readRecord(record []byte) (err error) {
	if e.Record, err = cache.DecodeRecord(e.Key, record, MaxOutputs); err != nil {
		var forbidden *cache.RefusedError
		if errors.As(err, &forbidden) {
			return refuse(Forbidden, err)
		}
		return refuse(OtherVersion, err) // its checksum is right if the signature is
	}
	if err := checkRecord(e.Record); err != nil {
		return refuse(Forbidden, err)
	}
	// A server that is trusted without signatures decides nothing else.
	e.Record.Host, e.Record.Pack, e.Record.Ingredients = "", cache.Digest{}, cache.Digest{}
	return nil
}

func (e *Envelope) readWire(sums []byte) error {
	if len(sums) == 0 {
		return nil
	}
	blobs, err := Blobs(e.Record)
	if err != nil || len(blobs)*wireSize != len(sums) {
		return refuse(Damaged, err)
	}
	e.Wire = make([]Digest, len(blobs))
	for i := range blobs {
		copy(e.Wire[i].Hash[:], sums[i*wireSize:])
		e.Wire[i].Size = blobs[i].Size
	}
	return nil
}

// message returns the bytes that are signed: they say of what the record is the result.
func message(id ID, record []byte) []byte {
	var w pack.Writer
	w.Grow(len(record) + 512)
	w.Raw([]byte("bento remote result 1\x00"))
	w.Raw(id.Key[:])
	w.String(id.Class)
	w.String(id.Scope)
	w.String(string(record))
	return w.Payload()
}

// checkRecord returns an error for a record that no other machine may use.
func checkRecord(r *cache.Record) error {
	if r.Exit != 0 {
		return fmt.Errorf("it exited with status %d", r.Exit)
	}
	if len(r.Outputs) > MaxOutputs {
		return fmt.Errorf("it has %d outputs, more than %d", len(r.Outputs), MaxOutputs)
	}
	if err := cache.CheckOutputs(r.Outputs); err != nil {
		return err
	}
	for i := range r.Outputs {
		if o := &r.Outputs[i]; o.Kind == cache.Link {
			if err := checkLink(o); err != nil {
				return err
			}
		}
	}
	blobs, err := Blobs(r)
	if err != nil {
		return err
	}
	total := int64(0)
	for _, b := range blobs {
		if b.Size < 0 || b.Size > MaxBytes-total {
			return fmt.Errorf("its blobs have more than %d bytes", int64(MaxBytes))
		}
		total += b.Size
	}
	return nil
}

// checkLink returns an error for a link that leads out of the workspace, or to a path of one machine.
func checkLink(o *cache.Output) error {
	if path.IsAbs(o.Target) || strings.ContainsAny(o.Target, "\\:") && isWindowsPath(o.Target) {
		return cache.Refuse(o.Path, "it is a link to the absolute path %q", o.Target)
	}
	return cache.CheckTarget("/", o.Path, o.Target)
}

// isWindowsPath reports whether a target is absolute on Windows.
func isWindowsPath(target string) bool {
	return strings.HasPrefix(target, `\`) || len(target) > 1 && target[1] == ':'
}

func checkWord(s string) error {
	if s == "" || len(s) > maxWord {
		return fmt.Errorf("class or scope %q: want 1 to %d bytes", s, maxWord)
	}
	for _, c := range []byte(s) {
		if c < ' ' || c > '~' {
			return fmt.Errorf("class or scope %q: want printable ASCII", s)
		}
	}
	return nil
}
