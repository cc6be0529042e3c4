package main

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/signal"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
)

// places are running servers and the ways to them.
type places struct {
	r       *remoteBench
	store   *server // bazel-remote
	turbo   *server // nil without turborepo-remote-cache
	dirs    []string
	proxies []*proxy
	ends    []func() // of what other tools have left running
}

// places starts the servers, empty ones.
func (r *remoteBench) places() (*places, error) {
	p := &places{r: r}
	dir, err := os.MkdirTemp(r.dir, "servers-")
	if err != nil {
		return nil, err
	}
	p.dirs = append(p.dirs, dir)
	if p.store, err = bazelRemote(filepath.Join(dir, "bazel-remote")); err != nil {
		return nil, err
	}
	if p.turbo, err = turboServer(filepath.Join(dir, "turborepo")); err != nil {
		fmt.Fprintln(os.Stderr, "turborepo-remote-cache is not measured:", err)
		p.turbo = nil
	}
	p.watch()
	return p, nil
}

// watch ends the servers if the benchmark is interrupted. They are process groups of their own.
func (p *places) watch() {
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	var watcher sync.WaitGroup
	p.ends = append(p.ends, func() { signal.Stop(signals); close(signals); watcher.Wait() })
	watcher.Go(func() {
		if _, interrupted := <-signals; !interrupted {
			return
		}
		for _, s := range []*server{p.store, p.turbo} {
			if s != nil {
				s.kill()
			}
		}
		os.Exit(1)
	})
}

func (p *places) close() {
	for _, end := range p.ends {
		end()
	}
	for _, o := range p.proxies {
		o.close()
	}
	p.store.stop()
	if p.turbo != nil {
		p.turbo.stop()
	}
	for _, dir := range p.dirs {
		_ = os.RemoveAll(dir)
	}
}

// by returns the address of a proxy.
func (p *places) by(o *proxy) (string, error) {
	address, err := o.listen()
	if err == nil {
		p.proxies = append(p.proxies, o)
	}
	return address, err
}

// protocol is a server with the name of its protocol in the URLs of bento.
type protocol struct{ name, address string }

// protocols are the servers by their protocols.
func (p *places) protocols() []protocol {
	list := []protocol{{"grpc", p.store.grpc}, {"http", p.store.http}}
	if p.turbo != nil {
		list = append(list, protocol{"turborepo+http", p.turbo.http})
	}
	return list
}

// unused is row 1.
func (r *remoteBench) unused() error {
	if r.before == "" {
		fmt.Println("  not measured: -before names no program")
		return nil
	}
	before, err := filepath.Abs(r.before)
	if err != nil {
		return err
	}
	var starts, runs []*command
	for _, b := range []struct{ name, program string }{{"bento before", before}, {"bento", r.bento}} {
		old := &bench{bento: b.program, dir: r.dir, rounds: r.rounds}
		c, err := old.warmed(filepath.Join(r.dir, "unused-"+filepath.Base(b.program)+fmt.Sprint(len(runs))), shape{n: r.n, files: few, flat: true})
		if err != nil {
			return err
		}
		if _, err := c.run(c.dir); err != nil { // the first warm run may save state
			return err
		}
		c.name = b.name + " run build"
		runs = append(runs, c)
		starts = append(starts, &command{name: b.name + " version", args: []string{b.program, "version"}})
	}
	const startsEach = 20 // one takes milliseconds
	if err := take(r.dir, startsEach*r.rounds, starts); err != nil {
		return err
	}
	if err := take(r.dir, 4*r.rounds, runs); err != nil {
		return err
	}
	print(starts)
	print(runs)
	r.later(starts[1], starts[0], 300*time.Microsecond)
	r.within(runs[1], runs[0], 1.02)
	return nil
}

// localHits is row 2: nothing is to be done, so nothing is to be asked.
func (r *remoteBench) localHits() error {
	p, err := r.places()
	if err != nil {
		return err
	}
	defer p.close()
	c, err := r.flat("local-hits", shape{n: r.n, files: few})
	if err != nil {
		return err
	}
	first := c.of("bento", "run", "build")
	for range 2 { // the first fills the cache, the second may save state
		if _, err := first.run(c.root); err != nil {
			return err
		}
	}
	list := []*command{first}
	others, err := r.others(c, p, "remote:rw,local:rw", func(o *foreign) error { return o.fill() })
	if err != nil {
		return err
	}
	for _, trip := range r.delays {
		for _, w := range p.protocols() {
			address, err := p.by(&proxy{to: w.address, trip: trip})
			if err != nil {
				return err
			}
			far := c.far(fmt.Sprintf("bento, %s, %v", w.name, trip), url(w.name, address), "run", "build", "--cache", "remote:r")
			far.says = fmt.Sprintf("%d hit", r.n)
			list = append(list, far)
		}
	}
	bentos := list
	for _, o := range others {
		more, err := o.at(p, r.delays, nil)
		if err != nil {
			return err
		}
		list = append(list, more...)
	}
	if err := take(c.root, r.rounds, list); err != nil {
		return err
	}
	print(list)
	for _, far := range bentos[1:] {
		r.within(far, first, 1.05)
		r.larger(far, first, 10<<20)
	}
	return nil
}

