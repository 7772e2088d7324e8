package main

import (
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"sheetlift/pipeline/finding"
)

// plainArgs has every command say what it takes when it is given another number of arguments.
func plainArgs(root *cobra.Command) {
	for _, c := range root.Commands() {
		check := c.Args
		if check == nil {
			continue
		}
		c.Args = func(cmd *cobra.Command, args []string) error {
			if check(cmd, args) == nil {
				return nil
			}
			return usageError{&badArguments{cmd.Use, args, cmd.ValidArgs}}
		}
	}
}

// badArguments says how a command is used.
type badArguments struct {
	use   string
	given []string
	words []cobra.Completion // that the argument may be, if it is one of a few
}

func (e *badArguments) Error() string {
	forms := strings.Split(e.use, " | ")
	for i := range forms {
		forms[i] = "`sheetlift " + forms[i] + "`"
	}
	given := finding.Count(len(e.given), "argument was", "arguments were") + " given"
	if len(e.words) > 0 && len(e.given) == 1 {
		given = "there is no " + strconv.Quote(e.given[0])
	}
	return "say " + strings.Join(forms, " or ") + ": " + given
}
