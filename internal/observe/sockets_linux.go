//go:build amd64 || arm64

package observe

import (
	"bytes"
	"encoding/binary"
	"net"
	"net/netip"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// A server that a command did not start may use files for it, and no call of the command shows that. So the connections
// to such servers are noted.

// sockets are the servers of one command.
type sockets struct {
	inodes map[string]bool // of the sockets that listen, as /proc has them
	paths  map[string]bool // of unix sockets; abstract ones begin with "@"
}

func newSockets() sockets {
	return sockets{inodes: make(map[string]bool), paths: make(map[string]bool)}
}

// maxAddress is the size of the largest address in bytes, struct sockaddr_storage.
const maxAddress = 128

// services are directories with sockets of services that answer any program about names, users and the like, and use
// no other files for it.
var services = []string{"/run/nscd", "/var/run/nscd", "/run/systemd", "/var/lib/sss/pipes"}

// dnsPort is the port at which programs ask for the addresses of names.
const dnsPort = 53

// noteListen notes that the command is the server of a socket.
func (l *listener) noteListen(n *notification) {
	if at, err := os.Readlink("/proc/" + strconv.FormatUint(uint64(n.pid), 10) + "/fd/" + strconv.Itoa(int(int32(n.args[0])))); err == nil {
		l.sockets.inodes[strings.TrimSuffix(strings.TrimPrefix(at, "socket:["), "]")] = true
	}
}

// noteBind notes the path of a unix socket of the command.
func (l *listener) noteBind(n *notification) {
	if at, _ := l.unixAddress(n, l.address(n)); at != "" {
		l.sockets.paths[at] = true
	}
}

// noteConnect notes a connection to a server that the command did not start.
func (l *listener) noteConnect(n *notification) {
	a := l.address(n)
	if len(a) < 2 {
		return
	}
	at := ""
	switch family := binary.NativeEndian.Uint16(a); {
	case family == unix.AF_UNIX:
		var is bool
		if at, is = l.unixAddress(n, a); !is || l.sockets.paths[at] {
			return
		}
	case family == unix.AF_INET && len(a) >= 8:
		at = l.server(n.pid, netip.AddrFrom4([4]byte(a[4:8])), binary.BigEndian.Uint16(a[2:]))
	case family == unix.AF_INET6 && len(a) >= 24:
		at = l.server(n.pid, netip.AddrFrom16([16]byte(a[8:24])).Unmap(), binary.BigEndian.Uint16(a[2:]))
	case family == unix.AF_VSOCK:
		at = "the host of this machine"
	}
	if at != "" {
		l.notes.servers["a program connects to "+at+", a server that the task did not start"] = true
	}
}

// address returns the address among the arguments of bind(2) and connect(2), empty if it cannot be read.
func (l *listener) address(n *notification) []byte {
	a := make([]byte, min(n.args[2], maxAddress))
	if len(a) == 0 {
		return nil
	}
	return a[:l.memory(n.pid, n.args[1], a)]
}

// unixAddress returns the path of the unix socket with an address, "" if it has none or belongs to the system. is reports
// whether something is there.
func (l *listener) unixAddress(n *notification, a []byte) (at string, is bool) {
	if len(a) < 3 || binary.NativeEndian.Uint16(a) != unix.AF_UNIX {
		return "", false
	}
	name := a[2:]
	if name[0] == 0 {
		return "@" + string(name[1:]), true
	}
	if end := bytes.IndexByte(name, 0); end >= 0 {
		name = name[:end]
	}
	dir := ""
	if name[0] != '/' {
		if dir = l.dir(n, cwd); dir == "" {
			return "", false
		}
	}
	f := l.paths.find(dir, string(name), false, func(string) {})
	for _, s := range services {
		if within(s, f.path) {
			return "", false
		}
	}
	return f.path, f.path != "" && !f.absent
}

// server returns the address of a server that the command did not start, "" if there is none, if it answers any program,
// or if it is far away: then it has no files of this machine.
func (l *listener) server(pid uint32, ip netip.Addr, port uint16) string {
	local := isLocal(ip)
	switch {
	case port == 0, port == dnsPort, ip.IsMulticast(), !local && !ip.IsPrivate() && !ip.IsLinkLocalUnicast():
		return ""
	case local && !l.foreign(pid, port):
		return ""
	}
	return netip.AddrPortFrom(ip, port).String()
}

// isLocal reports whether an address is one of this machine.
func isLocal(ip netip.Addr) bool {
	if ip.IsLoopback() || ip.IsUnspecified() {
		return true
	}
	list, err := net.InterfaceAddrs()
	for _, a := range list {
		if p, perr := netip.ParsePrefix(a.String()); perr == nil && p.Addr().Unmap() == ip {
			return true
		}
	}
	return err != nil
}

// foreign reports whether another server than one of the command listens at a port of the machine, or it is unknown.
func (l *listener) foreign(pid uint32, port uint16) bool {
	inodes, err := []string(nil), error(unix.EOPNOTSUPP)
	if sameNetwork(pid) {
		inodes, err = listeners(port)
	}
	if err != nil {
		inodes, err = listenersOf(pid, port)
	}
	return err != nil || slices.ContainsFunc(inodes, func(inode string) bool { return !l.sockets.inodes[inode] })
}

// sameNetwork reports whether a process has the network of this one.
func sameNetwork(pid uint32) bool {
	own, err := os.Readlink("/proc/self/ns/net")
	its, other := os.Readlink("/proc/" + strconv.FormatUint(uint64(pid), 10) + "/ns/net")
	return err == nil && other == nil && own == its
}

// listeners returns the inodes of the TCP sockets that listen at a port. It asks the kernel for these alone: /proc/net/tcp
// takes 20 ms where a server of a test has had thousands of connections.
func listeners(port uint16) (inodes []string, err error) {
	s, err := unix.Socket(unix.AF_NETLINK, unix.SOCK_RAW|unix.SOCK_CLOEXEC, unix.NETLINK_SOCK_DIAG)
	if err != nil {
		return nil, err
	}
	defer unix.Close(s)
	for _, family := range [...]byte{unix.AF_INET, unix.AF_INET6} {
		more, err := ask(s, listenersRequest(family, port))
		if err != nil {
			return nil, err
		}
		inodes = append(inodes, more...)
	}
	return inodes, nil
}

// The layout of sock_diag(7): behind the header of the message the request is struct inet_diag_req_v2, the answer
// struct inet_diag_msg.
const (
	diagHeader   = unix.SizeofNlMsghdr
	diagRequest  = diagHeader + 56
	diagPort     = diagHeader + 8  // in the request, in the order of the network
	diagInode    = diagHeader + 68 // in the answer
	diagByFamily = 20              // SOCK_DIAG_BY_FAMILY
	diagListens  = 1 << 10         // the state TCP_LISTEN
)

func listenersRequest(family byte, port uint16) []byte {
	m := make([]byte, diagRequest)
	binary.NativeEndian.PutUint32(m, uint32(len(m)))
	binary.NativeEndian.PutUint16(m[4:], diagByFamily)
	binary.NativeEndian.PutUint16(m[6:], unix.NLM_F_REQUEST|unix.NLM_F_DUMP)
	m[diagHeader], m[diagHeader+1] = family, unix.IPPROTO_TCP
	binary.NativeEndian.PutUint32(m[diagHeader+4:], diagListens)
	binary.BigEndian.PutUint16(m[diagPort:], port)
	return m
}

// ask sends a request and returns the inodes of all answers.
func ask(socket int, request []byte) (inodes []string, err error) {
	if err := unix.Sendto(socket, request, 0, &unix.SockaddrNetlink{Family: unix.AF_NETLINK}); err != nil {
		return nil, err
	}
	buf := make([]byte, 1<<15)
	for {
		n, _, err := unix.Recvfrom(socket, buf, 0)
		if err != nil {
			return nil, err
		}
		for m := buf[:n]; len(m) >= diagHeader; {
			size := int(binary.NativeEndian.Uint32(m))
			if size < diagHeader || size > len(m) {
				return nil, unix.EBADMSG
			}
			switch kind := binary.NativeEndian.Uint16(m[4:]); {
			case kind == unix.NLMSG_DONE:
				return inodes, nil
			case kind != diagByFamily || size < diagInode+4: // NLMSG_ERROR: the kernel cannot tell
				return nil, unix.EOPNOTSUPP
			}
			inodes = append(inodes, strconv.FormatUint(uint64(binary.NativeEndian.Uint32(m[diagInode:])), 10))
			m = m[min(len(m), (size+3)&^3):]
		}
	}
}

// listenersOf is listeners in the network of a process. It reads all connections.
func listenersOf(pid uint32, port uint16) (inodes []string, err error) {
	read := false
	for _, table := range [...]string{"tcp", "tcp6"} {
		text, failure := os.ReadFile(path.Join("/proc", strconv.FormatUint(uint64(pid), 10), "net", table))
		if failure != nil {
			err = failure // without IPv6, for example
			continue
		}
		read = true
		for line := range strings.Lines(string(text)) {
			if inode, ok := listening(line, port); ok {
				inodes = append(inodes, inode)
			}
		}
	}
	if read {
		err = nil
	}
	return inodes, err
}

// listening returns the inode of the socket in a line of /proc/net/tcp, if it listens at a port (proc_pid_net(5)).
func listening(line string, port uint16) (inode string, ok bool) {
	const local, state, number = 1, 3, 9
	fields := strings.Fields(line)
	if len(fields) <= number || fields[state] != "0A" {
		return "", false
	}
	_, hex, _ := strings.Cut(fields[local], ":")
	is, err := strconv.ParseUint(hex, 16, 16)
	return fields[number], err == nil && uint16(is) == port
}
