package reapi

import (
	"errors"
	"fmt"

	"google.golang.org/protobuf/encoding/protowire"
)

// A message of protocol buffers is a sequence of fields, each with a number. Package protowire knows their form; here
// are the few that a client of a cache reads and writes.

// field is one field of a message. Groups, which the API does not have, are skipped.
type field struct {
	number protowire.Number
	kind   protowire.Type
	n      uint64 // of a varint
	data   []byte // of a text, of bytes or of a message; a part of what was decoded
}

// errMessage is the error of bytes that are no message of protocol buffers.
var errMessage = errors.New("malformed message")

// fields calls take for each field of a message.
func fields(message []byte, take func(field) error) error {
	for len(message) > 0 {
		number, kind, n := protowire.ConsumeTag(message)
		if n < 0 {
			return errMessage
		}
		f := field{number: number, kind: kind}
		value := message[n:]
		switch kind {
		case protowire.VarintType:
			f.n, n = protowire.ConsumeVarint(value)
		case protowire.BytesType:
			f.data, n = protowire.ConsumeBytes(value)
		default:
			n = protowire.ConsumeFieldValue(number, kind, value)
		}
		if n < 0 {
			return errMessage
		}
		message = value[n:]
		if err := take(f); err != nil {
			return err
		}
	}
	return nil
}

// is reports whether a field has the number and the kind. One with another kind is of no known field, and is ignored.
func (f *field) is(number protowire.Number, kind protowire.Type) bool {
	return f.number == number && f.kind == kind
}

// enums calls take for each number of a repeated field of enums, which is packed or not.
func (f *field) enums(number protowire.Number, take func(uint64)) error {
	if f.is(number, protowire.VarintType) {
		take(f.n)
	}
	if !f.is(number, protowire.BytesType) {
		return nil
	}
	for rest := f.data; len(rest) > 0; {
		v, n := protowire.ConsumeVarint(rest)
		if n < 0 {
			return errMessage
		}
		take(v)
		rest = rest[n:]
	}
	return nil
}

// appendBytes appends a field, unless it is empty, as the default is.
func appendBytes[T string | []byte](b []byte, number protowire.Number, data T) []byte {
	if len(data) == 0 {
		return b
	}
	return appendMessage(b, number, data)
}

// appendMessage appends a field that is there even if it is empty.
func appendMessage[T string | []byte](b []byte, number protowire.Number, data T) []byte {
	b = protowire.AppendTag(b, number, protowire.BytesType)
	return append(protowire.AppendVarint(b, uint64(len(data))), data...)
}

func appendNumber(b []byte, number protowire.Number, n uint64) []byte {
	if n == 0 {
		return b
	}
	return protowire.AppendVarint(protowire.AppendTag(b, number, protowire.VarintType), n)
}

// status is a google.rpc.Status, without details.
type status struct {
	code Code
	text string
}

func decodeStatus(message []byte) (s status, err error) {
	err = fields(message, func(f field) error {
		switch {
		case f.is(1, protowire.VarintType):
			s.code = Code(int32(f.n))
		case f.is(2, protowire.BytesType):
			s.text = printable(string(f.data))
		}
		return nil
	})
	if err != nil {
		return status{}, fmt.Errorf("a status: %w", err)
	}
	return s, nil
}
