package wasm

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/tetratelabs/wazero/experimental/sys"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/internal/rawfile"
	. "github.com/bentobuild/bento/plugin/wasm/wasmtest"
)

// asker returns a module that calls a host function with a question and returns its answer.
func asker(function, question string) []byte {
	m := &Module{}
	f := m.Import("az", function, "i32,i32->i64")
	m.Func(alloc, "i32->i32", I32(20<<20))
	m.Func(execute, "i32,i32->i64", I32(4096), I32(int32(len(question))), Call(f))
	m.Memory(600, -1)
	m.Data(4096, question)
	return m.Bytes()
}

// ask returns the answer of a host function, and false if the function returned 0.
func ask(t *testing.T, o Options, function, question, root string) (string, bool) {
	t.Helper()
	o.Bytes = asker(function, question)
	tool := open(t, o)
	return answered(t, tool, root)
}

func answered(t *testing.T, tool *Tool, root string) (string, bool) {
	t.Helper()
	var log []string
	a, err := do(t, tool, adapters.ToolCall{Root: root, Log: func(l string) { log = append(log, l) }})
	var e *adapters.ToolError
	if errors.As(err, &e) && e.Message == "plugin returned empty output" {
		t.Logf("0: %q", log)
		return "", false
	}
	if err != nil {
		t.Fatal(err)
	}
	return a.Output, true
}

func TestEnvGet(t *testing.T) {
	t.Setenv("OF_THE_HOST", `{"output":"host"}`)
	long, value := strings.Repeat("x", maxQuestion+1), `{"output":"value"}`
	o := Options{Capabilities: []string{"host:az_env_get"}, Env: map[string]string{"NAME": value, "EMPTY": "", "\xff": value, long: value}}
	if got, ok := ask(t, o, azEnvGet, "NAME", ""); !ok || got != "value" {
		t.Errorf("NAME: got %q, %t", got, ok)
	}
	for _, name := range []string{"OF_THE_HOST", "PATH", "name", "", "NAME\x00", "\xff", long} {
		if got, ok := ask(t, o, azEnvGet, name, ""); ok {
			t.Errorf("%.20q: got %q, want 0", name, got)
		}
	}
	for name, want := range map[string]string{"EMPTY": "set", "UNSET": "unset"} { // an empty value is not 0
		m := &Module{}
		f := m.Import("az", azEnvGet, "i32,i32->i64")
		m.Func(alloc, "i32->i32", I32(8192))
		m.Func(execute, "i32,i32->i64", I32(4096), I32(int32(len(name))), Call(f), Op(0x50, 0x04, 0x40), Packed(2048, 18), Op(Return, End), Packed(1024, 16))
		m.Memory(1, -1)
		m.Data(4096, name)
		m.Data(1024, `{"output":"set"}`)
		m.Data(2048, `{"output":"unset"}`)
		o.Bytes = m.Bytes()
		if got := must(t, open(t, o), say("x")); got != want {
			t.Errorf("%s is %s, want %s", name, got, want)
		}
	}
}

func TestReadFile(t *testing.T) {
	root, outside := t.TempDir(), t.TempDir()
	const content = `{"output":"content"}`
	for _, name := range []string{"a.txt", "dir/b.txt", ".git/config", ".bento/state"} {
		write(t, filepath.Join(root, name), content)
	}
	write(t, filepath.Join(outside, "secret"), content)
	write(t, filepath.Join(root, "large"), "{"+strings.Repeat(" ", maxFile)+"}")
	for name, target := range map[string]string{"in": "a.txt", "out": filepath.Join(outside, "secret"), "outdir": outside, "hidden": ".git/config", "loop": "loop"} {
		if err := os.Symlink(target, filepath.Join(root, name)); err != nil {
			t.Fatal(err)
		}
	}
	if err := syscall.Mkfifo(filepath.Join(root, "pipe"), 0o600); err != nil {
		t.Fatal(err)
	}
	o := Options{Capabilities: []string{"wasi:filesystem/read"}}
	for _, name := range []string{"a.txt", "dir/b.txt", "./dir/b.txt", "in", filepath.Join(root, "a.txt")} {
		if got, ok := ask(t, o, azReadFile, name, root); !ok || got != "content" {
			t.Errorf("%q: got %q, %t", name, got, ok)
		}
	}
	if got, ok := ask(t, Options{Capabilities: []string{"host:az_read_file"}}, azReadFile, "a.txt", root); !ok || got != "content" {
		t.Errorf("host:az_read_file: got %q, %t", got, ok)
	}
	for _, name := range []string{
		"..", "../" + filepath.Base(outside) + "/secret", "dir/../a.txt", filepath.Join(outside, "secret"), "/etc/passwd", "out", "outdir/secret",
		"hidden", "loop", ".git/config", ".GIT/config", ".bento/state", "dir/../.git/config", "pipe", "dir", ".", "", "missing", "a.txt/x", "large", "a.txt\x00", "\xff",
	} {
		if got, ok := ask(t, o, azReadFile, name, root); ok {
			t.Errorf("%q: got %q, want 0", name, got)
		}
	}
}

