package verify

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bentobuild/bento/internal/run"
)

// system are directories of the machine whose files the toolchain in a key stands for: programs, libraries and what they
// are configured with everywhere.
var system = []string{
	"/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/usr/bin", "/usr/sbin", "/usr/lib", "/usr/lib32", "/usr/lib64", "/usr/libexec", "/usr/share",
	"/usr/local/bin", "/usr/local/lib", "/usr/local/share", "/usr/local/go", "/opt", "/proc", "/sys", "/var/lib", "/var/cache", "/nix", "/gnu", "/snap", "/run",
	"/etc/ld.so.cache", "/etc/ld.so.conf", "/etc/ld.so.conf.d", "/etc/ld.so.preload", "/etc/localtime", "/etc/timezone", "/etc/passwd", "/etc/group", "/etc/nsswitch.conf",
	"/etc/hosts", "/etc/host.conf", "/etc/resolv.conf", "/etc/gai.conf", "/etc/services", "/etc/protocols", "/etc/ssl", "/etc/pki", "/etc/ca-certificates", "/etc/crypto-policies",
	"/etc/locale.alias", "/etc/locale.conf", "/etc/terminfo", "/etc/inputrc", "/etc/mime.types", "/etc/magic", "/etc/alternatives", "/etc/fonts", "/etc/os-release", "/etc/lsb-release",
	"/etc/debian_version", "/etc/machine-id", "/etc/login.defs", "/etc/security", "/etc/pam.d", "/etc/shadow", "/etc/java-17-openjdk", "/etc/python3", "/etc/gitconfig",
}

// homes are directories below the user's home with caches and toolchains.
var homes = []string{
	".cache", "go", ".cargo", ".rustup", ".npm", ".local", ".yarn", ".bun", ".deno", ".gradle", ".m2", ".konan", ".java", ".bundle", ".gem", ".rbenv", ".rvm", ".composer",
	".pyenv", ".nvm", ".volta", ".fnm", ".asdf", ".mise", ".sdkman", ".jdks", ".nodenv", ".ccache", ".config/go", ".config/composer", ".node-gyp", ".node_repl_history", ".ivy2", ".sbt", ".gitconfig", ".config/git",
}

// manyHeaders is the number of headers of the system from which on they are one finding.
const manyHeaders = 3

// hostFiles returns the files outside of the workspace that may differ between machines, without those that the task
// declares.
func hostFiles(s *run.Seen, at Place) (list []Finding) {
	var headers []string
	for _, name := range s.Used.Outside {
		shown := name
		if rel, ok := strings.CutPrefix(name, at.Home+"/"); ok && at.Home != "" {
			shown = "~/" + rel
		}
		switch {
		case slices.Contains(s.Task.HostInputs, shown), slices.Contains(s.Task.HostInputs, name), at.ordinary(name):
		case strings.HasPrefix(name, "/usr/include/"), strings.HasPrefix(name, "/usr/local/include/"):
			headers = append(headers, name)
		default:
			list = append(list, hostFile(s, shown))
		}
	}
	if len(headers) > manyHeaders {
		f := hostFile(s, filepath.Dir(headers[0]))
		f.Message = fmt.Sprintf("it reads %d headers of the system, such as %q, which may differ between machines", len(headers), headers[0])
		f.Hint = fmt.Sprintf("if the version of the compiler does not decide them, add those that matter to host_inputs of %s, such as %q", s.Task.ID(), headers[0])
		return append(list, f)
	}
	for _, name := range headers {
		list = append(list, hostFile(s, name))
	}
	return list
}

func hostFile(s *run.Seen, name string) Finding {
	return Finding{
		Kind: Host, Task: s.Task, Path: name, Message: fmt.Sprintf("it reads %q outside of the workspace, which may differ between machines", name),
		Hint: fmt.Sprintf("add host_inputs = [%q] to %s", name, s.Task.ID()),
	}
}

// ordinary reports whether a file belongs to a toolchain, to a cache or to the execution itself.
func (at Place) ordinary(name string) bool {
	if strings.HasPrefix(name, "/dev/") && !strings.HasPrefix(name, "/dev/shm/") {
		return true
	}
	around := slices.Clone(system)
	for _, dir := range homes {
		if at.Home != "" {
			around = append(around, filepath.Join(at.Home, dir))
		}
	}
	for _, dir := range filepath.SplitList(at.Path) {
		// A program in TOOL/bin belongs to TOOL, unless that is the home or a directory around it.
		if tool := filepath.Dir(dir); filepath.IsAbs(dir) && tool != "/" && tool != "/usr" && tool != "/usr/local" && !strings.HasPrefix(at.Home+"/", tool+"/") {
			around = append(around, tool)
		}
		around = append(around, dir)
	}
	around = append(around, at.Own...)
	return slices.ContainsFunc(around, func(dir string) bool {
		return filepath.IsAbs(dir) && (name == dir || strings.HasPrefix(name, strings.TrimSuffix(dir, "/")+"/"))
	})
}
