package jvm

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/user"
	"path/filepath"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/adapters/snapshot"
	"github.com/bentobuild/bento/internal/probe"
)

// Host is the machine as the tools of Java see it. It is safe for concurrent use.
type Host struct {
	Env   adapters.Environ // of child processes
	from  snapshot.Source
	asker *probe.Asker
	java  snapshot.Machine[javaSeen]
}

// Use sets the environment in which the host looks for tools, for the workspace of from.
func (h *Host) Use(from snapshot.Source, env adapters.Environ) {
	h.Env, h.from, h.asker = env, from, probe.New(from, env)
}

// javaSeen is the java that tools start.
type javaSeen struct {
	path  string
	basis string
	shim  bool
}

// PassEnv returns homes, caches, repositories, and settings of appearance.
func PassEnv() []string {
	return []string{
		"JAVA_HOME", "JAVA_HOME_*", "JDK_HOME", "SDKMAN_DIR", "ASDF_DATA_DIR", "MISE_DATA_DIR", "JENV_ROOT",
		"M2_HOME", "MAVEN_HOME", "MAVEN_USER_HOME", "MAVEN_SKIP_RC", "MVNW_*",
		"GRADLE_HOME", "GRADLE_USER_HOME", "GRADLE_RO_DEP_CACHE", "GRADLE_BUILD_CACHE_*",
	}
}

// SteeringEnv returns the variables that change the outputs of Java tools.
func SteeringEnv() []string {
	return []string{"JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS", "_JAVA_OPTIONS", "JAVA_OPTS", "CLASSPATH", "JAVACMD", "JENV_VERSION", "ASDF_JAVA_VERSION", "MISE_JAVA_VERSION"}
}

// look finds the java that the start scripts of Maven and Gradle choose: that of JAVA_HOME,
// else the first on PATH.
func (h *Host) look() (javaSeen, error) {
	b := probe.NewBasis(h.Env)
	b.Env("JAVA_HOME")
	path, err := h.find()
	if err != nil {
		return javaSeen{}, err
	}
	b.File(path)
	seen := javaSeen{path: path, shim: isShim(path)}
	if seen.shim {
		h.choices(b, path)
	} else {
		home, err := HomeOf(path)
		if err != nil {
			return javaSeen{}, err
		}
		b.File(filepath.Join(home, "release"))
		if !isFile(filepath.Join(home, "bin", "javac")) && !isFile(filepath.Join(filepath.Dir(path), "javac")) {
			hint := fmt.Sprintf("%s is in a runtime without a compiler; %s", path, h.hint(0))
			return javaSeen{}, &adapters.MissingTool{Tool: "javac", Hint: hint}
		}
	}
	seen.basis = b.String()
	return seen, nil
}

func (h *Host) find() (string, error) {
	home := h.Env.Get("JAVA_HOME")
	if home == "" {
		path, err := h.Env.LookPath("java")
		var missing *adapters.MissingTool
		if errors.As(err, &missing) {
			missing.Hint = h.hint(0)
		}
		return path, err
	}
	path := filepath.Join(home, "bin", "java")
	if fi, err := os.Stat(path); err != nil || !fi.Mode().IsRegular() || fi.Mode()&0o111 == 0 {
		return "", &adapters.MissingTool{Tool: "java", Hint: fmt.Sprintf("JAVA_HOME is %q, which has no %s; set it to a JDK, or unset it", home, "bin/java")}
	}
	return path, nil
}

// HomeOf returns the directory above the bin directory of an executable, after following
// links.
func HomeOf(path string) (string, error) {
	real, err := filepath.EvalSymlinks(path)
	return filepath.Dir(filepath.Dir(real)), err
}

// isShim reports whether an executable is the shim of a version manager (jenv, asdf, mise),
// whose version depends on the directory.
func isShim(path string) bool { return filepath.Base(filepath.Dir(path)) == "shims" }

// choices adds the versions that a version manager has, and its default.
func (h *Host) choices(b *probe.Basis, shim string) {
	root := filepath.Dir(filepath.Dir(shim))
	b.File(filepath.Join(root, "version"))
	for _, pattern := range []string{"versions/*", "installs/java/*"} {
		found, _ := filepath.Glob(filepath.Join(root, pattern))
		for _, path := range found {
			b.File(path)
		}
	}
	b.Home(".tool-versions", filepath.Join(".config", "mise", "config.toml"))
}

// Basis returns everything that the Java in dir depends on, for the ability Steerer.
func (h *Host) Basis(dir string) (string, error) {
	seen, err := h.java.See(h.from, h.look)
	if err != nil || !seen.shim {
		return seen.basis, err
	}
	b := probe.NewBasis(h.Env)
	b.Above(dir, append(probe.ManagerFiles(), ".java-version", ".sdkmanrc")...)
	return seen.basis + b.String(), nil
}

// VersionOutput returns the output of java's version probe.
func (h *Host) VersionOutput(ctx context.Context, at probe.At) (string, error) {
	seen, err := h.java.See(h.from, h.look)
	if err != nil {
		return "", err
	}
	output, err := h.asker.Ask(ctx, probe.JavaVersion, at.Of(seen.path))
	if err != nil {
		return "", err
	}
	text, _ := Tell(output.Out + "\n" + output.Err)
	if text == "" {
		return "", fmt.Errorf("%s -version: no version in its answer %.80q", seen.path, output.Err)
	}
	return text, nil
}

// Ask returns the output of Maven or Gradle, both streams in one.
func (h *Host) Ask(ctx context.Context, q probe.Question, at probe.At) (string, error) {
	output, err := h.asker.Ask(ctx, q, at)
	return output.Out + "\n" + output.Err, err
}

// hint returns how to install Java, of the feature release major unless that is 0.
func (h *Host) hint(major int) string {
	for _, home := range Installed(h.Env) {
		if major == 0 || home.Version.Major() == major {
			return fmt.Sprintf("one is in %s: set JAVA_HOME to it", home.Dir)
		}
	}
	if major != 0 {
		return fmt.Sprintf("install JDK %d and set JAVA_HOME to it", major)
	}
	return adapters.Packages{
		Apt: "default-jdk-headless", Dnf: "java-latest-openjdk-devel", Zypper: "java-17-openjdk-devel", Pacman: "jdk-openjdk",
		Apk: "openjdk17-jdk", Brew: "openjdk", Else: "install a JDK and set JAVA_HOME to it",
	}.Hint(h.Env)
}

// UserHome returns the home directory as Java sees it: the account's, not HOME.
func UserHome(env adapters.Environ) string {
	if u, err := user.Current(); err == nil && len(u.HomeDir) > 1 {
		return u.HomeDir
	}
	return env.Get("HOME")
}

func isFile(path string) bool {
	fi, err := os.Stat(path)
	return err == nil && fi.Mode().IsRegular()
}
