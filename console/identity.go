package console

import "sendonce/ledger"

// Identity is who uses the console: the key that was logged in with.
type Identity struct {
	Name    string // the actor of what is done
	Read    bool
	Send    bool
	Operate bool
	Source  *string // what the key is bound to; nil: everything
}

// local is who visits a console without keys: somebody on this machine.
var local = Identity{Name: "local", Read: true, Send: true, Operate: true}

// May reports whether an action of ledger.Actions, or a resend, is offered at all. A key with send alone may release only what
// surely was not sent: that the ledger judges, see Surely.
func (i Identity) May(action ledger.Cause) bool {
	switch action {
	case ledger.CauseHold, ledger.CauseUnhold, ledger.CauseCancel, ledger.CauseRelease:
		return i.Operate || i.Send
	}
	return i.Operate
}

// Surely is ledger.Act's: release only what is surely not sent.
func (i Identity) Surely() bool { return !i.Operate }

// begins reports whether this identity finds its first page here: what the overview counts belongs to all sources.
func (i Identity) begins(n needs) bool { return n&elsewhere == 0 || i.Source == nil }

// meets reports whether a route is for this identity.
func (i Identity) meets(n needs) bool {
	return !(n&operator != 0 && !i.Operate || n&wholeLedger != 0 && i.Source != nil)
}
