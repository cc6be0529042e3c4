package plan

// MayLeaveUndeclared reports whether the result of t is not stored if it leaves undeclared files: a hit would not
// restore them. git ignores such a file, and no output, derived path of the adapter or cache covers it. It is the
// case for a build and for the lifecycle tasks of a workspace's root, unless dish.toml says cache = true.
func (t *Task) MayLeaveUndeclared() bool {
	switch {
	case !t.Lifecycle || t.Uncached != "" || t.stored:
		return false
	case t.Root != nil && t.Root.Lifecycle:
		return t.recipe
	}
	return t.Name == "build"
}

// MayBeUpToDate reports whether t may have nothing to do because an earlier run without bento has made
// its files. Commands of adapters make their outputs again, and those of dish.toml are the author's.
func (t *Task) MayBeUpToDate() bool { return t.Name == "build" && t.RunsScript() }

// UsualOutputs returns the globs of the outputs that the recipe of t names, even if dish.toml replaces
// them. The caller must not change them.
func (t *Task) UsualOutputs() []string { return t.usual }

// FindsInputs reports whether executions of t are observed to find which of its inputs count. A result that is not
// stored needs none, and what a tool or a container uses is not seen.
func (t *Task) FindsInputs() bool {
	return t.ObservedInputs && t.Uncached == "" && t.Tool == nil && t.Container == nil && !t.Persistent && !t.Interactive
}

// FindsOutputs reports whether executions of t are observed to find its outputs. A task whose result is not stored has
// none but those that it declares.
func (t *Task) FindsOutputs() bool {
	return t.ObservedOutputs && t.Uncached == "" && t.Tool == nil && !t.Persistent && !t.Interactive
}

// HasOutputs reports whether t may have outputs.
func (t *Task) HasOutputs() bool { return len(t.Outputs) > 0 || t.FindsOutputs() }
