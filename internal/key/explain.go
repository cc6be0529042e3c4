package key

import "github.com/bentobuild/bento/cache"

// Explanation holds the ingredients of a key, and its differences from another key.
type Explanation struct {
	Key         cache.Key
	Ingredients []ingredient
	Inputs      fileSet
	Discovered  fileSet       // what the discovered inputs hold
	WhyDeclared string        // see Files.WhyDeclared; only of a task
	FindsInputs bool          // Inputs are only names, and Discovered holds what was read
	Record      *cache.Record // of Key, nil when the cache has none
	Against     cache.Key     // the key that Changes compares with; zero for none
	Changes     []Change
}

// Explain returns the ingredients of a recorded key, and its differences from another recorded key if
// that is not zero. The error is cache.ErrMiss if the cache lacks one of the keys.
func Explain(s cache.Store, key, other cache.Key) (Explanation, error) {
	record, err := s.Lookup(key)
	if err != nil {
		return Explanation{}, err
	}
	all := newProvenanceReader(s)
	made, err := all.in(record)
	x := Explanation{Key: key, Record: record, Against: other}
	if err != nil {
		return x, err
	}
	x.Ingredients = made.Ingredients
	for _, in := range x.Ingredients {
		switch { // shown if the pack has them
		case in.Kind == KindFiles && (in.Name == discoveredName || in.Name == readName):
			x.Discovered, _ = decodeFileSet(fetch(made.Blob, in.Value))
		case in.Kind == KindFiles && (in.Name == inputsName || in.Name == namesName):
			x.FindsInputs = in.Name == namesName
			x.Inputs, _ = decodeFileSet(fetch(made.Blob, in.Value))
		}
	}
	if other == (cache.Key{}) {
		return x, nil
	}
	old, err := all.Of(other)
	if err != nil {
		return x, err
	}
	x.Changes = differences(old.Ingredients, x.Ingredients, old.Blob, made.Blob)
	return x, nil
}
