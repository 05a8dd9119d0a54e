package providers

import (
	"errors"
	"io"
	"strconv"

	"sendonce/ledger"
)

// smtpStep is what the server was to answer when a delivery ended. The names stand in errors and in the code table.
type smtpStep string

// The steps, in their order.
const (
	atConnect  smtpStep = "connecting"
	atBanner   smtpStep = "banner"
	atHello    smtpStep = "EHLO"
	atStartTLS smtpStep = "STARTTLS"
	atAuth     smtpStep = "AUTH"
	atMail     smtpStep = "MAIL"
	atRcpt     smtpStep = "RCPT"
	atData     smtpStep = "DATA"
	atBody     smtpStep = "body"
	atDot      smtpStep = "dot" // the end of the message left: from here on it may have been accepted
)

// smtpCodes tell what a refusal means. A row with a step is for that step alone and goes before one without; at one step the
// enhanced code goes before the code, and the code before its class.
var smtpCodes = CodeTable{
	Source: "RFC 5321 sections 3.1, 4.2 and 4.3.2; RFC 3463 and the IANA registry of enhanced codes (RFC 5248); " +
		"RFC 4954 section 6 (AUTH); RFC 3207 section 4 (STARTTLS); RFC 6531 section 3 (SMTPUTF8)",
	Codes: []Code{
		{Code: "421", Outcome: ledger.Deferred, Fault: ledger.FaultThrottled, Means: "the server closes, or takes no more for now"},
		{Code: "4.3.1", Outcome: ledger.Deferred, Fault: ledger.FaultThrottled, Means: "the server's storage is full"},
		{Code: "4.3.2", Outcome: ledger.Deferred, Fault: ledger.FaultThrottled, Means: "the server accepts nothing at the moment"},
		{Code: "4.4.5", Outcome: ledger.Deferred, Fault: ledger.FaultThrottled, Means: "the server is congested"},
		{Code: "530", Outcome: ledger.Deferred, Fault: ledger.FaultCredentials, Means: "user name and password, or TLS, are demanded"},
		{Code: "534", Outcome: ledger.Deferred, Fault: ledger.FaultCredentials, Means: "this way to log in is too weak for the server"},
		{Code: "535", Outcome: ledger.Deferred, Fault: ledger.FaultCredentials, Means: "user name or password are wrong"},
		{Code: "538", Outcome: ledger.Deferred, Fault: ledger.FaultCredentials, Means: "TLS is demanded for logging in"},
		{Code: "5.7.8", Outcome: ledger.Deferred, Fault: ledger.FaultCredentials, Means: "user name or password are wrong"},
		{Code: "5.7.9", Outcome: ledger.Deferred, Fault: ledger.FaultCredentials, Means: "this way to log in is too weak for the server"},
		{Code: "5.7.11", Outcome: ledger.Deferred, Fault: ledger.FaultCredentials, Means: "TLS is demanded for logging in"},

		{Code: "banner 4xx", Outcome: ledger.Deferred, Fault: ledger.FaultThrottled, Means: "the server serves nobody for now"},
		{Code: "banner 5xx", Outcome: ledger.Deferred, Fault: ledger.FaultAccount, Means: "no service for this machine, or for nobody"},
		{Code: "EHLO 4xx", Outcome: ledger.Deferred, Fault: ledger.FaultThrottled, Means: "the server serves nobody for now"},
		{Code: "EHLO 5xx", Outcome: ledger.Deferred, Fault: ledger.FaultAccount, Means: "EHLO and HELO are refused to this machine"},
		{Code: "STARTTLS 4xx", Outcome: ledger.Deferred, Fault: ledger.FaultThrottled, Means: "no TLS for now"},
		{Code: "STARTTLS 5xx", Outcome: ledger.Deferred, Fault: ledger.FaultUnexpectedReply, Means: "TLS was offered and is refused"},
		{Code: "AUTH 432", Outcome: ledger.Deferred, Fault: ledger.FaultCredentials, Means: "the account has to be changed at the server first"},
		{Code: "AUTH 4xx", Outcome: ledger.Deferred, Fault: ledger.FaultThrottled, Means: "nobody can log in for now"},
		{Code: "AUTH 5.7.13", Outcome: ledger.Deferred, Fault: ledger.FaultAccount, Means: "the account is disabled"},
		{Code: "AUTH 5xx", Outcome: ledger.Deferred, Fault: ledger.FaultCredentials, Means: "logging in is refused"},

		{Code: "MAIL 552", Outcome: ledger.Rejected, Means: "the message is larger than the server takes"},
		{Code: "MAIL 5.2.3", Outcome: ledger.Rejected, Means: "the message is larger than the server takes"},
		{Code: "MAIL 5.3.4", Outcome: ledger.Rejected, Means: "the message is larger than the server takes"},
		{Code: "MAIL 5.6.7", Outcome: ledger.Rejected, Means: "this address must be ASCII"},
		{Code: "MAIL 5xx", Outcome: ledger.Deferred, Fault: ledger.FaultAccount, Sender: true, Means: "the sender is refused"},

		{Code: "4xx", Outcome: ledger.Deferred, Means: "not now: greylisting, a full mailbox, a limit"},
		{Code: "5xx", Outcome: ledger.Rejected, Means: "this recipient or this message is refused for good"},
	},
}

