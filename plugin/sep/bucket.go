package sep

import "time"

// bucket lets a rate of messages pass, and as many at once after a pause of a second. It is for one
// goroutine.
type bucket struct {
	rate   int // a second
	tokens float64
	at     time.Time // of tokens
}

func newBucket(rate int, now time.Time) *bucket { return &bucket{rate, float64(rate), now} }

// take takes a token, or returns the time until the next one.
func (b *bucket) take(now time.Time) (wait time.Duration) {
	if passed := now.Sub(b.at); passed > 0 {
		b.tokens = min(float64(b.rate), b.tokens+passed.Seconds()*float64(b.rate))
		b.at = now
	}
	if b.tokens < 1 {
		return time.Duration((1 - b.tokens) / float64(b.rate) * float64(time.Second))
	}
	b.tokens--
	return 0
}
