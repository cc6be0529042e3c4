package dish

import (
	"strings"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/diagnostics"
)

// Tool is a tool that bento.toml declares or that was found on PATH, and that a task or a parser
// uses. Nothing of it has been started, and nothing of its content was read.
type Tool struct {
	ID   string
	Call adapters.Tool // nil with Problem
	// Problem is the reason why the tool cannot be used, with a hint. Its place is that of the use.
	Problem, Hint string
	// Within is true if its calls run within this process: nothing of a call is left when it returns.
	Within bool
	// Files are the files of the workspace that it consists of, relative to the root: they are inputs
	// of the tasks that call it, which the tool is not asked about.
	Files []string
	// Identity returns everything about it that its answers depend on. It reads its executable or
	// module at most once, and only if that has changed since an earlier invocation. It is safe
	// for concurrent use.
	Identity func() (ToolIdentity, error)
	// Changed reports whether its executable or module has been changed or replaced since Identity
	// was called.
	Changed func() bool
	// Findings returns the diagnostics in the output of a tool that parses, checked, with paths
	// relative to root.
	Findings func(output, root string) ([]diagnostics.Diagnostic, error)
}

// ToolIdentity is everything about a tool that the key of a task depends on.
type ToolIdentity struct {
	Digest string // of its executable or module, "sha256:…"
	Terms  []Term // its grants and how it is run, in a fixed order
}

// Term is one named property of a tool.
type Term struct {
	Name, Value string
	Secret      bool // the value of a variable: records hold a keyed digest
	Unset       bool // a variable that is not set
}

// RuleTool is the rule of the problem of a task whose tool cannot be used.
const RuleTool = "tool_unusable"

// The words that a tool's input may have. bento replaces them when it calls the tool.
const (
	InputFiles = "${inputs}" // a whole string: the paths of the input files, from the root
	InputDish  = "${dish}"   // the path of the dish from the root
	InputOut   = "${out}"    // the directory for outputs, absolute
)

// CutTool splits the reference of a tool, "acme.fmt:fmt.check", into its id and its function, which
// may be "".
func CutTool(ref string) (id, function string) {
	id, function, _ = strings.Cut(ref, ":")
	return id, function
}
