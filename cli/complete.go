package cli

import "github.com/spf13/cobra"

// words are what flags take that take one of a few words, for the shells' completions. The service judges what is typed.
var words = map[string][]string{
	"state":    {"claimed", "held", "sending", "ambiguous", "sent", "failed", "cancelled", "expired"},
	"channel":  {"sms", "email", "push", "webhook"},
	"delivery": {"queued", "passed_on", "delayed", "undelivered", "delivered", "bounced", "complained"},
	"lane":     {"urgent", "normal"},
	"sort":     {"newest", "oldest"},
	"action":   {"confirm", "release", "abandon", "hold", "unhold", "cancel"},
	"color":    {"auto", "always", "never"},
}

// complete teaches the completions a command's words, and that the others take no file unless they say so.
func complete(c *cobra.Command) {
	for name, list := range words {
		if c.LocalFlags().Lookup(name) != nil && c.Flag(name) != nil {
			if err := c.RegisterFlagCompletionFunc(name, cobra.FixedCompletions(list, cobra.ShellCompDirectiveNoFileComp)); err != nil {
				panic("cli: completing --" + name + ": " + err.Error()) // it is registered twice
			}
		}
	}
	if c.Name() != "backup" && c.ValidArgsFunction == nil {
		c.ValidArgsFunction = cobra.NoFileCompletions
	}
	for _, inner := range c.Commands() {
		complete(inner)
	}
}
