package providers

import "sendonce/ledger"

// Code is one row of an adapter's code table: what the provider itself says about one of its codes.
type Code struct {
	Code    string // as the provider writes it; for a code inside an HTTP answer without the status
	Outcome ledger.Outcome
	Fault   ledger.Fault  // with Deferred, where the whole provider is meant
	Reason  ledger.Reason // with Ambiguous; "": unlisted_answer
	Means   string        // a few words for a person
	Sender  bool          // it refuses the sender: where the message chose that itself, the message is rejected
}

// CodeTable is the one place of an adapter where its codes stand.
type CodeTable struct {
	Source string // the page or package that the meanings are from
	Codes  []Code
}

// Coder are the Settings of a type whose provider has codes of its own. The table does not hang on the settings' values.
type Coder interface {
	Codes() CodeTable
}

// CodesOf returns the code table of a type; false: its provider has no codes of its own.
func CodesOf(kind string) (CodeTable, bool) {
	t, ok := Types[kind]
	if !ok {
		return CodeTable{}, false
	}
	c, ok := t.Settings().(Coder)
	if !ok {
		return CodeTable{}, false
	}
	return c.Codes(), true
}

// Does says in words what becomes of a message, and of the provider's gate.
func (c Code) Does() string {
	switch {
	case c.Outcome == ledger.Ambiguous && c.Reason != "":
		return "ambiguous (" + string(c.Reason) + ")"
	case c.Outcome != ledger.Deferred:
		return c.Outcome.String()
	case c.Sender:
		c.Sender = false
		return c.Does() + "; rejected where the message has a `from` of its own"
	case c.Fault == ledger.NoFault:
		return "deferred (this message)"
	case c.Fault.Slows():
		return "deferred, gate slowed (" + string(c.Fault) + ")"
	default:
		return "deferred, gate paused (" + string(c.Fault) + ")"
	}
}

// find returns the row of the first code that is listed.
func (t *CodeTable) find(codes ...string) (Code, bool) {
	for _, code := range codes {
		for _, c := range t.Codes {
			if c.Code == code {
				return c, true
			}
		}
	}
	return Code{}, false
}

// coded says what a readable answer of the provider's own means: a listed code goes before the status, but not where
// the status alone decides; an unlisted one is judged by its status.
func (x *exchange) coded(t *CodeTable, code string) ledger.Result {
	return x.named(t, code, code)
}

// named is coded for a provider whose codes mean one thing under one status and another under the next: the row of the first
// listed name counts, and code is what is kept.
func (x *exchange) named(t *CodeTable, code string, names ...string) ledger.Result {
	row, listed := t.find(names...)
	listed = listed && bodyDecides(x.status)
	r := x.unlisted()
	r.Code = code
	switch {
	case listed:
		return row.about(x.ownSender).apply(r)
	case !listed:
		return x.refusal(own, code)
	}
	return r
}

// unaccepted says what an answer means that is no yes. refuses: it is an error in the provider's own form; under a status below
// 400 that is yes and no in one answer, or a redirect.
func (x *exchange) unaccepted(t *CodeTable, refuses bool, code string) ledger.Result {
	switch {
	case refuses && x.status >= 400:
		return x.coded(t, code)
	case refuses && x.status < 400:
		return x.refusal(own, code)
	case !refuses:
		return x.illegible()
	}
	return x.unlisted()
}

// about is the row as it counts for a message that chose its sender itself, or not.
func (c Code) about(ownSender bool) Code {
	if c.Sender && ownSender {
		c.Outcome, c.Fault, c.Reason = ledger.Rejected, ledger.NoFault, ""
	}
	return c
}

// apply gives a result the outcome of a listed code.
func (c Code) apply(r ledger.Result) ledger.Result {
	r.Outcome, r.Fault, r.Reason = c.Outcome, c.Fault, c.Reason
	if r.Outcome == ledger.Ambiguous && r.Reason == "" {
		r.Reason = ledger.ReasonUnlistedAnswer
	}
	return r
}
