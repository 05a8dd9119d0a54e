// Package store keeps the ledger in one SQLite file, through modernc.org/sqlite. It is the part on which the promise
// stands, so it trusts little: not the file, not a commit that returned an error, not a copy that was put back.
//
// # Writing
//
// One goroutine writes, over one connection. Calls that came in while the last commit ran share the next one (group
// commit), and each caller is answered after the commit that holds its row. An operation is all of its statements or none:
// an unexpected error rolls the group back, then each operation runs again alone, and only what fails alone fails. The log of what
// was written is folded into the database beside the writer, over a connection that does nothing else.
//
// A COMMIT that returns an error may still have happened. Its group is answered only after one more commit, the barrier,
// was tried: when the barrier holds, the group is surely gone (ledger.ErrUnavailable); until it does, nobody knows
// (ledger.ErrUnknown), nothing else is written, and the barrier is tried each second.
//
// # Reading
//
// Readers have connections of their own, which cannot write, and no transaction outlives one call.
//
// # One ledger, whole and not old
//
// DATABASE.lock is locked before the database is opened, so a second process does not start. It remembers which ledger
// stands here and how far it had come. A ledger that is older than it, or comes without it, was restored or moved: nothing
// is sent from it until AcceptRestored. A lock file without its ledger is refused.
//
// The process must not open the database files except through this package: closing any other descriptor of them drops
// the POSIX locks that SQLite holds. Where Linux has OFD locks, they are used for the database file.
package store
