package companion

import (
	"context"
	"encoding/json"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/diagnostics"
	"github.com/bentobuild/bento/internal/config"
	"github.com/bentobuild/bento/internal/report"
	"github.com/bentobuild/bento/internal/run"
	"github.com/bentobuild/bento/internal/state"
	"github.com/bentobuild/bento/plugin/sep"
	"github.com/bentobuild/bento/plugin/sep/manifest"
)

// host has the extensions of one contract, running or not.
type host interface {
	// wants reports whether an extension subscribes to a topic.
	wants(topic string) bool
	// publish passes on a payload in JSON. It never waits.
	publish(topic string, payload json.RawMessage)
	// command runs a command of the extension that serves the namespace, and starts the extension for it.
	command(ctx context.Context, namespace string, args []string) (Output, error)
	// finish sends all published payloads and ends the processes. It waits for a process only while that takes
	// payloads, at most for the time of its table, and until ctx is done.
	finish(ctx context.Context)
}

// Options are the options of a set. Several goroutines call the functions concurrently.
type Options struct {
	Places  Places
	State   *state.Dir // of the workspace: where journals are saved
	Environ adapters.Environ
	Version string // of bento
	// Guard is called before a process is started.
	Guard func()
	// Toast receives a message for the user, whose text is not safe to print; its level is info, success, warning or
	// error. Warn receives the reason why an extension does not run. Both may be nil.
	Toast func(extension, level, message string)
	Warn  func(diagnostics.Diagnostic)
}

// Output is the output of a command of an extension. It is not safe to print to a terminal.
type Output struct {
	Stdout, Stderr []byte
	ExitCode       int
}

// Set has the extensions of an invocation. It is a run.Reporter that never blocks. The methods of a nil Set do
// nothing.
type Set struct {
	o    Options
	one  string // the id of the extension of OpenOne, else ""
	feed *sep.Feed
	// messages says that an extension may read the feed.
	messages bool
	queue    *queue
	linger   time.Duration      // the maximal time that the end waits
	output   bool               // an extension gets the output of tasks
	idle     atomic.Bool        // the last run executed nothing
	answered atomic.Bool        // the command of OpenOne has its answer
	quit     context.CancelFunc // cancels the start
	leave    sync.Once
	leaving  sync.WaitGroup
	stop     chan struct{}              // closed at the end
	judged   chan struct{}              // closed when it is decided which extensions may start
	found    chan struct{}              // closed when the extensions are known and started
	keeps    bool                       // an extension can ask for the last payload of a topic; set before found is closed
	latest   map[string]json.RawMessage // used only by the goroutine, until Close

	serving sync.WaitGroup

	mu       sync.Mutex
	hosts    []host
	problems []diagnostics.Diagnostic
	journals map[string]*Journal
}

// Open returns the extensions of a configuration, nil if it has none. It starts the ready ones in the background.
// The caller must close the set.
func Open(ctx context.Context, cfg *config.Workspace, o Options) *Set {
	if len(cfg.Extensions) == 0 {
		return nil
	}
	s := newSet(o)
	for _, e := range cfg.Extensions {
		s.output = s.output || e.Output
		s.linger = max(s.linger, e.Wait)
		s.messages = s.messages || slices.Contains(e.Grant, manifest.MessagesRead)
	}
	s.begin(ctx, func(ctx context.Context) { s.start(ctx, Find(cfg, o.Places)) })
	return s
}

// OpenOne is Open for one ready extension that a command is about to use. The other ready extensions of the list that
// share its contract start only if it invokes an action of theirs.
func OpenOne(ctx context.Context, list []Extension, id string, o Options) *Set {
	s := newSet(o)
	s.one = id
	list = s.reachable(list)
	for i := range list {
		s.linger = max(s.linger, list[i].Settings.Wait)
	}
	s.begin(ctx, func(ctx context.Context) { s.start(ctx, list) })
	return s
}

// reachable returns the extension of OpenOne, and behind it those whose actions it can invoke.
func (s *Set) reachable(all []Extension) []Extension {
	var first, others []Extension
	for _, e := range all {
		switch {
		case e.ID == s.one:
			first = append(first, e)
		case e.Status == Ready && e.Ainb != nil:
			others = append(others, e)
		}
	}
	if len(first) > 0 && first[0].Ainb == nil {
		return first // of another contract
	}
	return append(first, others...)
}

// Command runs a command of the extension of OpenOne, and starts the extension for it.
func (s *Set) Command(ctx context.Context, namespace string, args []string) (Output, error) {
	select {
	case <-s.found:
	case <-ctx.Done():
		return Output{}, ctx.Err()
	}
	if len(s.hosts) == 0 {
		return Output{}, s.notStarted()
	}
	out, err := s.hosts[0].command(ctx, namespace, args)
	s.answered.Store(err == nil)
	return out, err
}

// notStarted returns the error by which the extension of OpenOne did not start.
func (s *Set) notStarted() error {
	problems := s.Problems()
	for i := range problems {
		problems[i].Severity = diagnostics.Error
	}
	return diagnostics.Problems(problems)
}

