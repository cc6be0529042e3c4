package action

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"os"
	"path"
	"strings"
	"sync"

	"github.com/zeebo/blake3"

	"github.com/bentobuild/bento/cache"
	"github.com/bentobuild/bento/internal/killpoint"
	"github.com/bentobuild/bento/internal/pack"
	"github.com/bentobuild/bento/internal/state"
)

// logMagic starts a stored log: then come the segments (how many; of each the
// stream and its length), then the bytes in the order in which they were printed.
const logMagic = "bento log 1\n"

// maxSegments is the largest number of segments. The last one has the rest of the log.
const maxSegments = 1 << 20

// smallLog is the size of the largest log that Store reads into memory, in bytes.
const smallLog = 16 << 10

// maxRest is the number of bytes at the end of an unwritable log that are kept.
const maxRest = 64 << 10

// Stream is the stream to which a task printed something.
type Stream byte

// The two streams. The values are part of stored logs.
const (
	Stdout Stream = 1
	Stderr Stream = 2
)

// segment is a piece of a log that came from one stream.
type segment struct {
	Stream Stream
	Size   uint64 // bytes
}

// Log is the log of one execution. It is safe for concurrent use.
type Log struct {
	dir   *state.Dir
	name  string       // of the file in dir
	fresh *state.Fresh // the file
	o     LogOptions

	mu       sync.Mutex
	file     *os.File // nil if nothing was printed, or the file cannot be written
	broken   bool
	rest     []byte // the end of the output that could not be written
	segments []segment
	size     int64 // of the segments
	dropped  int64 // bytes that shorten has removed
}

// LogOptions are the settings of a Log. All fields are optional.
type LogOptions struct {
	Forward func(Stream, []byte) // receives the output while it is printed
	// Failed is called once when the file cannot be written; the log continues without it.
	Failed func(error)
	// Most is the largest size of the file in bytes; at that size its first half is removed. 0 means
	// no limit, as for all tasks but servers.
	Most int64
}

// LogName returns the name for the log of a task of a dish. Tasks with different ids have different
// names. Its one dot is that of ".log": globs of linters and test runners such as "**/*.test.*" would
// match "app.test.1f.log", and not all tools pass over .bento.
func LogName(dish, task, id string) string {
	clean := func(s string) string {
		return strings.Map(func(r rune) rune {
			if r == '-' || r == '_' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' {
				return r
			}
			return '_'
		}, s)
	}
	return fmt.Sprintf("%.60s-%.60s-%s.log", clean(dish), clean(task), cache.ShortSum(id))
}

// LogDir is the directory of logs in the state of a workspace.
const LogDir = "logs"

// CreateLog starts a log in the file name in LogDir of d. It removes the log of an earlier execution.
// The file is made when something is printed.
func CreateLog(d *state.Dir, name string, o LogOptions) *Log {
	l := &Log{dir: d, name: path.Join(LogDir, name), o: o}
	l.fresh = d.Fresh(l.name)
	return l
}

// Path returns the absolute path of the file for messages, "" if there is no file.
func (l *Log) Path() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.file == nil {
		return ""
	}
	return l.dir.Shown(l.name)
}

// Close closes the file.
func (l *Log) Close() {
	l.fresh.Close()
	if l.file != nil {
		l.file.Close()
	}
}

// Writer returns a writer for one stream. It never fails: a full disk must not end
// the task.
func (l *Log) Writer(s Stream) io.Writer { return &streamWriter{log: l, stream: s} }

type streamWriter struct {
	log    *Log
	stream Stream
}

func (w *streamWriter) Write(p []byte) (int, error) {
	w.log.write(w.stream, p)
	return len(p), nil
}

func (l *Log) write(s Stream, p []byte) {
	l.mu.Lock()
	err := l.append(s, p)
	l.mu.Unlock()
	if err != nil && l.o.Failed != nil {
		l.o.Failed(err)
	}
	if l.o.Forward != nil {
		l.o.Forward(s, p)
	}
}

// append writes to the file. It returns only the first error, and writes nothing to the file
// afterwards.
func (l *Log) append(s Stream, p []byte) (err error) {
	if l.broken {
		l.keep(p)
		return nil
	}
	if l.file == nil {
		l.file, err = l.fresh.Create()
	}
	if most := l.o.Most; err == nil && most > 0 && l.size+int64(len(p)) > most {
		err = l.shorten(most / 2)
	}
	if err == nil {
		var n int
		n, err = killpoint.Write(l.file.Write, p)
		l.note(s, n)
		p = p[n:]
	}
	if err != nil {
		l.broken = true
		l.keep(p)
		if l.file != nil {
			l.file.Close()
			l.file = nil
		}
	}
	return err
}