// Codes implements Coder.
func (s *SMTPSettings) Codes() CodeTable { return smtpCodes }

// smtpEnd is where a delivery ended, and with what.
type smtpEnd struct {
	step  smtpStep
	reply smtpReply // code 0: there is none
	err   error     // why there is none
	own   bool      // the message chose its sender
}

// What the server does beside the rules, or does not offer.
const (
	errUnasked    = plainText("the server speaks before it is asked")
	errNoStartTLS = plainText("the server does not offer STARTTLS")
	errNoAuth     = plainText("the server offers neither AUTH PLAIN nor AUTH LOGIN")
	errNoUTF8     = plainText("the address needs SMTPUTF8, which the server does not offer")
)

// result says what an end means. Up to the dot nothing can have been accepted: a server throws an unfinished message away
// (RFC 5321 section 4.1.1.10).
func (e *smtpEnd) result() ledger.Result {
	switch {
	case e.step == atDot && e.reply.class() == 2: // of a code that is not 250 too: the first digit decides (section 4.2.1)
		return ledger.Result{Outcome: ledger.Accepted, Phase: ledger.Answered, Status: e.reply.code, Code: e.reply.enhanced}
	case e.reply.code != 0:
		return e.refused()
	case e.step != atDot:
		return e.unsent()
	}
	r := ledger.Result{Phase: ledger.Written, Reason: ledger.ReasonNoAnswer, Error: plainError(ledger.Written, e.err)}
	if errors.Is(e.err, errReply) || errors.Is(e.err, io.ErrUnexpectedEOF) {
		r.Reason = ledger.ReasonUnreadableAnswer
	}
	return r
}

// unsent is an end before the dot, without a reply.
func (e *smtpEnd) unsent() ledger.Result {
	r := ledger.Result{
		Outcome: ledger.Deferred, Phase: ledger.NotWritten, Fault: e.fault(),
		Error: "not sent: " + string(e.step) + ": " + cause(e.err),
	}
	if errors.Is(e.err, errNoUTF8) {
		r.Outcome, r.Code = ledger.Rejected, "smtputf8_not_offered"
	}
	return r
}

// fault says whose matter it is that no reply came. Until MAIL nothing has been said about the message, so it is the
// server's; from there on the message itself may be what the server breaks off over, and it must not close the gate to others.
func (e *smtpEnd) fault() ledger.Fault {
	switch {
	case errors.Is(e.err, errReply), errors.Is(e.err, errUnasked), errors.Is(e.err, errNoStartTLS):
		return ledger.FaultUnexpectedReply
	case errors.Is(e.err, errNoAuth):
		return ledger.FaultCredentials
	}
	switch e.step {
	case atMail, atRcpt, atData, atBody:
		return ledger.NoFault
	}
	return ledger.FaultUnreachable
}

// refused reads a reply that is not the one for going on.
func (e *smtpEnd) refused() ledger.Result {
	r := ledger.Result{Phase: ledger.Answered, Status: e.reply.code, Code: e.reply.enhanced, Error: "refused at " + string(e.step)}
	if row, ok := e.row(); ok {
		return row.about(e.own).apply(r)
	}
	r.Error, r.Reason = "an odd reply at "+string(e.step), ledger.ReasonUnlistedAnswer
	if e.step != atDot {
		r.Outcome, r.Fault, r.Reason = ledger.Deferred, ledger.FaultUnexpectedReply, ""
	}
	return r
}

// row is the row of the table that a refusal falls under.
func (e *smtpEnd) row() (Code, bool) {
	code := strconv.Itoa(e.reply.code)
	class, at := code[:1]+"xx", string(e.step)+" "
	for _, name := range []string{at + e.reply.enhanced, at + code, e.reply.enhanced, code, at + class, class} {
		if row, ok := smtpCodes.find(name); ok {
			return row, true
		}
	}
	return Code{}, false
}
