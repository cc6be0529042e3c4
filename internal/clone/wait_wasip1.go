package clone

// dontWait opens no pipe without waiting: WASI has none.
const dontWait = 0
