package ainb

// behaviour returns what the extension with this name does.
func behaviour(string) func(*kid) { return (*kid).serve }
