package cli

import (
	"errors"
	"fmt"

	"sendonce/config"
)

// The exit codes.
const (
	ExitDone        = 0
	ExitNo          = 1   // the answer is no: differences, refused, not found
	ExitUsage       = 2   // usage or configuration
	ExitUnreachable = 3   // the service is not there, or can't answer now
	ExitLedger      = 4   // the ledger is missing, locked, restored, newer or damaged
	ExitInterrupted = 130 // Ctrl-C came before the end: there is no answer, not even no
)

// ExitError is an error with an exit code of its own.
type ExitError struct {
	Code int
	Err  error
}

// Error is that of the cause.
func (e *ExitError) Error() string { return e.Err.Error() }

// Unwrap returns the cause.
func (e *ExitError) Unwrap() error { return e.Err }

// errNo ends with ExitNo when the output has said everything.
var errNo = errors.New("no")

// exit shows an error and finds its exit code.
func (a *app) exit(err error) int {
	var (
		own     *ExitError
		faulty  *config.Error
		problem *problemError
		lost    *lostError
	)
	switch {
	case err == nil:
		return ExitDone
	case errors.Is(err, errNo):
		return ExitNo
	case errors.As(err, &own):
		a.complain(err.Error())
		return own.Code
	case errors.As(err, &faulty):
		a.complain("the configuration is refused:")
		for _, f := range faulty.Faults {
			fmt.Fprintln(a.streams.Err, "  "+f.String())
		}
		return ExitUsage
	case errors.As(err, &problem):
		a.showProblem(problem)
		return problem.exit()
	case errors.As(err, &lost):
		a.complain(err.Error())
		return ExitUnreachable
	}
	// What is left comes from reading the command line, ours or cobra's.
	a.complain(err.Error())
	return ExitUsage
}
