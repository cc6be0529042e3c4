package plugin

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"syscall"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/plugin/wire"
)

// decode decodes the params of a request, if any. The error is an *wire.RPCError.
func decode(params json.RawMessage, into any) error {
	if len(params) == 0 || string(params) == "null" {
		return nil
	}
	if err := wire.Decode(params, into); err != nil {
		return refuse(wire.CodeInvalidParams, "params: %v", err)
	}
	return nil
}

func dirOf(c *call) (string, error) {
	var p wire.Dir
	if err := decode(c.params, &p); err != nil {
		return "", err
	}
	return p.Dir, checkDir("dir", p.Dir)
}

func checkDir(name, dir string) error {
	if !filepath.IsAbs(dir) {
		return refuse(wire.CodeInvalidParams, "params.%s: expected an absolute path, got %q", name, dir)
	}
	return nil
}

// refusal returns the code and data of the protocol for an error of a call of the method.
func refusal(method string, err error) *wire.RPCError {
	var (
		rpc     *wire.RPCError
		install *adapters.InstallError
		missing *adapters.MissingTool
		io      *fs.PathError
	)
	switch {
	case errors.As(err, &rpc):
		return rpc
	case errors.As(err, &install):
		message := cmp.Or(install.Detail, install.Error())
		return withData(wire.CodeInstallFailed, message, wire.InstallData{ExitStatus: install.ExitStatus, Command: install.Command})
	case errors.As(err, &missing):
		return withData(wire.CodePlugin, err.Error(), wire.PluginData{Detail: err.Error(), MissingTool: missing.Tool, Hint: missing.Hint})
	case errors.As(err, &io):
		var errno syscall.Errno
		errors.As(err, &errno)
		return withData(wire.CodeIO, err.Error(), wire.IOData{Path: io.Path, Errno: int(errno)})
	case method == wire.MethodToolchain:
		return withData(wire.CodeToolchain, err.Error(), wire.ToolchainData{Reason: err.Error()})
	}
	return withData(wire.CodePlugin, err.Error(), wire.PluginData{Detail: err.Error()})
}

func refuse(code int, format string, args ...any) error {
	return &wire.RPCError{Code: code, Message: fmt.Sprintf(format, args...)}
}

func withData(code int, message string, data any) *wire.RPCError {
	text, err := json.Marshal(data)
	if err != nil {
		panic(err) // it has texts and numbers only
	}
	return &wire.RPCError{Code: code, Message: message, Data: text}
}
