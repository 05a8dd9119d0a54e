package ledger

// erased looks at what is left of a row: its history is gone, so only what it says itself can be wrong. History that is left of it
// belongs to no row, and is found as that.
func (c *checker) erased() {
	n := &c.row.Notification
	if !n.State.Final() {
		c.report(RuleErased, "the row was erased, and is "+string(n.State))
	}
	if c.row.KeyTwice {
		c.report(RuleKeyTwice, "the row was erased, and another row has its key")
	}
	c.words()
	if n.State == StateFailed && n.Reason == "" {
		c.report(RuleFailedBlind, "the row failed, and no reason is left of it")
	}
	if n.MaybeSent && n.State == StateSent {
		c.report(RuleMaybeSent, "the row was sent, and has the mark of an unknown")
	}
	last := later(n.ConfirmedAt, n.UpdatedAt)
	if n.UpdatedAt.Before(n.ClaimedAt) || !n.ConfirmedAt.IsZero() && n.ConfirmedAt.Before(n.ClaimedAt) || n.ErasedAt.Before(last) {
		c.report(RuleTimes, "the row was claimed, came to its outcome and was erased in another order")
	}
}
