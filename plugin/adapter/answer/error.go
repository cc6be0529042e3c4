package answer

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/plugin/wire"
	"github.com/bentobuild/bento/plugin/wire/shape"
)

// ToolError converts an error of the plugin with this id about a tool: it returns an
// *adapters.InstallError or *adapters.MissingTool, or nil if the error is the plugin's own.
func ToolError(id, method string, rpc *wire.RPCError) error {
	if rpc.Code == wire.CodeInstallFailed && (method == wire.MethodInstall || method == wire.MethodAdd) {
		return installError(id, rpc)
	}
	var data wire.PluginData
	if rpc.Code == wire.CodePlugin && wire.Decode(rpc.Data, &data) == nil && isName(data.MissingTool) {
		return &adapters.MissingTool{Tool: data.MissingTool, Hint: wire.Plain(data.Hint)}
	}
	return nil
}

// installError returns the error of a tool that a plugin ran. Data without an exit status
// is shown unchanged.
func installError(id string, rpc *wire.RPCError) error {
	message, e := wire.Plain(rpc.Message), &adapters.InstallError{}
	data, err := InstallData(rpc.Data)
	switch {
	case err == nil:
		e.Command, e.ExitStatus = wire.Plain(data.Command), data.ExitStatus
		if message != e.Error() {
			e.Detail = message
		}
	case len(rpc.Data) > 0:
		e.Detail = cmp.Or(message, "no message") + ": " + wire.Plain(string(rpc.Data))
	default:
		e.Detail = message
	}
	e.Plugin = fmt.Sprintf("plugin %s: error %d", id, rpc.Code)
	return e
}

// InstallData decodes the data of error 2001. The error names the invalid member.
func InstallData(raw json.RawMessage) (data wire.InstallData, err error) {
	if len(raw) == 0 {
		return data, &shape.Error{Want: "{exit_status, command}", Got: "nothing"}
	}
	err = shape.Decode(raw, shape.Record(
		shape.Must("exit_status", shape.Int(math.MinInt32)),
		shape.Must("command", text()),
	), &data)
	return data, err
}
