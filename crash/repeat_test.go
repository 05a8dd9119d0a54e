package crash

import (
	"context"
	"fmt"
	"testing"

	"sendonce/fake"
)

// Keeps out a repeat under the wire key that is no repeat: other bytes, another key, or one that a killed process makes a
// second message of. The provider honours keys; the first answer is lost, and the process is killed in the first repeat.
func TestRepeat_KilledInTheMiddle(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	const rows = 5
	p := newPlace(t, fake.Options{WellBehaved: true, HonourKeys: true}, oneProvider, setting{"key-of-main,", "key-of-main, repeat_window: 1h,"})
	s := p.start()
	for i := range rows {
		token := fmt.Sprint("tok_", i)
		p.fake.Script(token, fake.AcceptReset, fake.AcceptHang)
		if a := p.send(s, fmt.Sprint("evt-", i), token); a.State != "ambiguous" || a.NextAction != "repeat" {
			t.Errorf("after the lost answer the row is %s, next %s", a.State, a.NextAction)
		}
	}
	eventually(t, "the repeats are at the provider", func() bool { return p.fake.Requests() == 2*rows })
	s.kill()
	p.check()

	s = p.start()
	expectStates(t, s, map[string]int{"ambiguous": rows})
	eventually(t, "repeats settle every row", func() bool { return s.api.none(ctx, "ambiguous", "sending") })
	err := s.api.list(ctx, nil, func(n row) bool {
		full, err := s.api.get(ctx, n.ID)
		if err != nil {
			t.Fatal(err)
		}
		var kinds []string
		for _, a := range full.Attempts {
			kinds = append(kinds, a.Kind+" "+a.Outcome)
		}
		if fmt.Sprint(kinds) != "[send ambiguous repeat ambiguous repeat accepted]" || full.State != "sent" || full.MaybeSent {
			t.Errorf("%s is %s after %q", n.EventID, full.State, kinds)
		}
		return true
	})
	if err != nil {
		t.Fatal(err)
	}
	for i := range rows {
		p.received(fmt.Sprint("tok_", i), 1)
	}
	if n := p.fake.Conflicts(); n != 0 {
		t.Errorf("%d requests came under a known key with other bytes", n)
	}
	s.stop(patience)
	p.check()
}
