package report

import (
	"time"

	"github.com/bentobuild/bento/internal/run"
)

// The topics that bento publishes to extensions.
const (
	TopicRunStarted   = "run.started"
	TopicRunFinished  = "run.finished"
	TopicTaskStarted  = "task.started"
	TopicTaskFinished = "task.finished"
	TopicTaskOutput   = "task.output"
	TopicPlanMade     = "plan.made"
	TopicWatchChanged = "watch.changed"
	TopicCacheStats   = "cache.stats"
	TopicPluginFailed = "plugin.failed"
)

// Topic is a topic with its title and a payload for its schema.
type Topic struct {
	Name, Title string
	Payload     any
}

// Topics returns all topics.
func Topics() []Topic {
	return []Topic{
		{TopicPlanMade, "the tasks of a run, each behind what it waits for", planMade{}},
		{TopicRunStarted, "a run has begun", runStarted{}},
		{TopicTaskStarted, "the command of a task has been started", taskStarted{}},
		{TopicTaskOutput, "a piece of what a task prints", taskOutput{}},
		{TopicTaskFinished, "a task has ended, executed or not", taskFinished{}},
		{TopicCacheStats, "what the cache was for a run", cacheUsed{}},
		{TopicRunFinished, "a run has ended", runFinished{}},
		{TopicWatchChanged, "files have changed under bento watch", watchChanged{}},
		{TopicPluginFailed, "a plugin has failed", pluginFailed{}},
	}
}

// Notice is one publish of a topic. Payload becomes JSON.
type Notice struct {
	Topic   string
	Payload any
}

// topicHead starts every payload.
type topicHead struct {
	Schema string    `json:"schema"`
	Time   time.Time `json:"time"`
}

func headOfTopic(topic string, now time.Time) topicHead {
	return topicHead{Schema("ext." + topic), now.UTC()}
}

type planMade struct {
	topicHead
	Workspace string        `json:"workspace"`
	Tasks     []plannedTask `json:"tasks"`
}

type plannedTask struct {
	Task      string `json:"task"` // "dish:task"
	Dish      string `json:"dish"`
	Requested bool   `json:"requested"`             // not only as a dependency
	LastMS    int64  `json:"estimate_ms,omitempty"` // the last duration of a task that will be executed
}

type runStarted struct {
	topicHead
	Workspace string `json:"workspace"`
	Workers   int    `json:"workers"`
	Tasks     int    `json:"tasks"`
}

type taskStarted struct {
	topicHead
	Task    string `json:"task"`
	Dish    string `json:"dish"`
	Command string `json:"command"`
}

type taskOutput struct {
	topicHead
	Task   string `json:"task"`
	Stream string `json:"stream" enum:"stdout,stderr"`
	Text   string `json:"text"`
}

// taskFinished has no output of the task: only task.output publishes that.
type taskFinished struct {
	topicHead
	Task       string  `json:"task"`
	Dish       string  `json:"dish"`
	Outcome    string  `json:"outcome" enum:"cache_hit,built,failed,skipped"`
	Reason     string  `json:"reason,omitempty"`
	Message    string  `json:"message,omitempty"`
	ExitCode   *int    `json:"exit_code,omitempty"`
	Signal     string  `json:"signal,omitempty"`
	Key        *string `json:"key"`
	DurationMS int64   `json:"duration_ms"`
	Attempts   int     `json:"attempts"`
	Flaky      bool    `json:"flaky"`    // failed at first, then succeeded
	Findings   int     `json:"findings"` // errors and warnings found in its output
}

type cacheUsed struct {
	topicHead
	Hits    int   `json:"hits"`
	Misses  int   `json:"misses"`
	Stored  int   `json:"stored"`
	SpentMS int64 `json:"spent_ms"` // the sum of the durations of executed misses
}

type runFinished struct {
	topicHead
	Workspace   string     `json:"workspace"`
	Interrupted bool       `json:"interrupted"`
	Failed      []string   `json:"failed"` // tasks
	Flaky       []string   `json:"flaky"`
	Summary     runSummary `json:"summary"`
}

type watchChanged struct {
	topicHead
	Paths []string `json:"paths"` // some of them, relative to the workspace
}