// If a file is replaced between two looks, by a link that leads out or by a pipe, the open refuses it.
func TestReadFileReplaced(t *testing.T) {
	root, outside := t.TempDir(), t.TempDir()
	write(t, filepath.Join(outside, "secret"), "secret")
	dir, err := rawfile.OpenDir(root)
	if err != nil {
		t.Fatal(err)
	}
	defer dir.Close()
	j := &jail{root: dir}
	for name, replace := range map[string]func(path string) error{
		"link": func(path string) error { return os.Symlink(filepath.Join(outside, "secret"), path) },
		"pipe": func(path string) error { return syscall.Mkfifo(path, 0o600) },
	} {
		path := filepath.Join(root, name)
		write(t, path, "text")
		p, err := j.resolve(name, true)
		if err != nil || p.at != name {
			t.Fatalf("resolve(%q): got %v, %v", name, p, err)
		}
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
		if err := replace(path); err != nil {
			t.Fatal(err)
		}
		if f, _, err := p.open(os.O_RDONLY, 0); err == nil {
			f.Close()
			t.Errorf("%s: the replaced file was opened", name)
		}
	}
}

// A jail refuses names that lead out of it, even if a file with that name is inside.
func TestJailRefuses(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "a.txt"), "text")
	write(t, filepath.Join(dir, ".git", "config"), "text")
	write(t, filepath.Join(dir, "sub", ".bento", "logs", "log"), "text")
	for name, target := range map[string]string{
		"absolute": "/a.txt", "upwards": "../a.txt", "hidden": ".git/config", "in": "a.txt", "dir": "sub", "sub/back": "../a.txt", "sub/out": "../../a.txt", "sub/state": ".bento/logs", "round": "round/x",
	} {
		if err := os.Symlink(target, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	root, err := rawfile.OpenDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	j := &jail{root: root, budget: &budget{}}
	for name, want := range map[string]string{ // "" means refused
		"a.txt": "a.txt", "in": "a.txt", "./x/../a.txt": "", "..": "", "../a.txt": "", "x/../../a.txt": "", "absolute": "", "upwards": "", "hidden": "",
		".": ".", "sub/": "sub", "sub//back": "a.txt", "sub/back": "a.txt", "sub/../a.txt": "a.txt", "sub/../sub/none": "sub/none", "dir/none": "sub/none", "dir/back": "a.txt", "sub/none/..": "",
		"sub/out": "", "dir/out": "", "sub/../..": "", "sub/../../" + filepath.Base(dir) + "/a.txt": "", "sub/none/none": "", "round": "", "sub/a/../../in/x": "",
		".git/config": "", "sub/.bento/logs/log": "", "SUB/.BENTO/logs/log": "", "dir/.Bento/logs/log": "", "sub/state/log": "", "dir/../.git/config": "",
	} {
		p, err := j.resolve(name, true)
		got := ""
		if err == nil {
			got = p.at
			p.close()
		}
		if got != want {
			t.Errorf("%s: got %q, %v, want %q", name, got, err, want)
		}
	}
	for _, name := range []string{"hidden", "in"} { // links that have replaced a file since the first look
		p, err := j.resolve(name, false)
		if err != nil {
			t.Fatal(err)
		}
		if f, _, err := p.open(os.O_RDONLY, 0); err == nil {
			f.Close()
			t.Errorf("%s: a link is opened", name)
		}
	}
}

// A jail follows a link at the end of a name only if the caller asks for it. Its root stays open if a
// module closes it.
func TestJailOpens(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "sub", "a.txt"), "text")
	for name, target := range map[string]string{"link": "sub/a.txt", "dir": "sub", "gone": "new.txt"} {
		if err := os.Symlink(target, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	root, err := rawfile.OpenDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	j := &jail{root: root, write: true, budget: &budget{}}
	for range 2 {
		f, e := j.OpenFile(".", sys.O_DIRECTORY, 0)
		if e != 0 {
			t.Fatal(e)
		}
		if list, e := f.Readdir(-1); len(list) != 4 || e != 0 {
			t.Errorf("the root: got %v, %v, want 4 entries", list, e)
		}
		if e := f.Close(); e != 0 || f.Close() != 0 {
			t.Errorf("the root is closed with %v", e)
		}
	}
	for _, c := range []struct {
		name string
		flag sys.Oflag
		ok   bool
	}{
		{"link", 0, true}, {"dir/a.txt", 0, true}, {"dir", sys.O_DIRECTORY, true}, {"link", sys.O_DIRECTORY, false}, {"gone", 0, false},
		{"link", sys.O_NOFOLLOW, false}, {"dir", sys.O_NOFOLLOW | sys.O_DIRECTORY, false}, {"sub/a.txt/", sys.O_DIRECTORY, false}, {"sub/a.txt/x", 0, false},
		{"gone", sys.O_CREAT | sys.O_NOFOLLOW | sys.O_WRONLY, false}, {"gone", sys.O_CREAT | sys.O_WRONLY, true}, {"new.txt", 0, true},
	} {
		f, e := j.OpenFile(c.name, c.flag, 0o644)
		if e == 0 {
			f.Close()
		}
		if e == 0 != c.ok {
			t.Errorf("%s with %x: got %v", c.name, c.flag, e)
		}
	}
	if j.budget.open != 0 {
		t.Errorf("%d files count as open", j.budget.open)
	}
}

// web is a server on the loopback address, with a tool that may call it.
type web struct {
	*httptest.Server
	addr string
}

func serve(t *testing.T, h http.HandlerFunc) *web {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	return &web{s, s.Listener.Addr().String()}
}

func (w *web) ask(t *testing.T, url string, hosts ...string) (string, bool) {
	t.Helper()
	tool := open(t, Options{Bytes: asker(azHTTPGet, url), Capabilities: []string{"host:az_http_get"}, Hosts: append(hosts, w.addr)})
	tool.mayDial = func(to netip.AddrPort) bool { return to.String() == w.addr }
	return answered(t, tool, "")
}

func TestHTTPGet(t *testing.T) {
	other := serve(t, func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, `{"output":"other"}`) })
	one := serve(t, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/good":
			fmt.Fprintf(w, `{"output":"%s %s"}`, r.Method, r.UserAgent())
		case "/here":
			http.Redirect(w, r, "/good", http.StatusFound)
		case "/there":
			http.Redirect(w, r, other.URL, http.StatusFound)
		case "/local":
			http.Redirect(w, r, "http://169.254.169.254/latest/meta-data", http.StatusFound)
		case "/file":
			http.Redirect(w, r, "file:///etc/passwd", http.StatusFound)
		case "/round":
			http.Redirect(w, r, "/round", http.StatusFound)
		case "/large":
			for n := 0; n < 10<<30; n += 1 << 20 {
				if _, err := w.Write(make([]byte, 1<<20)); err != nil {
					return
				}
			}
		default:
			http.Error(w, `{"output":"no"}`, http.StatusNotFound)
		}
	})
	for _, path := range []string{"/good", "/here"} {
		if got, ok := one.ask(t, one.URL+path); !ok || got != "GET bento" {
			t.Errorf("%s: got %q, %t", path, got, ok)
		}
	}
	for _, url := range []string{
		one.URL + "/missing", one.URL + "/there", one.URL + "/local", one.URL + "/file", one.URL + "/round", one.URL + "/large",
		other.URL, strings.Replace(one.URL, "http:", "ftp:", 1), "file:///etc/passwd", "http://user:word@" + one.addr + "/good", "::", "",
	} {
		if got, ok := one.ask(t, url); ok {
			t.Errorf("%s: got %q, want 0", url, got)
		}
	}
	// The name is not allowed, whatever its address.
	tool := open(t, Options{Bytes: asker(azHTTPGet, one.URL+"/there"), Capabilities: []string{"host:az_http_get"}, Hosts: []string{one.addr}})
	tool.mayDial = func(netip.AddrPort) bool { return true }
	if got, ok := answered(t, tool, ""); ok {
		t.Errorf("a redirect to a host that is not allowed: got %q, want 0", got)
	}
	// The name is allowed, but its address is refused.
	for _, path := range []string{"/there", "/local"} {
		if got, ok := one.ask(t, one.URL+path, other.addr, "169.254.169.254"); ok {
			t.Errorf("%s: got %q, want 0", path, got)
		}
	}
}

