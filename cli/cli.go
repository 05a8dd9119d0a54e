// Package cli is the command line: what a person types, what they see, and the exit code.
//
// Commands that read or act talk to a running service over HTTP; the others load the configuration and call
// a hook that main fills. Output for people stands on Out, hints and errors on Err; with --json the service's
// own JSON stands on Out as it came.
//
// Each client command is one request and repeats nothing by itself. With --watch each look is one request, a second apart at
// least, whatever the command shows else: so no row's history beside a list.
package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"sendonce/config"
	"sendonce/terminal"
)

// Streams are the standard streams of the process.
type Streams struct {
	In  io.Reader
	Out io.Writer
	Err io.Writer
}

// Service is what main does for the commands that work on files. An error may be an *ExitError; any other
// ends with ExitNo.
type Service struct {
	Serve         func(ctx context.Context, c config.Config) error // returns when ctx is done and nothing is in flight
	Init          func(ctx context.Context, c config.Config) error
	Check         func(ctx context.Context, c config.Config, done Done) (Differences, error)
	Backup        func(ctx context.Context, c config.Config, to string, done Done) error
	RestoreAccept func(ctx context.Context, c config.Config) error
	Reconcile     func(ctx context.Context, c config.Config, q Reconcile) (Reconciled, error)
	Version       string
	Codes         []Codes // by the name of the type
}

// Done is told how much of a long work is done, of how much in all; 0: nobody knows. It may be called often.
type Done func(done, all int64)

// Codes are what a type of providers makes of its provider's own codes.
type Codes struct {
	Type   string `json:"type"`
	Source string `json:"source"` // where the meanings are from
	Codes  []Code `json:"codes"`
}

// Code is one code and what becomes of a message that it answers.
type Code struct {
	Code    string `json:"code"`
	Outcome string `json:"outcome"`
	Fault   string `json:"fault,omitempty"`               // of the whole provider, which closes its gate
	Reason  string `json:"reason,omitempty"`              // with ambiguous
	Sender  bool   `json:"own_sender_rejected,omitempty"` // a message that chose its sender itself is rejected instead
	Means   string `json:"means"`
	Does    string `json:"-"` // outcome, fault and reason in words
}

// Differences is what a check of the ledger found.
type Differences struct {
	Rows  int64        `json:"rows"` // that were looked at
	Found []Difference `json:"differences"`
}

// Difference is one place where a row and its history tell different stories.
type Difference struct {
	ID     string `json:"id"`     // of the notification; empty: of the ledger as a whole
	Rule   string `json:"rule"`   // a stable word
	Detail string `json:"detail"` // a sentence
}

// app is one run of the command line.
type app struct {
	streams Streams
	service Service
	env     []string

	file     string // --config
	listen   string
	database string
	url      string
	key      string
	json     bool
	colour   terminal.When
	watching bool            // one request for each look
	page     *terminal.Table // of a list, that was written last
}

// Run does what args (without the program's name) ask for and returns the exit code.
func Run(ctx context.Context, args []string, env []string, streams Streams, svc Service) int {
	a := &app{streams: streams, service: svc, env: env, colour: terminal.Auto}
	root := a.root()
	root.SetArgs(args)
	root.SetIn(streams.In)
	root.SetOut(streams.Out)
	root.SetErr(streams.Err)
	strict(root)
	err := root.ExecuteContext(ctx)
	if ctx.Err() != nil && errors.Is(err, context.Canceled) {
		a.complain("interrupted")
		return ExitInterrupted
	}
	return a.exit(err)
}

// Command is the tree of commands, for who writes pages of it; it can't be run.
func Command() *cobra.Command { return (&app{colour: terminal.Auto}).root() }

// root makes the tree of commands. Global flags are on the root, so that they may stand before the command too;
// a command refuses those that it would not look at.
func (a *app) root() *cobra.Command {
	root := &cobra.Command{
		Use:           "sendonce",
		Short:         "A notification dedupe ledger: at most one blind send",
		SilenceErrors: true,
		SilenceUsage:  true,
	}
	f := root.PersistentFlags()
	f.StringVar(&a.file, "config", "", "configuration file (default "+config.DefaultFile+", if there is one)")
	f.StringVar(&a.listen, "listen", "", "address of the API, host:port")
	f.StringVar(&a.database, "database", "", "path of the ledger")
	f.StringVar(&a.url, "url", "", "address of the running service (SENDONCE_URL, default "+defaultURL+")")
	f.StringVar(&a.key, "key", "", "API key (better in SENDONCE_KEY: others see arguments)")
	f.BoolVar(&a.json, "json", false, "print JSON")
	f.Var(&a.colour, "color", "colours: auto (on a terminal, unless NO_COLOR is set), always or never")

	onFiles := []*cobra.Command{a.initCommand(), a.serveCommand(), a.checkCommand(), a.backupCommand(), a.configCommand(), a.restoreCommand(), a.reconcileCommand()}
	for _, c := range onFiles {
		c.PreRunE = refuseFlags("is for commands that talk to a running service", "url", "key")
	}
	client := []*cobra.Command{
		a.sendCommand(), a.watched(a.getCommand()), a.watched(a.listCommand()), a.keyCommand(), a.resendCommand(), a.settleCommand(),
		a.watched(a.providersCommand()), a.watched(a.statsCommand()),
	}
	client = append(client, a.actionCommands()...)
	for _, c := range client {
		for _, inner := range append(c.Commands(), c) {
			inner.PreRunE = refuseFlags("is for commands that work on files", "config", "listen", "database")
		}
	}
	root.AddCommand(onFiles...)
	root.AddCommand(client...)
	trial := a.demoCommand()
	trial.PreRunE = refuseFlags("is not for demo, which has its own configuration, ledger and key", "config", "database", "url", "key")
	root.AddCommand(trial, a.versionCommand())
	complete(root)
	return root
}

// refuseFlags refuses flags that a command would not look at: whoever gives one expects something of it.
func refuseFlags(why string, names ...string) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, _ []string) error {
		for _, name := range names {
			if cmd.Flags().Changed(name) {
				return usage("--%s %s", name, why)
			}
		}
		return nil
	}
}

// usageError is a command line that can't be meant.
type usageError struct{ text string }

func (e *usageError) Error() string { return e.text }

// usage makes a usageError. Its text must hold no value of a flag that may be a secret.
func usage(format string, args ...any) error { return &usageError{fmt.Sprintf(format, args...)} }

// complain writes an error. The text may hold what a service answered.
func (a *app) complain(text string) { fmt.Fprintln(a.streams.Err, "sendonce: "+terminal.Clean(text)) }

// hint says what to do next; it stands on Err, so that a pipe sees the answer only.
func (a *app) hint(format string, args ...any) {
	if a.json {
		return
	}
	for i, arg := range args {
		if s, ok := arg.(string); ok {
			args[i] = terminal.Clean(s)
		}
	}
	fmt.Fprintf(a.streams.Err, format+"\n", args...)
}

// lookUp reads a variable of the environment.
func (a *app) lookUp(name string) string {
	for i := len(a.env) - 1; i >= 0; i-- {
		if value, ok := strings.CutPrefix(a.env[i], name+"="); ok {
			return value
		}
	}
	return ""
}
