package main

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// serverStart is how long a server may take until it answers.
const serverStart = time.Minute

// token is what clients of turborepo-remote-cache have.
const token = "hush"

// server is a real server of a remote cache, empty at first.
type server struct {
	grpc, http string // its addresses, "" for none
	cmd        *exec.Cmd
}

// bazelRemote starts bazel-remote, which stores below dir.
func bazelRemote(dir string) (*server, error) {
	s := new(server)
	var err error
	if s.grpc, err = freeAddress(); err != nil {
		return nil, err
	}
	if s.http, err = freeAddress(); err != nil {
		return nil, err
	}
	return s, s.start(nil, "bazel-remote", "--dir", dir, "--max_size", "4", "--grpc_address", s.grpc, "--http_address", s.http)
}

// turboServer starts turborepo-remote-cache, which stores below dir.
func turboServer(dir string) (*server, error) {
	s := new(server)
	var err error
	if s.http, err = freeAddress(); err != nil {
		return nil, err
	}
	host, port, err := net.SplitHostPort(s.http)
	if err != nil {
		return nil, err
	}
	return s, s.start([]string{"HOST=" + host, "PORT=" + port, "TURBO_TOKEN=" + token, "STORAGE_PROVIDER=local", "STORAGE_PATH=" + dir,
		"STORAGE_PATH_USE_TMP_FOLDER=false", "NODE_ENV=production", "LOG_LEVEL=error"}, "turborepo-remote-cache")
}

// start starts a program, and waits until it answers by HTTP.
func (s *server) start(env []string, name string, args ...string) error {
	path, err := exec.LookPath(name)
	if err == nil {
		path, err = filepath.EvalSymlinks(path)
	}
	if err != nil {
		return err
	}
	s.cmd = exec.Command(path, args...)
	s.cmd.Env = append(os.Environ(), env...)
	s.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := s.cmd.Start(); err != nil {
		return err
	}
	for end := time.Now().Add(serverStart); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		if s.answers() {
			return nil
		}
	}
	s.stop()
	return fmt.Errorf("%s does not answer at %s", name, s.http)
}

func (s *server) answers() bool {
	ctx, cancel := context.WithTimeout(context.Background(), serverStart)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+s.http+"/status", http.NoBody)
	if err != nil {
		return false
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return false
	}
	return res.Body.Close() == nil
}

func (s *server) kill() { _ = syscall.Kill(-s.cmd.Process.Pid, syscall.SIGKILL) }

func (s *server) stop() {
	s.kill()
	_ = s.cmd.Wait()
}

// url returns how bento names a server at an address behind a proxy, by its protocol.
func url(protocol, address string) string {
	u := protocol + "://" + address
	if strings.HasPrefix(protocol, "turborepo") {
		u += "?team=us"
	}
	return u
}