// An allowed host is a name with one port, or with the ports of http and https.
func TestAllowedHosts(t *testing.T) {
	g := grant{hosts: map[string]bool{}}
	for _, host := range []string{"One.example", "two.example:8443", "[2001:db8::1]:80", "2001:db8::2"} {
		if err := g.allow(host); err != nil {
			t.Fatal(err)
		}
	}
	for address, want := range map[string]bool{
		"http://one.example/x": true, "https://ONE.example./": true, "https://one.example:443": true, "http://one.example:8080": false, "https://sub.one.example": false,
		"https://two.example:8443/": true, "https://two.example/": false, "http://two.example/": false,
		"http://[2001:db8::1]/": true, "https://[2001:db8::1]/": false, "https://[2001:db8::2]/": true,
		"ftp://one.example/": false, "https://user@one.example/": false, "//one.example/": false, "https:///": false,
	} {
		u, err := url.Parse(address)
		if err != nil {
			t.Fatal(err)
		}
		if err := g.mayAsk(u); (err == nil) != want {
			t.Errorf("%s: got %v, want it allowed: %v", address, err, want)
		}
	}
}

// Without the exception of the tests, no module can reach this machine.
func TestHTTPGetRefusesLoopback(t *testing.T) {
	w := serve(t, func(http.ResponseWriter, *http.Request) { t.Error("the server was asked") })
	_, port, _ := strings.Cut(w.addr, ":")
	for _, host := range []string{"127.0.0.1:" + port, "localhost:" + port, "[::1]:" + port, "[::ffff:127.0.0.1]:" + port} {
		o := Options{Capabilities: []string{"host:az_http_get"}, Hosts: []string{host}}
		if got, ok := ask(t, o, azHTTPGet, "http://"+host+"/", ""); ok {
			t.Errorf("%s: got %q, want 0", host, got)
		}
	}
}

