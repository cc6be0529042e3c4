package remote

import (
	"bytes"
	"path"
	"slices"
	"strings"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/bentobuild/bento/cache"
)

// A result is the ActionResult of an Action of the Remote Execution API. The Action only names it: the key is its
// salt, with the class and the scope. Its command and input root are constant, so nothing of the workspace is in it
// and the key alone has its digest. Equal IDs have equal actions on every machine.

// command returns the Command that all actions have.
func command() []byte { return appendText(nil, 1, "bento") } // arguments = 1

// action returns the encoded Action that names id.
func action(id ID) []byte {
	salt := make([]byte, 0, 64+len(id.Class)+len(id.Scope))
	salt = append(append(salt, "bento 1\x00"...), id.Key[:]...)
	salt = append(append(append(salt, id.Class...), 0), id.Scope...)
	b := appendDigest(nil, 1, Sum(command())) // command_digest = 1
	b = appendDigest(b, 2, Sum(nil))          // input_root_digest = 2: the empty Directory
	return appendBytes(b, 9, salt)            // salt = 9
}

// Action returns the digest of the action that names the result on a server with an action cache.
func (id ID) Action() Digest { return Sum(action(id)) }

const (
	maxInline   = 64 << 10 // largest envelope in the ActionResult itself, in bytes
	maxFlat     = 5_000    // most outputs that are listed one by one; more are in Trees
	maxFlatSize = 2 << 20  // in bytes, of paths and digests that are listed one by one
	typeURL     = "type.googleapis.com/bento.remote."
	inlineURL   = typeURL + "Envelope"
	digestURL   = typeURL + "EnvelopeDigest"

	// envelopePath is the path of an envelope that is a blob of its own. No output can have it.
	envelopePath = ".bento/result"
)

// encoded is a result as a Backend stores it.
type encoded struct {
	action, result []byte
	blobs          [][]byte // that the result names and no disk has
}

// encodeResult returns the ActionResult of e, whose sealed form is sealed. The server only needs it to keep the blobs of a
// result together; a reader of bento uses the envelope.
func encodeResult(e *Envelope, sealed []byte) encoded {
	out := encoded{action: action(e.ID)}
	out.blobs = append(out.blobs, out.action, command())
	wire := e.wires()
	var list listing
	list.add(e.Record, wire)
	if len(e.Record.Outputs) > maxFlat || list.size() > maxFlatSize {
		list = listing{}
		out.blobs = append(out.blobs, list.addTrees(e.Record, wire)...)
	}
	if len(list.dirs) > 0 {
		out.blobs = append(out.blobs, emptyTree())
	}
	url, value := inlineURL, sealed
	if len(sealed) > maxInline {
		out.blobs = append(out.blobs, sealed)
		list.files = appendFile(list.files, 2, envelopePath, Sum(sealed), 0o644)
		url, value = digestURL, encodeDigest(Sum(sealed))
	}
	for _, data := range e.Record.Small {
		out.blobs = append(out.blobs, data)
	}
	b := slices.Concat(list.files, list.dirs)
	if r := e.Record; r.Log != (cache.Digest{}) {
		b = appendDigest(b, 6, wire(r.Log)) // stdout_digest = 6
	}
	b = appendBytes(b, 9, metadata(e, url, value)) // execution_metadata = 9
	out.result = append(b, list.links...)
	return out
}

// metadata returns the ExecutedActionMetadata: worker = 1, worker_start_timestamp = 3, worker_completed_timestamp = 4,
// auxiliary_metadata = 11, an Any with type_url = 1 and value = 2.
func metadata(e *Envelope, url string, value []byte) []byte {
	m := appendText(nil, 1, e.Class)
	m = appendTime(m, 3, e.Record.Created.Add(-e.Record.Duration))
	m = appendTime(m, 4, e.Record.Created)
	return appendBytes(m, 11, appendBytes(appendText(nil, 1, url), 2, value))
}

// wires returns a function that returns the digest on the wire of a blob of the record.
func (e *Envelope) wires() func(cache.Digest) Digest {
	wire := make(map[cache.Digest]Digest, len(e.Wire))
	blobs, _ := Blobs(e.Record) // Seal has checked them
	for i := range min(len(blobs), len(e.Wire)) {
		wire[blobs[i].Digest] = e.Wire[i]
	}
	return func(d cache.Digest) Digest {
		if data, own := e.Record.Small[d]; own {
			return Sum(data)
		}
		return wire[d]
	}
}

// listing are the outputs of an ActionResult: output_files = 2, output_directories = 3, output_symlinks = 12.
type listing struct{ files, dirs, links []byte }

func (l *listing) size() int { return len(l.files) + len(l.dirs) + len(l.links) }

// add lists the outputs of r one by one.
func (l *listing) add(r *cache.Record, wire func(cache.Digest) Digest) {
	parents := parentsOf(r)
	for i := range r.Outputs {
		o := &r.Outputs[i]
		switch {
		case o.Kind == cache.File:
			l.files = appendFile(l.files, 2, o.Path, wire(o.Digest), uint64(o.Mode))
		case o.Kind == cache.Link:
			l.links = appendBytes(l.links, 12, appendText(appendText(nil, 1, o.Path), 2, o.Target))
		case !parents[o.Path]:
			l.dirs = appendBytes(l.dirs, 3, outputDirectory(o.Path, Sum(emptyTree())))
		}
	}
}

// appendFile adds an OutputFile: path = 1, digest = 2, is_executable = 4, node_properties = 7.
func appendFile(b []byte, field protowire.Number, name string, d Digest, mode uint64) []byte {
	return appendBytes(b, field, fileMessage(name, d, mode, 7))
}

