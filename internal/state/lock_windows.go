package state

import "os"

// unlock leaves it to the end of the handle, which nobody else has.
func unlock(*os.File) {}
