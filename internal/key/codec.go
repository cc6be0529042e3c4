package key

import (
	"fmt"

	"github.com/bentobuild/bento/internal/pack"
)

// Ingredients and file sets are stored as blobs: a line that names the format,
// then fields.
const (
	ingredientsMagic = "bento ingredients 1\n"
	fileSetMagic     = "bento files 1\n"
)

// encodeIngredients returns the blob that records list.
func encodeIngredients(list []ingredient) []byte {
	var w pack.Writer
	w.Raw([]byte(ingredientsMagic))
	w.Uint(uint64(len(list)))
	for _, in := range list {
		w.Byte(byte(in.Kind))
		w.String(in.Name)
		w.String(in.Value)
	}
	return w.Payload()
}

// decodeIngredients reads a blob that encodeIngredients returned.
func decodeIngredients(blob []byte) ([]ingredient, error) {
	r, err := open(blob, ingredientsMagic)
	if err != nil {
		return nil, fmt.Errorf("ingredients: %w", err)
	}
	var list []ingredient
	for range r.Count(3) {
		list = append(list, ingredient{Kind: Kind(r.Byte()), Name: r.String(), Value: r.String()})
	}
	if err := r.End(); err != nil {
		return nil, fmt.Errorf("ingredients: %w", err)
	}
	return list, nil
}

// open returns a reader of the fields behind magic.
func open(blob []byte, magic string) (*pack.Reader, error) {
	r := pack.NewReader(blob)
	if string(r.Raw(uint64(len(magic)))) != magic {
		return nil, pack.ErrFormat
	}
	return r, nil
}