func TestHTTPGetEndsAtTheDeadline(t *testing.T) {
	w := serve(t, func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
	tool := open(t, Options{Bytes: asker(azHTTPGet, w.URL), Capabilities: []string{"host:az_http_get"}, Hosts: []string{w.addr}, Timeout: 100 * time.Millisecond})
	tool.mayDial = func(netip.AddrPort) bool { return true }
	_, err := do(t, tool, say("x"))
	wantFailure(t, err, adapters.Timeout, "plugin execution exceeded time limit (100 ms)")
}

func TestIsPublic(t *testing.T) {
	for _, a := range []string{"93.184.215.14", "1.1.1.1", "2606:4700::1111", "::ffff:1.1.1.1"} {
		if !isPublic(netip.AddrPortFrom(netip.MustParseAddr(a), 80)) {
			t.Errorf("%s is not public", a)
		}
	}
	for _, a := range []string{
		"127.0.0.1", "127.9.9.9", "10.0.0.1", "172.16.0.1", "192.168.1.1", "169.254.169.254", "100.64.0.1", "0.0.0.0", "0.1.2.3", "224.0.0.1", "239.1.1.1",
		"255.255.255.255", "240.0.0.1", "198.18.0.1", "192.0.2.1", "::", "::1", "fe80::1", "fe80::1%eth0", "fc00::1", "fd12::1", "ff02::1", "::ffff:127.0.0.1",
		"::ffff:10.0.0.1", "64:ff9b::7f00:1", "2002:7f00:1::", "2001:db8::1", "::127.0.0.1", "fec0::1",
	} {
		if isPublic(netip.AddrPortFrom(netip.MustParseAddr(a), 80)) {
			t.Errorf("%s is public", a)
		}
	}
}

// Host functions return 0 or nothing for hostile pointers.
func TestHostilePointers(t *testing.T) {
	for name, args := range map[string][2]int32{"beyond": {-1, 4}, "length": {0, -1}, "both": {-1, -1}, "end": {600 * pageSize, 1}, "overlap": {600*pageSize - 1, 2}} {
		for _, f := range []string{azEnvGet, azReadFile, azHTTPGet} {
			m := &Module{}
			n := m.Import("az", f, "i32,i32->i64")
			log := m.Import("az", azLog, "i32,i32,i32->")
			m.Func(alloc, "i32->i32", I32(8192))
			m.Func(execute, "i32,i32->i64", I32(args[0]), I32(args[0]), I32(args[1]), Call(log), I32(args[0]), I32(args[1]), Call(n))
			m.Memory(600, -1)
			tool := open(t, Options{Bytes: m.Bytes(), Capabilities: []string{f}})
			if got, ok := answered(t, tool, t.TempDir()); ok {
				t.Errorf("%s of %s: got %q, want 0", f, name, got)
			}
		}
	}
}

// A host function that calls az_alloc receives any value from the module.
func TestHostileAllocInHostCall(t *testing.T) {
	count := func(after ...[]byte) [][]byte { // the first call allocates the input
		return append([][]byte{Count(100), I32(100), {0x28, 2, 0}, I32(1), {0x46, 0x04, 0x40}, I32(8192), Op(Return), Op(End)}, after...)
	}
	o := Options{Capabilities: []string{azEnvGet}, Env: map[string]string{"NAME": `{"output":"value"}`}}
	for name, body := range map[string][][]byte{"traps": count(Op(Unreachable)), "points outside": count(I32(-1))} {
		m := &Module{}
		n := m.Import("az", azEnvGet, "i32,i32->i64")
		m.Func(alloc, "i32->i32", body...)
		m.Func(execute, "i32,i32->i64", I32(4096), I32(4), Call(n))
		m.Memory(1, -1)
		m.Data(4096, "NAME")
		o.Bytes = m.Bytes()
		if got, ok := answered(t, open(t, o), ""); ok {
			t.Errorf("%s: got %q, want 0", name, got)
		}
	}
}
