package answer

import (
	"encoding/json"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/plugin/wire"
)

// ToolError gives what an error of a plugin says of a tool that it ran or missed: an
// *adapters.InstallError or *adapters.MissingTool. It is nil if the error is the
// plugin's own.
func ToolError(method string, rpc *wire.RPCError) error {
	message := wire.Plain(rpc.Message)
	if rpc.Code == wire.CodeInstallFailed && (method == wire.MethodInstall || method == wire.MethodAdd) {
		return installError(message, rpc.Data)
	}
	var data wire.PluginData
	if rpc.Code == wire.CodePlugin && wire.Decode(rpc.Data, &data) == nil && isName(data.MissingTool) {
		return &adapters.MissingTool{Tool: data.MissingTool, Hint: wire.Plain(data.Hint)}
	}
	return nil
}

// installError is the error of a tool that the plugin ran, from whatever of its
// data is there.
func installError(message string, raw json.RawMessage) error {
	var data wire.InstallData
	_ = json.Unmarshal(raw, &data) // without it there is still the message
	e := &adapters.InstallError{Command: wire.Plain(data.Command), ExitStatus: data.ExitStatus}
	if message != e.Error() {
		e.Detail = message
	}
	return e
}
