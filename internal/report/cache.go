package report

import (
	"fmt"
	"io"
	"time"

	"github.com/bentobuild/bento/cache"
)

// CacheStats is the document of `bento cache stats`.
type CacheStats struct {
	Schema     string     `json:"schema"`
	Root       string     `json:"root"`
	Entries    int        `json:"entries"` // results of tasks
	Blobs      int        `json:"blobs"`
	TotalBytes int64      `json:"total_bytes"` // on the disk
	Older      []string   `json:"older"`       // directories of older formats
	OlderBytes int64      `json:"older_bytes"` // the part of total_bytes in these directories
	Oldest     *time.Time `json:"oldest,omitempty"`
	Newest     *time.Time `json:"newest,omitempty"`
	// Remote is the remote cache of the workspace, absent without one.
	Remote *RemoteStats `json:"remote,omitempty"`
}

// RemoteStats says where the remote cache is, and how many results wait to be sent.
type RemoteStats struct {
	URL     string `json:"url"`
	Waiting int    `json:"waiting"`
}

// NewCacheStats makes the document.
func NewCacheStats(root string, s cache.Stats) CacheStats {
	doc := CacheStats{Schema: Schema("cache.stats"), Root: root, Entries: s.Records, Blobs: s.Blobs, TotalBytes: s.Bytes, Older: append([]string{}, s.Older...), OlderBytes: s.OlderBytes}
	if !s.Oldest.IsZero() {
		oldest, newest := s.Oldest.UTC(), s.Newest.UTC()
		doc.Oldest, doc.Newest = &oldest, &newest
	}
	return doc
}

// WriteCacheStats prints it for people.
func WriteCacheStats(w io.Writer, _ Style, doc CacheStats) {
	fmt.Fprintf(w, "%s\n%s, %s, %s\n", PrintableLine(doc.Root), Count(doc.Entries, "result"), Count(doc.Blobs, "file"), ByteSize(doc.TotalBytes))
	if doc.Oldest != nil {
		fmt.Fprintf(w, "used between %s and %s\n", doc.Oldest.Local().Format(time.DateTime), doc.Newest.Local().Format(time.DateTime))
	}
	if doc.Remote != nil {
		fmt.Fprintf(w, "remote: %s, %s waiting to be sent\n", PrintableLine(doc.Remote.URL), Count(doc.Remote.Waiting, "result"))
	}
}

// CacheRemoved is the document of `bento cache prune` and `bento cache clear`.
type CacheRemoved struct {
	Schema  string `json:"schema"`
	Root    string `json:"root"`
	Entries int    `json:"removed_entries"`
	Blobs   int    `json:"removed_blobs"`
	Bytes   int64  `json:"removed_bytes"`
}

// NewCacheRemoved makes the document of a command.
func NewCacheRemoved(command, root string, r cache.Removed) CacheRemoved {
	return CacheRemoved{Schema: Schema(command), Root: root, Entries: r.Records, Blobs: r.Blobs, Bytes: r.Bytes}
}

// WriteCacheRemoved prints it for people.
func WriteCacheRemoved(w io.Writer, _ Style, doc CacheRemoved) {
	fmt.Fprintf(w, "removed %s, %s, %s\n", Count(doc.Entries, "result"), Count(doc.Blobs, "file"), ByteSize(doc.Bytes))
}

// CacheCheck is the document of `bento cache fsck`.
type CacheCheck struct {
	Schema     string `json:"schema"`
	Root       string `json:"root"`
	Entries    int    `json:"entries"`
	Blobs      int    `json:"blobs"`
	Damaged    int    `json:"damaged"`
	Incomplete int    `json:"incomplete"`
	// InTheWay are directories in the place of an entry, which bento has not made.
	InTheWay []string `json:"in_the_way"`
}

// NewCacheCheck makes the document.
func NewCacheCheck(root string, c cache.Check) CacheCheck {
	return CacheCheck{Schema: Schema("cache.fsck"), Root: root, Entries: c.Records, Blobs: c.Blobs, Damaged: c.Damaged, Incomplete: c.Incomplete, InTheWay: append([]string{}, c.InTheWay...)}
}

// WriteCacheCheck prints it for people.
func WriteCacheCheck(w io.Writer, _ Style, doc CacheCheck) {
	fmt.Fprintf(w, "good: %s and %s; dropped: %d damaged and %d incomplete\n", Count(doc.Entries, "result"), Count(doc.Blobs, "file"), doc.Damaged, doc.Incomplete)
}

// ByteSize returns a size for people.
func ByteSize(n int64) string {
	unit, name := float64(n), "B"
	for _, next := range []string{"KiB", "MiB", "GiB", "TiB"} {
		if unit < 1024 {
			break
		}
		unit, name = unit/1024, next
	}
	if name == "B" {
		return fmt.Sprintf("%d B", n)
	}
	return fmt.Sprintf("%.1f %s", unit, name)
}
