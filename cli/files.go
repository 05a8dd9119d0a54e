package cli

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"sendonce/config"
)

// load reads the configuration that the flags name.
func (a *app) load(cmd *cobra.Command) (config.Config, error) {
	s := config.Source{File: config.DefaultFile, Env: a.env, Flags: map[string]string{}}
	if cmd.Flags().Changed("config") {
		s.File, s.FileGiven = a.file, true
		if a.file == "" {
			return config.Config{}, usage("--config is empty: it takes the path of a file")
		}
	}
	for name, value := range map[string]string{"listen": a.listen, "database": a.database} {
		if cmd.Flags().Changed(name) {
			s.Flags[name] = value
		}
	}
	return config.Load(s)
}

// withConfig makes a command of a hook.
func (a *app) withConfig(do func(cmd *cobra.Command, c config.Config) error) func(*cobra.Command, []string) error {
	return a.withArgs(func(cmd *cobra.Command, c config.Config, _ []string) error { return exitNo(do(cmd, c)) })
}

// withArgs is withConfig for a command with arguments, whose errors have their own exit codes.
func (a *app) withArgs(do func(cmd *cobra.Command, c config.Config, args []string) error) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) error {
		c, err := a.load(cmd)
		if err != nil {
			return err
		}
		return do(cmd, c, args)
	}
}

// exitNo gives an error of a hook its exit code, where it has none.
func exitNo(err error) error {
	var own *ExitError
	if err == nil || errors.As(err, &own) || errors.Is(err, errNo) {
		return err
	}
	return &ExitError{Code: ExitNo, Err: err}
}

// serveCommand runs the service until the process is told to stop. It prints nothing on Out: that is where the
// log provider shows messages.
func (a *app) serveCommand() *cobra.Command {
	return &cobra.Command{
		Use: "serve", Args: cobra.NoArgs,
		Short: "Run the service",
		RunE: a.withConfig(func(cmd *cobra.Command, c config.Config) error {
			return a.service.Serve(cmd.Context(), c)
		}),
	}
}

// initCommand makes an empty ledger; whether one may be made is the hook's to say.
func (a *app) initCommand() *cobra.Command {
	return &cobra.Command{
		Use: "init", Args: cobra.NoArgs,
		Short: "Create an empty ledger",
		Long: "Create an empty ledger. serve does so only while nothing leaves the machine: an empty ledger in the\n" +
			"place of one that was lost would send everything again.",
		RunE: a.withConfig(func(cmd *cobra.Command, c config.Config) error {
			if err := a.service.Init(cmd.Context(), c); err != nil {
				return err
			}
			return a.done(map[string]any{"created": c.Database}, "created %s", c.Database)
		}),
	}
}

// checkCommand ends with ExitNo when there are differences, so that a script need not read them.
func (a *app) checkCommand() *cobra.Command {
	return &cobra.Command{
		Use: "check", Args: cobra.NoArgs,
		Short: "Derive every row from its history again and report differences",
		Long:  "Derive every row from its history again and report differences. It may run beside the service.",
		RunE: a.withConfig(func(cmd *cobra.Command, c config.Config) error {
			done, end := a.progress("rows checked", false)
			d, err := a.service.Check(cmd.Context(), c, done)
			end()
			if err != nil {
				return err
			}
			if err := a.showDifferences(d); err != nil {
				return err
			}
			if len(d.Found) > 0 {
				return errNo
			}
			return nil
		}),
	}
}

// showDifferences shows the count also when it is 0: a check that says nothing could be one that did not run.
func (a *app) showDifferences(d Differences) error {
	if a.json {
		if d.Found == nil {
			d.Found = []Difference{}
		}
		return a.printJSON(d)
	}
	if len(d.Found) > 0 {
		t := a.table("ID", "RULE", "DETAIL")
		t.Blocks()
		for _, f := range d.Found {
			t.row(f.ID, f.Rule, f.Detail)
		}
		if err := t.flush(); err != nil {
			return err
		}
	}
	_, err := fmt.Fprintf(a.streams.Out, "%s in %s\n", count(int64(len(d.Found)), "difference"), count(d.Rows, "row"))
	return err
}