func newSet(o Options) *Set {
	return &Set{
		o: o, feed: newFeed(o.Places.Root), queue: newQueue(), stop: make(chan struct{}), judged: make(chan struct{}), found: make(chan struct{}),
		journals: make(map[string]*Journal), latest: make(map[string]json.RawMessage),
	}
}

// begin starts the extensions and serves them in a new goroutine.
func (s *Set) begin(ctx context.Context, start func(context.Context)) {
	ctx, s.quit = context.WithCancel(ctx)
	s.serving.Go(func() { s.serve(func() { start(ctx) }) })
}

// serve starts the extensions, then publishes notices until Close.
func (s *Set) serve(start func()) {
	start()
	close(s.found)
	for {
		select {
		case <-s.queue.more:
			s.queue.gather(s.stop)
			s.pass()
		case <-s.stop:
			return
		}
	}
}

// pass publishes the waiting notices.
func (s *Set) pass() {
	for _, n := range s.queue.take() {
		payload, err := json.Marshal(n.Payload)
		if err != nil {
			panic(err) // cannot happen for types of this program
		}
		s.keep(n.Topic, payload)
		for _, h := range s.hosts {
			if h.wants(n.Topic) {
				h.publish(n.Topic, payload)
			}
		}
	}
	s.queue.passed()
}

// wants reports whether an extension subscribes to a topic. It returns true until the extensions are known.
func (s *Set) wants(topic string) bool {
	if topic == report.TopicTaskOutput && !s.output {
		return false
	}
	select {
	case <-s.found:
	default:
		return true
	}
	for _, h := range s.hosts {
		if h.wants(topic) {
			return true
		}
	}
	return s.keeps && isKept(topic)
}

// HearsOutput reports whether the set needs run.TaskOutput events.
func (s *Set) HearsOutput() bool { return s != nil && s.output }

// Report queues the notices of an event.
func (s *Set) Report(ev run.Event) {
	if s == nil {
		return
	}
	if end, ok := ev.(run.Finished); ok {
		s.idle.Store(end.Report.Idle())
	}
	if s.messages {
		message(s.feed, ev)
	}
	for _, n := range report.Notices(ev, now(), s.wants) {
		s.queue.add(n)
	}
}

// PluginFailed publishes the failure of a plugin.
func (s *Set) PluginFailed(id, code, message string) {
	if s != nil && s.wants(report.TopicPluginFailed) {
		s.queue.add(report.PluginFailed(id, code, message, now()))
	}
}

// WatchChanged publishes changed paths, relative to the workspace.
func (s *Set) WatchChanged(paths []string) {
	if s != nil && s.wants(report.TopicWatchChanged) {
		s.queue.add(report.WatchChanged(paths, now()))
	}
}

// Problems returns the problems of extensions that are not started or have failed so far. It waits until it is
// decided which may start. The end of the invocation waits for that, too.
func (s *Set) Problems() []diagnostics.Diagnostic {
	if s == nil {
		return nil
	}
	<-s.judged
	s.mu.Lock()
	defer s.mu.Unlock()
	return diagnostics.Sorted(s.problems)
}

// Leave begins to end the extensions, and returns at once. The caller must report no further events.
func (s *Set) Leave() {
	if s == nil {
		return
	}
	s.leave.Do(func() {
		ctx, cancel := context.WithTimeout(context.Background(), s.linger)
		if s.idle.Load() {
			s.quit() // cancels starts: a process that starts now would be killed at once
			cancel()
		}
		s.leaving.Go(func() {
			defer cancel()
			defer s.quit()
			s.end(ctx)
		})
	})
}

// Close ends the extensions. It waits until they have taken the last notices and have ended, at most for the time
// of the configuration. After a run that executed no task, it does not wait.
func (s *Set) Close() {
	if s == nil {
		return
	}
	s.Leave()
	s.leaving.Wait()
	if n := s.queue.lost(); n > 0 {
		s.report(diagnostics.Pos{}.Warning(RuleFailed, "extensions did not hear of %s: more came than could be passed on", report.Count(n, "event")))
	}
}

// end publishes the last notices, ends all hosts concurrently, and saves payloads and journals.
func (s *Set) end(ctx context.Context) {
	s.settle(ctx)
	close(s.stop)
	s.serving.Wait()
	var all sync.WaitGroup
	for _, h := range s.hosts {
		all.Go(func() { h.finish(ctx) })
	}
	if !s.idle.Load() {
		_ = s.saveLatest() // after a failure, bento x has older payloads
	}
	all.Wait()
	s.save()
}

// settle waits until all notices are published.
func (s *Set) settle(ctx context.Context) {
	wait := s.queue.empty()
	if wait == nil {
		return
	}
	select {
	case <-wait:
	case <-ctx.Done():
	}
}

// journal returns the journal of an extension.
func (s *Set) journal(id string) *Journal {
	s.mu.Lock()
	defer s.mu.Unlock()
	j := s.journals[id]
	if j == nil {
		j = new(Journal)
		s.journals[id] = j
	}
	return j
}

// save saves the journals. It ignores errors: a journal must not fail a run.
func (s *Set) save() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for id, j := range s.journals {
		_ = j.save(s.o.State, id)
	}
}

func now() time.Time { return time.Now() }
