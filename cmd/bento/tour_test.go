package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// TestTour runs the transcripts of docs/tour.md in order. The output of a command must match the page, except
// for times, the order of lines, and text that the page shortens to ….
func TestTour(t *testing.T) {
	if testing.Short() {
		t.Skip("most of its time belongs to the tools")
	}
	t.Parallel()
	for _, name := range []string{"foreign", "polyglot"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			needTool(t, "git")
			tr := &tour{t: t, dir: filepath.Join(t.TempDir(), "repository")}
			tr.env = append(os.Environ(), "BENTO_CACHE_DIR="+filepath.Join(t.TempDir(), "cache"), "CI=", "NO_COLOR=1", "GIT_CONFIG_GLOBAL="+os.DevNull, "PATH="+pathTo(builtBento(t)),
				"GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@example.com", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@example.com")
			if name == "foreign" {
				tr.layForeign()
			} else {
				tr.layPolyglot()
			}
			tr.sh("git init -q && git add . && git commit -qm first")
			for _, s := range stepsOf(t, name) {
				tr.step(s)
			}
		})
	}
}

// TestReadmeTranscript runs the first transcript of README.md, except for bento ci of all languages, which the tour runs.
func TestReadmeTranscript(t *testing.T) {
	if testing.Short() {
		t.Skip("most of its time belongs to the tools")
	}
	t.Parallel()
	tr := &tour{t: t, dir: filepath.Join(t.TempDir(), "repository")}
	tr.env = append(os.Environ(), "BENTO_CACHE_DIR="+filepath.Join(t.TempDir(), "cache"), "CI=", "NO_COLOR=1", "GIT_CONFIG_GLOBAL="+os.DevNull)
	tr.layPolyglot()
	tr.sh("git init -q && git add .")
	page, err := os.ReadFile(filepath.Join("..", "..", "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, page, _ = bytes.Cut(page, []byte("## What it looks like\n"))
	page, _, _ = bytes.Cut(page, []byte("\n## "))
	var steps []step
	for line := range strings.Lines(string(page)) {
		line, inside := strings.CutPrefix(strings.TrimSuffix(line, "\n"), "    ")
		if command, is := strings.CutPrefix(line, "$ "); inside && is {
			steps = append(steps, step{command: command})
		} else if inside {
			steps[len(steps)-1].want = append(steps[len(steps)-1].want, digits.ReplaceAllString(line, "…"))
		}
	}
	for _, s := range steps {
		if s.command == "bento ci" {
			tr.sh("bento test api")
			continue
		}
		tr.step(s)
	}
	if len(steps) != 5 {
		t.Errorf("README.md has %d commands", len(steps))
	}
}

// digits are what differs from machine to machine: the first digits of a key, and how many ingredients a key has.
var digits = regexp.MustCompile(`\b[0-9a-f]{4}…|\b[0-9]+ (?:ingredients)`)

// step is one command of a transcript.
type step struct {
	command string
	want    []string
}

// stepsOf reads the commands after <!-- tour: name -->.
func stepsOf(t *testing.T, name string) (steps []step) {
	t.Helper()
	page, err := os.ReadFile(filepath.Join("..", "..", "docs", "tour.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, page, found := bytes.Cut(page, []byte("<!-- tour: "+name+" -->"))
	page, _, _ = bytes.Cut(page, []byte("<!-- tour: "))
	inside := false
	for line := range strings.Lines(string(page)) {
		line = strings.TrimSuffix(line, "\n")
		switch command, is := strings.CutPrefix(line, "$ "); {
		case strings.HasPrefix(line, "```"):
			inside = !inside
		case !inside:
		case is:
			steps = append(steps, step{command: command})
		default:
			last := &steps[len(steps)-1]
			last.want = append(last.want, line)
		}
	}
	if !found || len(steps) == 0 {
		t.Fatalf("docs/tour.md has no transcript %q", name)
	}
	return steps
}

// tour is a running transcript.
type tour struct {
	t   *testing.T
	dir string
	env []string

	job *exec.Cmd  // the background job
	out sharedText // the output of the job
}

// layForeign copies modules that bento itself is built with: published modules that are on this machine.
func (tr *tour) layForeign() {
	needTool(tr.t, "go")
	for name, module := range map[string]string{"sync": "golang.org/x/sync", "go-runewidth": "github.com/mattn/go-runewidth"} {
		dir, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", module).Output()
		if err != nil {
			tr.t.Fatal(err)
		}
		if err := os.CopyFS(filepath.Join(tr.dir, name), os.DirFS(strings.TrimSpace(string(dir)))); err != nil {
			tr.t.Fatal(err)
		}
	}
	tr.sh("chmod -R u+w .")
}

func (tr *tour) layPolyglot() {
	for _, tool := range []string{"go", "cargo", "npm", "python3"} {
		needTool(tr.t, tool)
	}
	repo, err := filepath.Abs(filepath.Join("..", ".."))
	if err != nil {
		tr.t.Fatal(err)
	}
	if err := os.MkdirAll(tr.dir, 0o755); err != nil {
		tr.t.Fatal(err)
	}
	bin := filepath.Join(filepath.Dir(tr.dir), "bin")
	tr.sh(fmt.Sprintf("cd %q/examples/polyglot && tar --exclude=.bento --exclude=.venv --exclude=node_modules --exclude=target --exclude=dist -cf - . | tar -C %q -xf - && rm %q/bento.toml", repo, tr.dir, tr.dir))
	tr.sh(fmt.Sprintf("cd %q && go build -o %q/bento-adapter-noop ./examples/bento-adapter-noop", repo, bin))
	tr.env = append(tr.env, "PATH="+bin+string(os.PathListSeparator)+pathTo(builtBento(tr.t)))
}

// pathTo returns PATH with the directory of a program in front.
func pathTo(program string) string {
	return filepath.Dir(program) + string(os.PathListSeparator) + os.Getenv("PATH")
}

// sh runs a command and returns its output.
func (tr *tour) sh(command string) string {
	tr.t.Helper()
	cmd := exec.Command("sh", "-c", command)
	cmd.Dir, cmd.Env = tr.dir, tr.env
	out, err := cmd.CombinedOutput()
	if err != nil {
		tr.t.Fatalf("%s: %v\n%s", command, err, out)
	}
	return string(out)
}

func (tr *tour) step(s step) {
	tr.t.Helper()
	command, background := strings.CutSuffix(s.command, " &")
	printed := ""
	switch {
	case background:
		tr.begin(command)
	case s.command == "kill %1":
		tr.end()
	default:
		printed = tr.sh(s.command)
	}
	if tr.job == nil {
		if problem := differences(s.want, printed); problem != "" {
			tr.t.Fatalf("$ %s\n%s", s.command, problem)
		}
		return
	}
	late := time.After(5 * time.Minute)
	for {
		problem := differences(s.want, printed+tr.out.String())
		if problem == "" {
			tr.out.Reset()
			return
		}
		select {
		case <-tr.out.changed:
		case <-late:
			tr.t.Fatalf("$ %s\n%s", s.command, problem)
		}
	}
}

func (tr *tour) begin(command string) {
	tr.out.changed = make(chan struct{}, 1)
	tr.job = exec.Command("sh", "-c", "exec "+command)
	tr.job.Dir, tr.job.Env, tr.job.Stdout, tr.job.Stderr = tr.dir, tr.env, &tr.out, &tr.out
	if err := tr.job.Start(); err != nil {
		tr.t.Fatal(err)
	}
	tr.t.Cleanup(func() {
		if tr.job != nil {
			_ = tr.job.Process.Kill()
			_ = tr.job.Wait()
		}
	})
}

func (tr *tour) end() {
	if err := tr.job.Process.Signal(syscall.SIGTERM); err != nil {
		tr.t.Fatal(err)
	}
	_ = tr.job.Wait() // it was interrupted
	if code := tr.job.ProcessState.ExitCode(); code != exitInterrupted {
		tr.t.Errorf("exit code %d of what was in the background\n%s", code, tr.out.String())
	}
	tr.job = nil
}

// sharedText collects text, and signals each write.
type sharedText struct {
	changed chan struct{}

	mu  sync.Mutex
	buf bytes.Buffer
}

func (s *sharedText) Write(p []byte) (int, error) {
	s.mu.Lock()
	s.buf.Write(p)
	s.mu.Unlock()
	select {
	case s.changed <- struct{}{}:
	default:
	}
	return len(p), nil
}

func (s *sharedText) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.buf.String()
}

func (s *sharedText) Reset() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.buf.Reset()
}

var (
	times  = regexp.MustCompile(`\b([0-9]+[hm])*[0-9]+(\.[0-9]+)?(ms|s)\b`)
	spaces = regexp.MustCompile(`\s+`)
)

// differences describes the lines of one text that are missing in the other, "" if there are none.
func differences(want []string, got string) string {
	plain := func(line string) string {
		return strings.TrimSpace(spaces.ReplaceAllString(times.ReplaceAllString(line, "TIME"), " "))
	}
	var lines, missing []string
	for line := range strings.Lines(got) {
		lines = append(lines, plain(line))
	}
	rest := false
	for _, line := range want {
		if rest = rest || line == "…"; line == "…" {
			continue
		}
		pattern := regexp.MustCompile("^" + strings.ReplaceAll(regexp.QuoteMeta(plain(line)), "…", ".*") + "$")
		if i := slices.IndexFunc(lines, pattern.MatchString); i >= 0 {
			lines = slices.Delete(lines, i, i+1)
		} else {
			missing = append(missing, line)
		}
	}
	if len(missing) == 0 && (rest || len(lines) == 0) {
		return ""
	}
	return fmt.Sprintf("not printed:\n  %s\nnot in the tour:\n  %s\n", strings.Join(missing, "\n  "), strings.Join(lines, "\n  "))
}
