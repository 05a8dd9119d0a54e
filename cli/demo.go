package cli

import (
	"errors"

	"github.com/spf13/cobra"

	"sendonce/demo"
)

// demoCommand needs neither configuration nor ledger: it makes its own, and takes them away again.
func (a *app) demoCommand() *cobra.Command {
	o := demo.Options{}
	cmd := &cobra.Command{
		Use: "demo", Args: cobra.NoArgs,
		Short: "Play a day at a shop against providers that misbehave, beside a retry loop without a ledger",
		Long: "Play a day at a shop, in less than a minute, against providers that misbehave: lost answers, time-outs, late receipts, an\n" +
			"outage, crashes (kill -9). It shows what people received, beside what a retry loop without a ledger really sent against\n" +
			"the same faults, and leaves the console open until Ctrl-C. Its ledger is a temporary one, and nothing leaves the machine.",
		Example: "  sendonce demo\n  sendonce demo --once --speed 4 --events 60",
		RunE: func(cmd *cobra.Command, _ []string) error {
			switch {
			case o.Events < demo.MinEvents || o.Events > demo.MaxEvents:
				return usage("--events must be %d to %d", demo.MinEvents, demo.MaxEvents)
			case !(o.Speed >= 0.1 && o.Speed <= demo.MaxSpeed):
				return usage("--speed must be 0.1 to %d", demo.MaxSpeed)
			}
			o.Listen, o.JSON, o.Out, o.Err = a.listen, a.json, a.out(), a.errs()
			err := demo.Run(cmd.Context(), o)
			if errors.Is(err, demo.ErrBroken) {
				return &ExitError{Code: ExitNo, Err: err}
			}
			return exitNo(err)
		},
	}
	f := cmd.Flags()
	f.IntVar(&o.Events, "events", 160, "notifications of the day")
	f.Float64Var(&o.Speed, "speed", 1, "1 plays the day in 36 s, 2 in half of it")
	f.Uint64Var(&o.Seed, "seed", 1, "of the day: the same one plays the same day")
	f.BoolVar(&o.Once, "once", false, "end with the day; the exit code says whether the promise was kept")
	return cmd
}
