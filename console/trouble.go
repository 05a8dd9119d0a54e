package console

import (
	"errors"

	"sendonce/ledger"
)

// troubles are the sentences of what keeps the service from its work. Nothing writes to it.
var troubles = []struct {
	err  error
	text string
}{
	{ledger.ErrDraining, "The service is stopping: it takes nothing new, and nothing can be decided until it runs again."},
	{ledger.ErrStorageLow, "There is too little free space on the disk: no new notification is taken until there is more. What is known already is sent, and can be decided."},
	{ledger.ErrUnknown, "The ledger could not be written, and it is not known whether it can be: nothing is taken, sent or decided until it can. The service tries by itself; look at its disk."},
	{ledger.ErrUnavailable, "The ledger can't be written: nothing is taken, sent or decided. The service's log says why."},
}

// restoredText stands on the pages of an old or moved copy.
const restoredText = "This ledger is an old or moved copy, which may not know all that was sent: nothing is sent from it. Settle what it can't know, then stop the service, run sendonce restore --accept, and start it again."

// trouble is what keeps the service from its work, in words; "" where nothing does. A restored copy that fails otherwise too says the
// latter, which comes first.
func (c *Console) trouble() string {
	now := c.ledger.Condition()
	for _, line := range troubles {
		if errors.Is(now.Err, line.err) {
			return line.text
		}
	}
	if now.Restored {
		return restoredText
	}
	return ""
}
