package cli

import "github.com/spf13/cobra"

// strict makes the commands that come with cobra refuse what they do not know, and end as ours do: a script must not take a page of
// help for a completion.
func strict(root *cobra.Command) {
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd()
	for _, c := range root.Commands() {
		switch c.Name() {
		case "help":
			show := c.Run
			c.Run, c.RunE = nil, func(cmd *cobra.Command, args []string) error {
				if about, rest, err := root.Find(args); err != nil || len(rest) > 0 || about == nil {
					return usage("there is no command of that name")
				}
				show(cmd, args)
				return nil
			}
		case "completion":
			c.RunE = func(cmd *cobra.Command, args []string) error {
				if len(args) > 0 {
					return usage("completion takes one of bash, fish, powershell and zsh")
				}
				return cmd.Help()
			}
			for _, shell := range c.Commands() {
				write := shell.RunE
				shell.RunE = func(cmd *cobra.Command, args []string) error { return exitNo(write(cmd, args)) }
			}
		}
	}
}
