package remote

import (
	"encoding/hex"
	"errors"
	"math"
	"strings"
	"time"

	"google.golang.org/protobuf/encoding/protowire"
)

// A message of Protocol Buffers is built by these functions. A field with its default value is left out, as the
// canonical form of the Remote Execution API wants it: equal messages have equal digests.

// appendText replaces what is not UTF-8, which a text of Protocol Buffers must be and a path need not.
func appendText(b []byte, field protowire.Number, s string) []byte {
	if s == "" {
		return b
	}
	return protowire.AppendString(protowire.AppendTag(b, field, protowire.BytesType), strings.ToValidUTF8(s, "\ufffd"))
}

func appendBytes(b []byte, field protowire.Number, value []byte) []byte {
	return protowire.AppendBytes(protowire.AppendTag(b, field, protowire.BytesType), value)
}

func appendNumber(b []byte, field protowire.Number, n uint64) []byte {
	if n == 0 {
		return b
	}
	return protowire.AppendVarint(protowire.AppendTag(b, field, protowire.VarintType), n)
}

// appendDigest adds a Digest: hash = 1, size_bytes = 2.
func appendDigest(b []byte, field protowire.Number, d Digest) []byte {
	return appendBytes(b, field, encodeDigest(d))
}

func encodeDigest(d Digest) []byte {
	m := make([]byte, 0, 80)
	return appendNumber(appendText(m, 1, hex.EncodeToString(d.Hash[:])), 2, uint64(d.Size))
}

// appendTime adds a google.protobuf.Timestamp: seconds = 1, nanos = 2.
func appendTime(b []byte, field protowire.Number, t time.Time) []byte {
	m := appendNumber(nil, 1, uint64(t.Unix()))
	return appendBytes(b, field, appendNumber(m, 2, uint64(t.Nanosecond())))
}

var errMessage = errors.New("not a message of the Remote Execution API")

// eachField calls f with the fields of a message: with a number, or with the bytes of a text or message. It skips
// fields of other types. It does not allocate.
func eachField(message []byte, f func(field protowire.Number, number uint64, data []byte) error) error {
	for len(message) > 0 {
		field, kind, n := protowire.ConsumeTag(message)
		if n < 0 {
			return errMessage
		}
		message = message[n:]
		var number uint64
		var data []byte
		switch kind {
		case protowire.VarintType:
			number, n = protowire.ConsumeVarint(message)
		case protowire.BytesType:
			data, n = protowire.ConsumeBytes(message)
		default:
			n = protowire.ConsumeFieldValue(field, kind, message)
		}
		if n < 0 {
			return errMessage
		}
		message = message[n:]
		if kind != protowire.VarintType && kind != protowire.BytesType {
			continue
		}
		if err := f(field, number, data); err != nil {
			return err
		}
	}
	return nil
}

// decodeDigest reads a Digest whose size is at most limit.
func decodeDigest(message []byte, limit int64) (d Digest, err error) {
	err = eachField(message, func(field protowire.Number, number uint64, data []byte) error {
		switch field {
		case 1:
			if len(data) != hex.EncodedLen(len(d.Hash)) {
				return errMessage
			}
			if _, err := hex.Decode(d.Hash[:], data); err != nil {
				return errMessage
			}
		case 2:
			if number > math.MaxInt64 || int64(number) > limit {
				return errMessage
			}
			d.Size = int64(number)
		}
		return nil
	})
	if d.Hash == (Digest{}.Hash) {
		err = errMessage
	}
	return d, err
}