type pluginFailed struct {
	topicHead
	ID      string `json:"id"`
	Code    string `json:"code,omitempty"`
	Message string `json:"message"`
}

// Notices returns the notices of an event. wants reports whether a topic has a subscriber; no payload is made
// for other topics. Notices reads no log.
func Notices(ev run.Event, now time.Time, wants func(topic string) bool) (list []Notice) {
	add := func(topic string, payload func(topicHead) any) {
		if wants(topic) {
			list = append(list, Notice{topic, payload(headOfTopic(topic, now))})
		}
	}
	switch ev := ev.(type) {
	case run.Started:
		root := ev.Plan.Workspace.Root
		add(TopicPlanMade, func(h topicHead) any { return planMade{h, root, plannedTasks(ev)} })
		add(TopicRunStarted, func(h topicHead) any { return runStarted{h, root, ev.Workers, len(ev.Plan.Tasks)} })
	case run.TaskStarted:
		add(TopicTaskStarted, func(h topicHead) any {
			return taskStarted{h, ev.Task.ID(), ev.Task.Dish.Name, ev.Task.Command()}
		})
	case run.TaskOutput:
		add(TopicTaskOutput, func(h topicHead) any {
			return taskOutput{h, ev.Task.ID(), streamName(ev.Stream), *textOf(ev.Data)}
		})
	case run.TaskFinished:
		add(TopicTaskFinished, func(h topicHead) any { return finishedTask(h, ev.Result) })
	case run.Finished:
		add(TopicCacheStats, func(h topicHead) any { return usedCache(h, ev.Report) })
		add(TopicRunFinished, func(h topicHead) any { return finishedRun(h, ev.Report) })
	}
	return list
}

// WatchChanged returns the notice of a batch of changes.
func WatchChanged(paths []string, now time.Time) Notice {
	return Notice{TopicWatchChanged, watchChanged{headOfTopic(TopicWatchChanged, now), append([]string{}, paths...)}}
}

// PluginFailed returns the notice of a failed plugin.
func PluginFailed(id, code, message string, now time.Time) Notice {
	return Notice{TopicPluginFailed, pluginFailed{headOfTopic(TopicPluginFailed, now), id, code, message}}
}

func plannedTasks(ev run.Started) []plannedTask {
	rows := make([]plannedTask, len(ev.Plan.Tasks))
	for i, t := range ev.Plan.Tasks {
		rows[i] = plannedTask{Task: t.ID(), Dish: t.Dish.Name, Requested: t.Requested}
		if i < len(ev.Estimate) {
			rows[i].LastMS = ev.Estimate[i].Milliseconds()
		}
	}
	return rows
}

func finishedTask(h topicHead, r *run.Result) taskFinished {
	row := newTaskRow(r)
	code := row.Outcome.ExitCode
	if code != nil {
		copied := *code // the payload is read later
		code = &copied
	}
	return taskFinished{
		topicHead: h, Task: r.Task.ID(), Dish: r.Task.Dish.Name, Outcome: row.Outcome.Kind, Reason: row.Outcome.Reason, Message: row.Outcome.Message,
		ExitCode: code, Signal: row.Outcome.Signal, Key: row.Key, DurationMS: row.DurationMS, Attempts: row.Attempts,
		Flaky: row.Flaky, Findings: len(row.Diagnostics),
	}
}

func usedCache(h topicHead, r *run.Report) cacheUsed {
	used := cacheUsed{topicHead: h}
	for _, res := range r.Results {
		switch {
		case res.Outcome == run.CacheHit:
			used.Hits++
		case res.Outcome.Executed():
			used.Misses++
			used.SpentMS += res.Duration.Milliseconds()
		}
		if res.Stored {
			used.Stored++
		}
	}
	return used
}

func finishedRun(h topicHead, r *run.Report) runFinished {
	doc := runFinished{topicHead: h, Workspace: r.Plan.Workspace.Root, Interrupted: r.Interrupted, Failed: []string{}, Flaky: []string{}, Summary: summarize(r)}
	for _, res := range r.Results {
		if res.Outcome == run.Failed {
			doc.Failed = append(doc.Failed, res.Task.ID())
		}
		if res.Flaky {
			doc.Flaky = append(doc.Flaky, res.Task.ID())
		}
	}
	return doc
}
