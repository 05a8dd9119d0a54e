// Package crash proves the promise from outside: the real binary, a provider that misbehaves, and a kill.
//
// TestCrash runs cycles on one ledger. In each the service is started, many events are posted at once, and the
// process ends as by kill -9: at a named point inside (build tag crashpoints, CRASH_AT and CRASH_AFTER), or from
// outside at a random moment. Then it is started again, every event of the cycle is posted until it is acknowledged,
// and the test waits until nothing is left to send. At the end what the ledger says is held against what the
// provider counted:
//
//   - no message was received twice: nobody decided to send one again, so nobody may get one;
//   - every event that was acknowledged stands under the id that was told, and a final state that was told stays;
//   - nothing is left in sending, and each row in ambiguous has a cause: its attempt was open when the process was
//     killed, or the provider was told to lose that very answer;
//   - each sent row was received once, each failed one never, and nothing was received that no row knows;
//   - `sendonce check` derives every row's state again and finds no difference.
//
// The other tests break one thing each: the disk's sync, the files, the connection, the provider, the free space,
// the time that a stop may take. Those that need strace, sqlite3 or root say so when they are skipped.
//
// Flags: -cycles N (20), -seed N (0 takes one from the clock; it is printed), -racebinary (the service is built with
// the race detector too).
package crash
