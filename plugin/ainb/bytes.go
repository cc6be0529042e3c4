package ainb

import (
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
		var text string
		if err := json.Unmarshal(data, &text); err != nil {
			return err
		}
		decoded, err := base64.StdEncoding.Strict().DecodeString(text)
		if err != nil {
			return errors.New("the bytes are no base64 with padding")
		}
		*b = decoded
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
