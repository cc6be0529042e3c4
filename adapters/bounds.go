package adapters

// Bounds of the lists in a manifest. Each entry is compared with many directories, or
// becomes a task: without a bound a small file could keep bento busy for hours. See
// diagnostics.Bounded.
const (
	// MaxMembers is how many members, or globs of members, a workspace may list.
	MaxMembers = 2000
	// MaxProjects is how many projects a build may include.
	MaxProjects = 10_000
	// MaxScripts is how many scripts or tasks one manifest may have.
	MaxScripts = 10_000
	// MaxIncluded is the largest number of requirements in the groups of a project, including those
	// of the groups that each includes: a chain of groups has as many as the square of its length.
	MaxIncluded = 100_000
)
