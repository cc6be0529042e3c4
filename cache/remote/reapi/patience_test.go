package reapi

import "time"

// patience is how long a test waits for what must happen.
const patience = 5 * time.Minute
