package growth

import "golang.org/x/sys/unix"

// threadTime returns the CPU time of this thread in seconds.
func threadTime() float64 {
	var now unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &now); err != nil {
		return 0
	}
	return float64(now.Nano()) / 1e9
}
