package cli

import (
	"bytes"
	"context"
	"strings"
	"testing"

	"sendonce/config"
)

// working is a service whose long works tell how far they are.
func working() Service {
	return Service{
		Check: func(_ context.Context, _ config.Config, done Done) (Differences, error) {
			done(500, 1000)
			return Differences{Rows: 1000}, nil
		},
		Backup: func(_ context.Context, _ config.Config, _ string, done Done) error {
			done(1<<20, 4<<20)
			return nil
		},
		Reconcile: func(_ context.Context, _ config.Config, q Reconcile) (Reconciled, error) {
			q.Progress(3000, 0)
			return Reconciled{Provider: "p"}, nil
		},
	}
}

// Long work shows a bar where somebody looks at Err, and nothing elsewhere; what is on Out is the same.
func TestProgress_OnATerminal(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, tc := range []struct {
		args []string
		bar  string
		out  string
	}{
		{[]string{"check"}, "rows checked  50%", "0 differences in 1000 rows\n"},
		{[]string{"check", "--json"}, "rows checked  50%", `{"rows":1000,"differences":[]}` + "\n"},
		{[]string{"backup", "copy.db"}, "copied  25%", "wrote copy.db\n"},
		{[]string{"backup", "copy.db", "--json"}, "copied  25%", `{"backup":"copy.db"}` + "\n"},
		{[]string{"reconcile", "p", "--since", "24h"}, "messages listed", "0 differences: 0 messages there"},
	} {
		var out bytes.Buffer
		var errs tty
		code := Run(context.Background(), tc.args, nil, Streams{In: strings.NewReader(""), Out: &out, Err: &errs}, working())
		if code != ExitDone || !strings.Contains(errs.String(), tc.bar) || !strings.Contains(out.String(), tc.out) {
			t.Errorf("%q: exit %d, out %q, err %q", tc.args, code, out.String(), errs.String())
		}
		r := runWith(t, nil, working(), "", tc.args...)
		if r.err != "" || !strings.Contains(r.out, tc.out) {
			t.Errorf("%q in a pipe: out %q, err %q", tc.args, r.out, r.err)
		}
	}
	for _, args := range [][]string{{"backup"}, {"backup", ""}, {"backup", "a", "b"}, {"backup", "a", "--url", "http://127.0.0.1:1"}} {
		if r := runWith(t, nil, working(), "", args...); r.code != ExitUsage {
			t.Errorf("%q: exit %d", args, r.code)
		}
	}
}

// An export to a file counts its rows on the terminal; where the rows go to the terminal itself nothing is drawn among them.
func TestList_AllCounts(t *testing.T) {
	page := func(next string) answer {
		return answer{200, `{"notifications":[` + notification() + `],"next_cursor":` + next + `}`}
	}
	for _, live := range []bool{false, true} {
		s := answers(t, page(`"a"`), page(`"b"`), page("null"))
		var out, errs tty
		streams := Streams{In: strings.NewReader(""), Out: &out.Buffer, Err: &errs}
		if live {
			streams.Out = &out
		}
		code := Run(context.Background(), []string{"list", "--all", "--json"}, []string{"SENDONCE_URL=" + s.URL}, streams, Service{})
		if counted := strings.Contains(errs.String(), "rows"); code != ExitDone || counted == live || strings.Count(out.String(), id) != 3 {
			t.Errorf("exit %d, live %v, %q", code, live, errs.String())
		}
	}
}
