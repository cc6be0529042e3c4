package adapters

// Porter knows what another machine needs of an install to execute the tasks of a project.
type Porter interface {
	// Portable returns what the tasks of the project in dir need of the install of its scope. It is called before the
	// install for Stays, and after it for the rest.
	Portable(dir string, scope Scope) (Portable, error)
}

// Portable is what another machine needs of an install.
type Portable struct {
	// Stays is the reason why tasks cannot be executed on another machine, "" if they can. The other fields are then
	// empty.
	Stays string
	Trees []PortableTree
	// Set are variables of the commands there.
	Set map[string]string
}

// PortableTree is a directory that is sent to another machine. It may be missing.
type PortableTree struct {
	Dir string // absolute
	// Variable gets the path of the directory on the other machine. If it is "", the directory is one of the workspace, and has
	// its own place there.
	Variable string
	// Only are globs, as path.Match has them, of the files and directories that are sent, relative to Dir. Nil means all.
	Only []string
	// Except are paths, relative to Dir, that are not sent.
	Except []string
}