// hits is row 3.
func (r *remoteBench) hits() error {
	p, err := r.places()
	if err != nil {
		return err
	}
	defer p.close()
	c, err := r.flat("hits", shape{n: r.n, files: few})
	if err != nil {
		return err
	}
	var list []*command
	bentos := make(map[string][]*command) // by protocol, one for each delay
	for _, w := range p.protocols() {
		if err := c.send(url(w.name, w.address)); err != nil {
			return err
		}
		for _, trip := range r.delays {
			address, err := p.by(&proxy{to: w.address, trip: trip})
			if err != nil {
				return err
			}
			far := c.far(fmt.Sprintf("bento, %s, %v", w.name, trip), url(w.name, address), "run", "build", "--cache", "remote:r")
			far.before, far.check = c.forget, r.mostlyHits
			bentos[w.name] = append(bentos[w.name], far)
			list = append(list, far)
		}
	}
	others, err := r.others(c, p, "remote:rw", func(o *foreign) error { return o.fill() })
	if err != nil {
		return err
	}
	beside := make(map[string][]*command)
	for _, o := range others {
		o.says = strings.ReplaceAll(o.says, "N", fmt.Sprint(r.n))
		if beside[o.name], err = o.at(p, r.delays, o.forget); err != nil {
			return err
		}
		list = append(list, beside[o.name]...)
	}
	if err := take(c.root, r.rounds, list); err != nil {
		return err
	}
	print(list)
	for _, w := range p.protocols() {
		of := bentos[w.name]
		for i := range r.delays {
			if turbo := beside["turbo"]; turbo != nil {
				r.within(of[i], turbo[i], 1)
			}
		}
		r.later(of[len(of)-1], of[0], time.Second)
	}
	return r.discard(c)
}

// misses is row 4, for the longest delay.
func (r *remoteBench) misses() error {
	p, err := r.places()
	if err != nil {
		return err
	}
	defer p.close()
	c, err := r.flat("misses", shape{n: r.n, files: few})
	if err != nil {
		return err
	}
	trip := r.delays[len(r.delays)-1]
	alone := c.of("bento", "run", "build")
	alone.before = c.forget
	list := []*command{alone}
	for _, w := range p.protocols() {
		address, err := p.by(&proxy{to: w.address, trip: trip})
		if err != nil {
			return err
		}
		far := c.far(fmt.Sprintf("bento, %s, %v", w.name, trip), url(w.name, address), "run", "build", "--cache", "remote:r")
		far.before, far.says = c.forget, fmt.Sprintf("0 hits, %d built", r.n)
		list = append(list, far)
	}
	bentos := list
	others, err := r.others(c, p, "remote:r,local:rw", func(*foreign) error { return nil })
	if err != nil {
		return err
	}
	for _, o := range others {
		o.says, o.than = "", o.name
		single := o.command(o.name, nil)
		single.before = o.forget
		more, err := o.at(p, []time.Duration{trip}, o.forget)
		if err != nil {
			return err
		}
		list = append(append(list, single), more...)
	}
	if err := take(c.root, r.rounds, list); err != nil {
		return err
	}
	print(list)
	for _, far := range bentos[1:] {
		r.within(far, alone, 1.05)
		r.larger(far, alone, 10<<20)
	}
	return r.discard(c)
}

// sick is row 5. Its workspaces are smaller, and their outputs too large for a record.
func (r *remoteBench) sick() error {
	p, err := r.places()
	if err != nil {
		return err
	}
	defer p.close()
	c, err := r.flat("sick", shape{n: max(1, r.n/10), files: few, copies: true})
	if err != nil {
		return err
	}
	alone := c.of("bento", "run", "build")
	alone.before = c.forget
	list := []*command{alone}
	add := func(name, url string) {
		far := c.far(name, url, "run", "build", "--cache", "remote:r")
		far.before, far.check = c.forget, oneWarning
		list = append(list, far)
	}
	for _, s := range sicknesses() {
		address, err := p.by(&proxy{serve: s.serve})
		if err != nil {
			return err
		}
		add("grpc, "+s.name, url("grpc", address))
		add("http, "+s.name, url("http", address))
	}
	closed, err := freeAddress()
	if err != nil {
		return err
	}
	add("grpc, refused", url("grpc", closed))
	add("http, refused", url("http", closed))
	plain, err := p.by(&proxy{serve: func(conn net.Conn) { _, _ = io.WriteString(conn, "220 ready\r\n") }})
	if err != nil {
		return err
	}
	add("grpcs, no TLS", url("grpcs", plain))
	add("https, no TLS", url("https", plain))
	for _, w := range p.protocols() {
		if err := c.send(url(w.name, w.address)); err != nil {
			return err
		}
		for name, o := range map[string]*proxy{"1 kB/s": {to: w.address, rate: 1000}, "reset in a blob": {to: w.address, cut: 20_000}} {
			address, err := p.by(o)
			if err != nil {
				return err
			}
			add(w.name+", "+name, url(w.name, address))
		}
	}
	if err := take(c.root, r.rounds, list); err != nil {
		return err
	}
	print(list)
	for _, far := range list[1:] {
		r.later(far, alone, 100*time.Millisecond)
	}
	return r.discard(c)
}

var remoteHits = regexp.MustCompile(`(?m)^remote: (\d+) hit`)

// mostlyHits returns an error unless the results of half of the tasks came from the server. A task may be quicker than its
// result.
func (r *remoteBench) mostlyHits(out string) error {
	m := remoteHits.FindStringSubmatch(out)
	if m == nil {
		return errors.New("no remote hits: " + out)
	}
	if n, err := strconv.Atoi(m[1]); err != nil || n < r.n/2 {
		return fmt.Errorf("%s remote hits of %d: %s", m[1], r.n, out)
	}
	return nil
}

var warning = regexp.MustCompile(`(?m)^(bento: )?warning: `)

// oneWarning returns an error if the output of a command has several warnings.
func oneWarning(out string) error {
	if n := len(warning.FindAllString(out, -1)); n > 1 {
		return errors.New(fmt.Sprint(n, " warnings: ", out))
	}
	return nil
}

// discard removes what the runs of a workspace have left.
func (r *remoteBench) discard(c *commands) error {
	return errors.Join(os.RemoveAll(filepath.Join(r.dir, "old")), os.RemoveAll(c.root))
}
