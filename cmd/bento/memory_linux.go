package main

import (
	"math"
	"os"
	"path"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// machineMemory returns the bytes of memory of this machine, or of the container in which bento runs; 0 if
// unknown.
func machineMemory() int64 {
	var info unix.Sysinfo_t
	if unix.Sysinfo(&info) != nil {
		return 0
	}
	size := int64(min(uint64(info.Totalram)*uint64(info.Unit), math.MaxInt64))
	if limit := groupLimit("/sys/fs/cgroup", "/proc/self/cgroup"); limit > 0 {
		size = min(size, limit)
	}
	return size
}

// groupLimit returns the smallest limit in bytes of the control groups (version 2) of this process, 0 for
// none. mount is the directory where they are mounted, and list is the file that names the innermost group.
// https://docs.kernel.org/admin-guide/cgroup-v2.html
func groupLimit(mount, list string) (limit int64) {
	data, err := os.ReadFile(list)
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(data)) {
		group, ok := strings.CutPrefix(strings.TrimSpace(line), "0::/")
		if !ok {
			continue
		}
		for dir := path.Join("/", group); ; dir = path.Dir(dir) {
			text, _ := os.ReadFile(path.Join(mount, dir, "memory.max"))
			if n, err := strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64); err == nil && n > 0 && (limit == 0 || n < limit) {
				limit = n
			}
			if dir == "/" {
				break
			}
		}
	}
	return limit
}