// backupCommand copies beside the service, which goes on.
func (a *app) backupCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "backup FILE",
		Short: "Write a copy of the ledger to a new file",
		Long: "Write a whole, compact copy of the ledger to a new file. It may run beside the service.\n" +
			"The copy is marked: wherever it is put in the ledger's place, nothing is sent from it before sendonce restore --accept,\n" +
			"since it does not know what was sent after it was made.",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 || args[0] == "" {
				return usage("backup takes the path of the file to write, which must not be there yet")
			}
			return nil
		},
		RunE: a.withArgs(func(cmd *cobra.Command, c config.Config, args []string) error {
			done, end := a.progress("copied", true)
			err := a.service.Backup(cmd.Context(), c, args[0], done)
			end()
			if err != nil {
				return exitNo(err)
			}
			return a.done(map[string]any{"backup": args[0]}, "wrote %s", args[0])
		}),
	}
}

// configCommand prints or checks. Its JSON form has faults only: the printed configuration is YAML, which can
// be loaded again and has room for the places as comments.
func (a *app) configCommand() *cobra.Command {
	var check bool
	cmd := &cobra.Command{
		Use: "config", Args: cobra.NoArgs,
		Short: "Print the configuration that is in force",
		Long:  "Print the configuration that is in force, with the place that decides each line. Secrets are masked.",
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, err := a.load(cmd)
			var faulty *config.Error
			if a.json && check && errors.As(err, &faulty) {
				if err := a.printJSON(map[string]any{"faults": faulty.Faults}); err != nil {
					return err
				}
			}
			switch {
			case err != nil:
				return err
			case check:
				return a.done(map[string]any{"faults": []config.Fault{}}, "the configuration is good")
			case a.json:
				return usage("--json goes with config --check only: the configuration is printed as YAML")
			}
			return exitNo(c.Print(a.streams.Out))
		},
	}
	cmd.Flags().BoolVar(&check, "check", false, "only check it")
	return cmd
}

// restoreCommand needs its flag although it has no other use: to type restore alone must not start a ledger
// again that may have forgotten messages.
func (a *app) restoreCommand() *cobra.Command {
	var accept bool
	cmd := &cobra.Command{
		Use: "restore --accept", Args: cobra.NoArgs,
		Short: "Accept a ledger that was restored or moved, so that it sends again",
		Long: "Accept a ledger that was restored or moved. Until then nothing is sent: what was sent after the copy\n" +
			"was made is not in it. Settle its ambiguous rows first or later; stop the service before.",
		RunE: func(cmd *cobra.Command, _ []string) error {
			if !accept {
				return usage("restore needs --accept: from then on the ledger sends again, and what it forgot may be sent twice")
			}
			return a.withConfig(func(cmd *cobra.Command, c config.Config) error {
				if err := a.service.RestoreAccept(cmd.Context(), c); err != nil {
					return err
				}
				a.hint("Its open rows are ambiguous now: sendonce list --state ambiguous")
				return a.done(map[string]any{"accepted": c.Database}, "accepted %s", c.Database)
			})(cmd, nil)
		},
	}
	cmd.Flags().BoolVar(&accept, "accept", false, "yes, this is the ledger to go on with")
	return cmd
}

// versionCommand shows the version of this program; the running service shows its own on /healthz.
func (a *app) versionCommand() *cobra.Command {
	return &cobra.Command{
		Use: "version", Args: cobra.NoArgs,
		Short: "Print the version",
		RunE: func(*cobra.Command, []string) error {
			return a.done(map[string]any{"version": a.service.Version}, "sendonce %s", a.service.Version)
		},
	}
}

// done reports a success, as JSON or as a sentence.
func (a *app) done(value any, format string, args ...any) error {
	if a.json {
		return a.printJSON(value)
	}
	_, err := fmt.Fprintf(a.streams.Out, format+"\n", args...)
	return exitNo(err)
}

// printJSON prints an answer of our own, for the commands that ask no service.
func (a *app) printJSON(value any) error {
	text, err := json.Marshal(value)
	if err != nil {
		return exitNo(err)
	}
	return a.raw(text)
}
