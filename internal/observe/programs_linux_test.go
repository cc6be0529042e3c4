//go:build amd64 || arm64

package observe

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/bentobuild/bento/internal/sandbox/sandboxtest"
)

// become becomes a program of the tests, if kind names one.
func become(kind string, args []string) {
	switch kind {
	case Command:
		_ = Enter(args)
		os.Exit(126)
	case "static":
		static(args)
		os.Exit(0)
	case "serve":
		serve(args)
		os.Exit(0)
	case "dial":
		dial(args)
		os.Exit(0)
	case "nobody": // executes args as a user without rights
		fmt.Fprintln(os.Stderr, asNobody(args))
		os.Exit(126)
	case "without": // executes args[1:] on a kernel without the call args[0]
		fmt.Fprintln(os.Stderr, sandboxtest.Become(args[0], args[1:]))
		os.Exit(126)
	case "tell": // observes args[1:] in args[0] and prints its uses
		tell(args[0], args[1:])
		os.Exit(0)
	}
}

const nobody = 65534

func asNobody(argv []string) error {
	if err := syscall.Setgroups(nil); err != nil {
		return err
	}
	if err := syscall.Setgid(nobody); err != nil {
		return err
	}
	if err := syscall.Setuid(nobody); err != nil {
		return err
	}
	return syscall.Exec(argv[0], argv, os.Environ())
}

func tell(root string, argv []string) {
	res, used, err := observe(context.Background(), os.Args[0], root, os.Stdout, argv)
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	fmt.Println("status", res.ExitCode)
	if used.LacksRights {
		fmt.Println("lacks rights")
	}
	for _, line := range drop(lines(root, used)) {
		fmt.Println(line)
	}
}

// static does what its arguments say, "VERB:PATH" or "VERB:PATH:PATH". Errors are no matter.
func static(args []string) {
	for _, arg := range args {
		verb, path, _ := strings.Cut(arg, ":")
		from, to, _ := strings.Cut(path, ":")
		switch verb {
		case "read":
			_, _ = os.ReadFile(path)
		case "write":
			_ = os.WriteFile(path, []byte("x"), 0o666)
		case "list":
			_, _ = os.ReadDir(path)
		case "stat":
			_, _ = os.Stat(path)
		case "remove":
			_ = os.Remove(path)
		case "mkdir":
			_ = os.Mkdir(path, 0o777)
		case "chmod":
			_ = os.Chmod(path, 0o700)
		case "chdir":
			_ = os.Chdir(path)
		case "link":
			_ = os.Symlink(from, to)
		case "rename":
			_ = os.Rename(from, to)
		case "run":
			_ = exec.Command("./" + path).Run()
		default:
			special(verb, from, to)
		}
	}
}

func special(verb, from, to string) {
	switch verb {
	case "open": // with flags
		flags, err := strconv.Atoi(to)
		if err != nil {
			panic(err)
		}
		if fd, err := unix.Open(from, flags, 0o666); err == nil {
			unix.Close(fd)
		}
	case "at": // a file in a directory that is open
		dir, _ := unix.Open(from, unix.O_RDONLY|unix.O_DIRECTORY, 0)
		if fd, err := unix.Openat(dir, to, unix.O_RDONLY, 0); err == nil {
			unix.Close(fd)
		}
	case "into":
		dir, _ := unix.Open(from, unix.O_RDONLY|unix.O_DIRECTORY, 0)
		_ = unix.Fchdir(dir)
	case "deep": // a file whose path has more than 4096 bytes
		for range 20 {
			name := strings.Repeat("d", 250)
			_ = os.Mkdir(name, 0o777)
			_ = unix.Chdir(name)
		}
		_, _ = os.ReadFile(from)
	case "threads": // 50 threads read 20 files each
		var all sync.WaitGroup
		for i := range 50 {
			all.Go(func() {
				runtime.LockOSThread()
				for j := range 20 {
					_, _ = os.ReadFile(filepath.Join(from, fmt.Sprint(20*i+j)))
				}
			})
		}
		all.Wait()
	case "exchange":
		_ = unix.Renameat2(unix.AT_FDCWD, from, unix.AT_FDCWD, to, unix.RENAME_EXCHANGE)
	case "many": // opens of as many files
		n, _ := strconv.Atoi(from)
		for i := range n {
			_, _ = unix.Open(strconv.Itoa(i), unix.O_RDONLY, 0)
		}
	case "forever":
		for i := 0; ; i++ {
			_, _ = os.ReadFile(fmt.Sprint(from, i))
		}
	case "ring":
		_, _, errno := unix.Syscall(ioUringSetup, 1, 0, 0)
		fmt.Println(errno.Error())
	}
}
