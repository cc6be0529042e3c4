package wire

import (
	"encoding/json"
	"fmt"
	"math"
	"reflect"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/diagnostics"
	"github.com/bentobuild/bento/plugin/wire/shape"
)

// The methods of the adapter protocol v1.
const (
	MethodInitialize  = "initialize"
	MethodDetect      = "detect"
	MethodToolchain   = "requiredToolchain"
	MethodFingerprint = "resolvedToolchainFingerprint"
	MethodInstall     = "install"
	MethodDiagnostics = "parseDiagnostics"
	MethodShutdown    = "shutdown"

	// Additions, each with the name of its capability.
	MethodTasks        = "tasks"
	MethodLinks        = "links"
	MethodInstallScope = "install_scope"
	MethodAdd          = "add"
	MethodResolved     = "resolvedToolchain"
	MethodScaffold     = "scaffold"

	// Notifications: from the plugin, and to it.
	NotifyLog    = "notifications/log"
	NotifyCancel = "$/cancel"
)

// The error codes of JSON-RPC and of the adapter protocol.
const (
	codeInvalidRequest = -32600
	CodeMethodNotFound = -32601
	CodeInvalidParams  = -32602

	CodeInstallFailed = 2001 // data InstallData
	CodeToolchain     = 2002 // data ToolchainData: a pin cannot be read
	CodeIO            = 2003 // data IOData
	CodePlugin        = 2099 // data PluginData: anything else
)

// Initialize is the params of initialize. Its result is an adapters.Manifest.
type Initialize struct {
	ProtocolVersion int    `json:"protocol_version"`
	BentoVersion    string `json:"bento_version"`
	// Options are the options of the workspace, not yet checked against the schema.
	Options json.RawMessage `json:"options,omitempty"`
}

// Dir is the params of the methods about a directory.
type Dir struct {
	Dir string `json:"dir"` // absolute
}

// Toolchain is the params of the questions about the toolchain: the directory of resolvedToolchain, and
// the output of the manifest's exec command.
type Toolchain struct {
	Dir  string               `json:"dir,omitempty"` // absolute
	Exec *adapters.ExecOutput `json:"exec,omitempty"`
}

// Detected is the result of detect.
type Detected struct {
	Matches bool `json:"matches"`
}

// Installed is the result of install where bento is to run commands.
type Installed struct {
	Commands [][]string `json:"commands"`
}

// Scaffold is the params of scaffold.
type Scaffold struct {
	Name string `json:"name"` // of the new dish: letters, digits, dots, dashes and underscores
}

// Scaffolded is the result of scaffold: the files of the smallest project that builds and tests.
type Scaffolded struct {
	Files []ScaffoldedFile `json:"files"`
}

// ScaffoldedFile is one file of a new project.
type ScaffoldedFile struct {
	Path       string `json:"path"` // relative to the dish
	Text       string `json:"text"`
	Executable bool   `json:"executable,omitempty"`
}

// Diagnosed is the result of parseDiagnostics.
type Diagnosed struct {
	Diagnostics []diagnostics.Diagnostic `json:"diagnostics"`
}

// Cancel is the params of $/cancel.
type Cancel struct {
	ID int64 `json:"id"` // of the request to cancel
}

// InstallData is the data of CodeInstallFailed.
type InstallData struct {
	ExitStatus int    `json:"exit_status"`
	Command    string `json:"command"`
}

// ToolchainData is the data of CodeToolchain.
type ToolchainData struct {
	File   string `json:"file"`
	Reason string `json:"reason"`
}

// IOData is the data of CodeIO.
type IOData struct {
	Path  string `json:"path"`
	Errno int    `json:"errno"`
}

// PluginData is the data of CodePlugin.
type PluginData struct {
	Detail string `json:"detail"`
	// MissingTool is the executable that is not installed, if that is the error, and Hint
	// how to install it.
	MissingTool string `json:"missing_tool,omitempty"`
	Hint        string `json:"hint,omitempty"`
}

// Decode decodes raw, a JSON value, into the value that into points to, which must be a
// type of the protocol. It ignores unknown members, among them members whose name differs
// in case. The error wraps *shape.Error unless raw is not JSON.
func Decode(raw json.RawMessage, into any) error {
	return shape.Decode(raw, shape.Of(reflect.TypeOf(into).Elem()), into)
}

// RPCError is the error of a JSON-RPC response.
type RPCError struct {
	Code    int             `json:"code"`
	Message string          `json:"message"`
	Data    json.RawMessage `json:"data,omitempty"`
}

func (e *RPCError) Error() string { return fmt.Sprintf("error %d: %s", e.Code, e.Message) }

func errorShape() *shape.Shape {
	return shape.Record(shape.Must("code", shape.Int(math.MinInt32)), shape.May("message", shape.Text(64<<10)), shape.May("data", nil))
}
