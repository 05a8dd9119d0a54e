package ledger_test

import (
	"context"
	"testing"

	"sendonce/ledger"
)

// wild is a provider whose code panics with what it had in its hands.
type wild struct {
	*script
	build bool
	with  func(*ledger.Order)
}

func (w *wild) Build(o ledger.Order) (ledger.Request, error) {
	if w.build {
		w.with(&o)
	}
	return w.script.Build(o)
}

func (w *wild) Send(ctx context.Context, r ledger.Request) ledger.Result {
	if !w.build {
		w.with(&r.(*call).Order)
	}
	return w.script.Send(ctx, r)
}

// F34: a panic of an adapter carries whatever it was working on; neither the log nor the attempt may repeat it. What the
// runtime itself says of a fault is kept.
func TestPanic_F34_NothingPrivateIsKept(t *testing.T) {
	for name, c := range map[string]struct {
		with  func(*ledger.Order)
		error string
	}{
		"with content":         {func(o *ledger.Order) { panic(o.Recipient + string(o.Message)) }, "the adapter panicked: string"},
		"with an error":        {func(o *ledger.Order) { panic(ledger.Invalid("x", "%s %s", o.Recipient, o.Message)) }, "the adapter panicked: *ledger.InvalidError"},
		"a fault of the code":  {func(o *ledger.Order) { _ = o.Message[len(o.Message)] }, "the adapter panicked: runtime error: index out of range [19] with length 19"},
		"with nothing at hand": {func(*ledger.Order) { panic(nil) }, "the adapter panicked: panic called with nil argument"},
	} {
		for _, build := range []bool{true, false} {
			t.Run(name+map[bool]string{true: ", building", false: ", sending"}[build], func(t *testing.T) {
				var log lines
				bubble(t, func(r *rig) {
					r.log = log.logger()
					r.scripts["a"].disguise = func(s *script) ledger.Provider { return &wild{s, build, c.with} }
				}, func(t *testing.T, r *rig) {
					n := r.claim("e1", func(e *ledger.Event) {
						e.Recipient, e.Message = "+15550100009", []byte(`{"text":"OTP 4242"}`)
					})
					want := ledger.StateAmbiguous
					if build { // nothing left
						want = ledger.StateClaimed
					}
					rec := r.row(n)
					if rec.State != want || len(rec.Attempts) != 1 || rec.Attempts[0].Error != c.error {
						t.Errorf("%s after %+v", rec.State, rec.Attempts)
					}
					for _, canary := range []string{"15550100009", "4242"} {
						if log.has(canary) > 0 {
							t.Errorf("%s is in the log:\n%s", canary, log.text.String())
						}
					}
				})
			})
		}
	}
}