func fileMessage(name string, d Digest, mode uint64, properties protowire.Number) []byte {
	m := appendDigest(appendText(nil, 1, name), 2, d)
	if mode&0o100 != 0 {
		m = appendNumber(m, 4, 1)
	}
	unixMode := appendNumber(nil, 1, mode)                           // UInt32Value: value = 1
	return appendBytes(m, properties, appendBytes(nil, 3, unixMode)) // NodeProperties: unix_mode = 3
}

// outputDirectory returns an OutputDirectory: path = 1, tree_digest = 3.
func outputDirectory(name string, tree Digest) []byte {
	return appendDigest(appendText(nil, 1, name), 3, tree)
}

// emptyTree returns a Tree with an empty root.
func emptyTree() []byte { return appendBytes(nil, 1, nil) }

// parentsOf returns the directories that have an output below them.
func parentsOf(r *cache.Record) map[string]bool {
	parents := make(map[string]bool)
	for i := range r.Outputs {
		for dir := path.Dir(r.Outputs[i].Path); dir != "." && !parents[dir]; dir = path.Dir(dir) {
			parents[dir] = true
		}
	}
	return parents
}

// directory is a directory of outputs while its message is built.
type directory struct {
	files, links []*cache.Output // sorted by name
	dirs         []string        // sorted, each once
	at           map[string]*directory
}

// addTrees lists the directories at the top of the workspace that have outputs, and the outputs at the top themselves. It
// returns the Trees of the directories and the messages in them: buildbox-casd has no result whose Tree has a directory that is
// not a blob, too.
func (l *listing) addTrees(r *cache.Record, wire func(cache.Digest) Digest) (blobs [][]byte) {
	top := &directory{}
	for i := range r.Outputs {
		top.add(r.Outputs[i].Path, &r.Outputs[i])
	}
	here := cache.Record{}
	for _, o := range append(top.files, top.links...) {
		here.Outputs = append(here.Outputs, *o)
	}
	l.add(&here, wire)
	for _, name := range top.dirs {
		var children [][]byte
		root := top.at[name].message(wire, &children)
		tree := appendBytes(nil, 1, root) // Tree: root = 1, children = 2
		seen := make(map[Digest]bool, len(children))
		for _, child := range children {
			if d := Sum(child); !seen[d] {
				seen[d] = true
				tree = appendBytes(tree, 2, child)
				blobs = append(blobs, child)
			}
		}
		blobs = append(blobs, tree, root)
		l.dirs = appendBytes(l.dirs, 3, outputDirectory(name, Sum(tree)))
	}
	return blobs
}

func (d *directory) add(rest string, o *cache.Output) {
	name, below, deep := strings.Cut(rest, "/")
	switch {
	case deep:
		d.enter(name).add(below, o)
	case o.Kind == cache.Dir:
		d.enter(name)
	case o.Kind == cache.Link:
		d.links = append(d.links, o)
	default:
		d.files = append(d.files, o)
	}
}

func (d *directory) enter(name string) *directory {
	if d.at == nil {
		d.at = make(map[string]*directory)
	}
	if d.at[name] == nil {
		d.at[name] = &directory{}
		d.dirs = append(d.dirs, name)
	}
	return d.at[name]
}

// message returns the Directory: files = 1, directories = 2, symlinks = 3. It appends those below it to children.
func (d *directory) message(wire func(cache.Digest) Digest, children *[][]byte) []byte {
	var b []byte
	for _, o := range d.files {
		b = appendBytes(b, 1, fileMessage(path.Base(o.Path), wire(o.Digest), uint64(o.Mode), 6))
	}
	for _, name := range slices.Sorted(slices.Values(d.dirs)) {
		m := d.at[name].message(wire, children)
		*children = append(*children, m)
		b = appendBytes(b, 2, appendDigest(appendText(nil, 1, name), 2, Sum(m)))
	}
	for _, o := range d.links {
		b = appendBytes(b, 3, appendText(appendText(nil, 1, path.Base(o.Path)), 2, o.Target))
	}
	return b
}

// envelopeOf returns the envelope in an encoded ActionResult, or the digest of the blob that is the envelope. It returns a
// *RefusedError if there is neither.
func envelopeOf(result []byte) (sealed []byte, at Digest, err error) {
	if len(result) > MaxResult {
		return nil, at, refuse(OutOfBounds, nil)
	}
	err = eachField(result, func(field protowire.Number, _ uint64, meta []byte) error {
		if field != 9 {
			return nil
		}
		return eachField(meta, func(field protowire.Number, _ uint64, any []byte) error {
			if field != 11 {
				return nil
			}
			return openAny(any, &sealed, &at)
		})
	})
	switch {
	case err != nil:
		return nil, Digest{}, refuse(Damaged, err)
	case sealed == nil && at == Digest{}:
		return nil, Digest{}, refuse(Unsigned, nil) // the result of another tool
	}
	return sealed, at, nil
}

func openAny(message []byte, sealed *[]byte, at *Digest) error {
	var url string
	var value []byte
	err := eachField(message, func(field protowire.Number, _ uint64, data []byte) error {
		switch field {
		case 1:
			if len(data) <= len(digestURL) {
				url = string(data)
			}
		case 2:
			value = data
		}
		return nil
	})
	switch {
	case err != nil:
	case url == inlineURL && len(value) > 0:
		*sealed = bytes.Clone(value)
	case url == digestURL:
		*at, err = decodeDigest(value, MaxEnvelope)
	}
	return err
}
