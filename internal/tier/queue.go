package tier

import (
	"bytes"
	"sync"

	"github.com/zeebo/blake3"

	"github.com/bentobuild/bento/cache"
	"github.com/bentobuild/bento/internal/run"
	"github.com/bentobuild/bento/internal/state"
)

// queueDir is the directory of the queues. Each bento that sends results has one, which a later bento continues.
const queueDir = "remote/queue"

// A queue is queueMagic and lines of one size: a kind, a key, flags, the attempts so far, an image, and a checksum. The last line may be cut: then it was not written.
const (
	queueMagic = "bento\x00rq2"
	lineSum    = 8
	lineSize   = 1 + 32 + 1 + 1 + 32 + lineSum
	maxQueue   = 64 << 20 // the part of a queue that is read, in bytes
	// maxWaiting is the number of results that wait to be sent. Of more, the oldest are dropped.
	maxWaiting = 100_000
	// maxTries is the number of faults after which a result is not sent any more.
	maxTries = 3
)

// The flags of a line.
const (
	flagNoLog = 1 << iota
	flagAside
)

// The kinds of lines.
const (
	lineAdd  = '+' // the result is to be sent
	lineDone = '-' // it was sent, or cannot be
)

// waiting is a result that is to be sent.
type waiting struct {
	key   cache.Key
	noLog bool
	aside bool // it is no result of a task
	tries byte
	image [32]byte // see run.Outgoing
}

func waitingOf(o run.Outgoing) waiting {
	return waiting{key: o.Key, noLog: o.NoLog, aside: o.Aside, image: o.Image}
}

// queue is the file of the results of this process that are to be sent. It is safe for concurrent use. It is made by
// the first line, and is gone when all are sent.
type queue struct {
	state *state.Dir
	mu    sync.Mutex
	file  *state.Claimed
	err   error // of writing; then there is no file
}

// write appends a line. Without a file, what is not sent is forgotten.
func (q *queue) write(kind byte, w waiting) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.err != nil {
		return
	}
	if q.file == nil {
		if q.file, q.err = q.state.Claim(queueDir); q.err != nil {
			return
		}
		if _, q.err = q.file.Write([]byte(queueMagic)); q.err != nil {
			return
		}
	}
	_, q.err = q.file.Write(lineOf(kind, w))
}

// close ends the file with the results that are left: they are for a later bento.
func (q *queue) close(left []waiting) {
	q.mu.Lock()
	defer q.mu.Unlock()
	old := q.file
	if q.file = nil; old == nil && len(left) == 0 {
		return
	}
	if len(left) > 0 { // beside the old one, which is complete, until this one is
		fresh, err := q.state.Claim(queueDir)
		if err == nil {
			_, err = fresh.Write(linesOf(left))
			if fresh.Close(); err != nil && old != nil {
				old.Close()
				return
			}
		}
	}
	if old != nil {
		_ = old.Remove()
	}
}

// takeQueues returns the results that other bentos have left, and removes their queues once keep has returned.
func takeQueues(d *state.Dir, keep func([]waiting)) {
	for _, file := range d.Abandoned(queueDir) {
		data, err := file.ReadAll(maxQueue)
		if err != nil || !bytes.HasPrefix(data, []byte(queueMagic)) && !bytes.HasPrefix([]byte(queueMagic), data) {
			file.Close()
			continue
		}
		keep(readLines(data))
		_ = file.Remove()
	}
}

// Waiting returns the number of results that wait in the queues of a workspace which no bento is sending.
func Waiting(d *state.Dir) (n int) {
	for _, file := range d.Abandoned(queueDir) {
		if data, err := file.ReadAll(maxQueue); err == nil {
			for _, w := range readLines(data) {
				if !w.aside {
					n++
				}
			}
		}
		file.Close()
	}
	return n
}

func lineOf(kind byte, w waiting) []byte {
	line := make([]byte, 0, lineSize)
	line = append(append(line, kind), w.key[:]...)
	flags := byte(0)
	if w.noLog {
		flags |= flagNoLog
	}
	if w.aside {
		flags |= flagAside
	}
	line = append(append(line, flags, w.tries), w.image[:]...)
	sum := blake3.Sum256(line)
	return append(line, sum[:lineSum]...)
}

func linesOf(list []waiting) []byte {
	data := []byte(queueMagic)
	for _, w := range list {
		data = append(data, lineOf(lineAdd, w)...)
	}
	return data
}

// readLines returns the results that are to be sent, before the first line that is damaged.
func readLines(data []byte) (list []waiting) {
	data = bytes.TrimPrefix(data, []byte(queueMagic))
	at := make(map[cache.Key]int)
	for ; len(data) >= lineSize; data = data[lineSize:] {
		line := data[:lineSize]
		sum := blake3.Sum256(line[:lineSize-lineSum])
		if !bytes.Equal(sum[:lineSum], line[lineSize-lineSum:]) {
			break
		}
		w := waiting{key: cache.Key(line[1:33]), noLog: line[33]&flagNoLog != 0, aside: line[33]&flagAside != 0, tries: line[34], image: [32]byte(line[35:67])}
		i, known := at[w.key]
		switch {
		case line[0] == lineAdd && !known:
			at[w.key] = len(list)
			list = append(list, w)
		case line[0] == lineDone && known:
			list[i].key = cache.Key{}
			delete(at, w.key)
		}
	}
	whole := list[:0]
	for _, w := range list {
		if w.key != (cache.Key{}) {
			whole = append(whole, w)
		}
	}
	return whole[max(0, len(whole)-maxWaiting):]
}
