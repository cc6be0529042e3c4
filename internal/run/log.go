package run

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"

	"github.com/bentobuild/bento/cache"
	"github.com/bentobuild/bento/internal/plan"
	"github.com/bentobuild/bento/internal/state"

	"github.com/zeebo/blake3"
)

// logMagic starts a stored log: then come the segments (how many; of each the
// stream and its length), then the bytes in the order in which they were printed.
const logMagic = "bento log 1\n"

// maxSegments bounds how often the stream may change before the rest of a log
// counts as one segment.
const maxSegments = 1 << 20

// taskLog keeps what a task prints: in a file for people, with a note of what came
// from which stream. It is safe for concurrent use.
type taskLog struct {
	mu       sync.Mutex
	file     *os.File // nil when it cannot be written
	segments []segment
	forward  func(Stream, []byte) // nil when nobody wants it live
}

type segment struct {
	stream Stream
	size   uint64
}

// openLog starts the log of a task. Also with an error the log can be written to.
func openLog(env *Env, t *plan.Task, forward bool) (*taskLog, error) {
	l := &taskLog{}
	if forward {
		l.forward = func(s Stream, p []byte) { env.report(TaskOutput{Task: t, Stream: s, Data: p}) }
	}
	dir, err := env.State.Make("logs")
	if err != nil {
		return l, err
	}
	l.file, err = os.Create(filepath.Join(dir, fileName(t)+".log"))
	return l, err
}

func (l *taskLog) path() string {
	if l.file == nil {
		return ""
	}
	return l.file.Name()
}

func (l *taskLog) close() {
	if l.file != nil {
		l.file.Close()
	}
}

// writer gives a writer for one stream. It never fails: a full disk must not end
// the task.
func (l *taskLog) writer(s Stream) io.Writer { return &streamWriter{log: l, stream: s} }

type streamWriter struct {
	log    *taskLog
	stream Stream
}

func (w *streamWriter) Write(p []byte) (int, error) {
	w.log.write(w.stream, p)
	return len(p), nil
}

func (l *taskLog) write(s Stream, p []byte) {
	l.mu.Lock()
	if l.file != nil {
		if n, err := l.file.Write(p); err != nil {
			l.note(s, n)
			l.file.Close()
			l.file = nil
		} else {
			l.note(s, n)
		}
	}
	l.mu.Unlock()
	if l.forward != nil {
		l.forward(s, p)
	}
}

func (l *taskLog) note(s Stream, n int) {
	last := len(l.segments) - 1
	if last >= 0 && (l.segments[last].stream == s || last+1 >= maxSegments) {
		l.segments[last].size += uint64(n)
		return
	}
	l.segments = append(l.segments, segment{stream: s, size: uint64(n)})
}

// store puts the log into the cache. An empty log is no blob.
func (l *taskLog) store(s cache.Store) (d cache.Digest, size int64, err error) {
	if l.file == nil || len(l.segments) == 0 {
		return cache.Digest{}, 0, nil
	}
	var w state.Writer
	w.Raw([]byte(logMagic))
	w.Uint(uint64(len(l.segments)))
	for _, seg := range l.segments {
		w.Byte(byte(seg.stream))
		w.Uint(seg.size)
		size += int64(seg.size)
	}
	open := func() (io.Reader, error) {
		_, err := l.file.Seek(0, io.SeekStart)
		return io.MultiReader(bytes.NewReader(w.Payload()), io.LimitReader(l.file, size)), err
	}
	r, err := open()
	if err != nil {
		return d, 0, err
	}
	h := blake3.New()
	if _, err := io.Copy(h, r); err != nil {
		return d, 0, err
	}
	h.Sum(d[:0])
	if r, err = open(); err != nil {
		return d, 0, err
	}
	return d, size, s.Add(d, r)
}

// ReplayLog gives what the task printed to emit, piece by piece in the order in
// which it was printed: that of a hit from the store, else from the log file.
func (r *Result) ReplayLog(s cache.Store, emit func(Stream, []byte)) error {
	switch {
	case r.record != nil && r.record.Log != (cache.Digest{}):
		blob, err := s.Open(r.record.Log)
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
	case r.LogPath != "":
		file, err := os.Open(r.LogPath)
		if err != nil {
			return err
		}
		defer file.Close()
		return replay(file, r.segments, emit)
	}
	return nil
}

func replay(r io.Reader, segments []segment, emit func(Stream, []byte)) error {
	buf := make([]byte, 32<<10)
	for _, seg := range segments {
		piece := io.LimitReader(r, int64(seg.size))
		for {
			n, err := piece.Read(buf)
			if n > 0 {
				emit(seg.stream, buf[:n])
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
		return nil, fmt.Errorf("log: %w", state.ErrFields)
	}
	n, err := binary.ReadUvarint(r)
	if err != nil || n > maxSegments {
		return nil, fmt.Errorf("log: %w", state.ErrFields)
	}
	segments := make([]segment, 0, min(n, 1024))
	for range n {
		stream, err := r.ReadByte()
		if err != nil {
			return nil, err
		}
		size, err := binary.ReadUvarint(r)
		if err != nil || size > 1<<62 {
			return nil, fmt.Errorf("log: %w", state.ErrFields)
		}
		segments = append(segments, segment{stream: Stream(stream), size: size})
	}
	return segments, nil
}
