package ainb

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
)

// Bytes are bytes on the wire: base64 with padding, and when read also an array of numbers from 0 to
// 255. Nil is null.
type Bytes []byte

// MarshalJSON implements json.Marshaler.
func (b Bytes) MarshalJSON() ([]byte, error) { return json.Marshal([]byte(b)) }

// UnmarshalJSON implements json.Unmarshaler.
func (b *Bytes) UnmarshalJSON(data []byte) error {
	*b = nil
	switch {
	case string(data) == "null":
		return nil
	case data[0] == '"':
		text := data[1 : len(data)-1]
		if bytes.IndexByte(text, '\\') >= 0 { // "\/" is a "/" too
			var unescaped string
			if err := json.Unmarshal(data, &unescaped); err != nil {
				return err
			}
			text = []byte(unescaped)
		}
		decoded := make([]byte, base64.StdEncoding.DecodedLen(len(text)))
		n, err := base64.StdEncoding.Strict().Decode(decoded, text)
		if err != nil {
			return errors.New("the bytes are no base64 with padding")
		}
		*b = decoded[:n]
		return nil
	case data[0] != '[':
		return errors.New("the bytes are neither a string in base64 nor an array of numbers from 0 to 255")
	}
	var numbers []*uint16
	if err := json.Unmarshal(data, &numbers); err != nil {
		return err
	}
	list := make([]byte, len(numbers))
	for i, n := range numbers {
		if n == nil || *n > 255 {
			return errors.New("the array of bytes has a value that is no number from 0 to 255")
		}
		list[i] = byte(*n)
	}
	*b = list
	return nil
}
