package foreign

import _ "embed"

// AgentsFile is the file from which coding agents learn about a repository.
const AgentsFile = "AGENTS.md"

//go:embed agents.md
var agents string

// Agents returns the file that tells coding agents how to use bento.
func Agents() NewFile {
	return NewFile{Path: AgentsFile, Text: agents, Mode: 0o644, Absent: "add --force to replace it, or copy from bento init --agents --dry-run"}
}
