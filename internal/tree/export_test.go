package tree

// Reads returns the number of files read so far.
func (ix *Index) Reads() int64 { return ix.reads.Load() }