// keep keeps the end of the output that cannot be written to the file.
func (l *Log) keep(p []byte) {
	l.rest = append(l.rest, p[max(0, len(p)-maxRest):]...)
	if over := len(l.rest) - maxRest; over > 0 {
		l.rest = append(l.rest[:0], l.rest[over:]...)
	}
}

// Rest returns the end of the output that could not be written to the file.
func (l *Log) Rest() []byte { return l.rest }

func (l *Log) note(s Stream, n int) {
	l.size += int64(n)
	last := len(l.segments) - 1
	if last >= 0 && (l.segments[last].Stream == s || last+1 >= maxSegments) {
		l.segments[last].Size += uint64(n)
		return
	}
	l.segments = append(l.segments, segment{Stream: s, Size: uint64(n)})
}

// Store puts the log into the cache, and returns the digest and the size of its blob. An empty log is no blob.
func (l *Log) Store(s cache.Store) (d cache.Digest, size int64, err error) {
	if l.file == nil || len(l.segments) == 0 {
		return cache.Digest{}, 0, nil
	}
	var w pack.Writer
	printed := int64(0)
	w.Raw([]byte(logMagic))
	w.Uint(uint64(len(l.segments)))
	for _, seg := range l.segments {
		w.Byte(byte(seg.Stream))
		w.Uint(seg.Size)
		printed += int64(seg.Size)
	}
	open := func() (io.Reader, error) {
		_, err := l.file.Seek(0, io.SeekStart)
		return io.MultiReader(bytes.NewReader(w.Payload()), io.LimitReader(l.file, printed)), err
	}
	r, err := open()
	if err != nil {
		return d, 0, err
	}
	if printed <= smallLog {
		all := bytes.NewBuffer(make([]byte, 0, int(printed)+len(w.Payload())+bytes.MinRead))
		if _, err := all.ReadFrom(r); err != nil {
			return d, 0, err
		}
		d = cache.Sum(all.Bytes())
		return d, int64(all.Len()), s.Add(d, bytes.NewReader(all.Bytes()))
	}
	h := blake3.New()
	if size, err = io.Copy(h, r); err != nil {
		return d, 0, err
	}
	h.Sum(d[:0])
	if r, err = open(); err != nil {
		return d, 0, err
	}
	return d, size, s.Add(d, r)
}

// Replay calls emit with the content of the log file, piece by piece and in order. The log may be
// closed.
func (l *Log) Replay(emit func(Stream, []byte)) error {
	file, err := l.dir.OpenFile(l.name)
	if err != nil {
		return err
	}
	defer file.Close()
	return replay(file, l.segments, emit)
}

// ReplayLog is Replay for a log in the cache.
func ReplayLog(s cache.Store, d cache.Digest, emit func(Stream, []byte)) error {
	blob, err := s.Open(d)
	if err != nil {
		return err
	}
	defer blob.Close()
	br := bufio.NewReader(blob)
	segments, err := readSegments(br)
	if err != nil {
		return err
	}
	return replay(br, segments, emit)
}

func replay(r io.Reader, segments []segment, emit func(Stream, []byte)) error {
	buf := make([]byte, 32<<10)
	for _, seg := range segments {
		piece := io.LimitReader(r, int64(seg.Size))
		for {
			n, err := piece.Read(buf)
			if n > 0 {
				emit(seg.Stream, buf[:n])
			}
			if err == io.EOF {
				break
			}
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// readSegments reads the head of a stored log and leaves r at the first byte that
// was printed.
func readSegments(r *bufio.Reader) ([]segment, error) {
	magic := make([]byte, len(logMagic))
	if _, err := io.ReadFull(r, magic); err != nil || string(magic) != logMagic {
		return nil, fmt.Errorf("log: %w", pack.ErrFormat)
	}
	n, err := binary.ReadUvarint(r)
	if err != nil || n > maxSegments {
		return nil, fmt.Errorf("log: %w", pack.ErrFormat)
	}
	segments := make([]segment, 0, min(n, 1024))
	for range n {
		stream, err := r.ReadByte()
		if err != nil {
			return nil, err
		}
		size, err := binary.ReadUvarint(r)
		if err != nil || size > 1<<62 {
			return nil, fmt.Errorf("log: %w", pack.ErrFormat)
		}
		segments = append(segments, segment{Stream: Stream(stream), Size: size})
	}
	return segments, nil
}
