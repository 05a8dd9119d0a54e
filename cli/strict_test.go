package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"sendonce/config"
)

// A shell or a command that there is not was answered with a page of help and exit 0.
func TestStrict_CobrasCommands(t *testing.T) {
	for _, tc := range []struct {
		line string
		want int
	}{
		{"completion", ExitDone},
		{"completion zsh", ExitDone},
		{"completion tcsh", ExitUsage},
		{"completion bash more", ExitUsage},
		{"help", ExitDone},
		{"help list", ExitDone},
		{"help providers pause", ExitDone},
		{"help nothing", ExitUsage},
		{"help list nothing", ExitUsage},
	} {
		r := runWith(t, nil, Service{}, "", strings.Split(tc.line, " ")...)
		if r.code != tc.want || (r.out == "") != (tc.want != ExitDone) || (r.err == "") != (tc.want == ExitDone) {
			t.Errorf("%s: exit %d, out %.60q, err %.60q", tc.line, r.code, r.out, r.err)
		}
	}
}

// full is a pipe or a disk that takes nothing.
type full struct{}

func (full) Write([]byte) (int, error) { return 0, errors.New("no space left on device") }

// Half a completion is no usage error.
func TestStrict_NothingTakesTheCompletion(t *testing.T) {
	for _, shell := range []string{"bash", "fish", "powershell", "zsh"} {
		var errs bytes.Buffer
		code := Run(context.Background(), []string{"completion", shell}, nil, Streams{In: strings.NewReader(""), Out: full{}, Err: &errs}, Service{})
		if code != ExitNo || !strings.Contains(errs.String(), "no space left") {
			t.Errorf("%s: exit %d, %s", shell, code, errs.String())
		}
	}
}

// An interrupted check is no check that found differences: a script must tell them apart.
func TestRun_Interrupted(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, line := range []string{"check", "backup copy.db", "reconcile p --since 24h"} {
		ctx, interrupt := context.WithCancel(context.Background())
		stopped := func() error { interrupt(); return fmt.Errorf("reading: %w", ctx.Err()) }
		svc := Service{
			Check:     func(context.Context, config.Config, Done) (Differences, error) { return Differences{}, stopped() },
			Backup:    func(context.Context, config.Config, string, Done) error { return stopped() },
			Reconcile: func(context.Context, config.Config, Reconcile) (Reconciled, error) { return Reconciled{}, stopped() },
		}
		var out, errs bytes.Buffer
		code := Run(ctx, strings.Split(line, " "), nil, Streams{In: strings.NewReader(""), Out: &out, Err: &errs}, svc)
		if code != ExitInterrupted || errs.String() != "sendonce: interrupted\n" || out.Len() > 0 {
			t.Errorf("%s: exit %d, out %q, err %q", line, code, out.String(), errs.String())
		}
	}
	// What was cut for another reason says so, and is a no.
	svc := Service{Check: func(context.Context, config.Config, Done) (Differences, error) {
		return Differences{}, context.Canceled
	}}
	if r := runWith(t, nil, svc, "", "check"); r.code != ExitNo {
		t.Errorf("not interrupted: exit %d", r.code)
	}
}
