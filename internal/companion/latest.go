package companion

import (
	"encoding/json"
	"slices"

	"github.com/bentobuild/bento/internal/report"
	"github.com/bentobuild/bento/internal/state"
)

// The workspace's state has the last payloads about a whole run. Commands of extensions need them, as they are
// called outside of a run.
const (
	latestName    = "extension-topics"
	latestVersion = 1
	maxLatest     = 1 << 20 // bytes of one payload
)

// isKept reports whether the last payload of a topic is kept.
func isKept(topic string) bool {
	return slices.Contains([]string{report.TopicPlanMade, report.TopicRunStarted, report.TopicRunFinished, report.TopicCacheStats}, topic)
}

// keep keeps the payload of a topic for saveLatest.
func (s *Set) keep(topic string, payload json.RawMessage) {
	if s.keeps && isKept(topic) && len(payload) <= maxLatest {
		s.latest[topic] = payload
	}
}

// saveLatest saves the payloads of the last run.
func (s *Set) saveLatest() error {
	if len(s.latest) == 0 {
		return nil
	}
	data, err := json.Marshal(s.latest)
	if err != nil {
		return err
	}
	return s.o.State.Store(latestName, latestVersion, data)
}

// loadLatest returns the payloads that saveLatest has saved, by topic.
func loadLatest(st *state.Dir) map[string][]byte {
	data, err := st.Load(latestName, latestVersion)
	var saved map[string]json.RawMessage
	if err != nil || json.Unmarshal(data, &saved) != nil {
		return nil
	}
	all := make(map[string][]byte, len(saved))
	for topic, payload := range saved {
		if isKept(topic) {
			all[topic] = payload
		}
	}
	return all
}
