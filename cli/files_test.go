package cli

import (
	"context"
	"os"
	"strings"
	"testing"

	"sendonce/config"
)

func TestRun_Files(t *testing.T) {
	t.Chdir(t.TempDir())
	var got config.Config
	hook := func(_ context.Context, c config.Config) error { got = c; return nil }
	svc := Service{Serve: hook, Init: hook, RestoreAccept: hook, Version: "1.2.3", Check: func(context.Context, config.Config, Done) (Differences, error) {
		return Differences{Rows: 12, Found: []Difference{{id, "maybe_sent", "the mark is clear"}}}, nil
	}}
	if r := runWith(t, nil, svc, "", "serve", "--listen", "127.0.0.1:0", "--database", "x.db"); r.code != ExitDone || got.Listen != "127.0.0.1:0" || got.Database != "x.db" {
		t.Errorf("serve: exit %d, %s %s, %s", r.code, got.Listen, got.Database, r.err)
	}
	if r := runWith(t, []string{"SENDONCE_DATABASE=y.db"}, svc, "", "init"); r.out != "created y.db\n" || got.Database != "y.db" {
		t.Errorf("init: %q, %s", r.out, r.err)
	}
	if r := runWith(t, nil, svc, "", "init", "--json"); r.out != `{"created":"sendonce.db"}`+"\n" {
		t.Errorf("init --json: %q", r.out)
	}
	if r := runWith(t, nil, svc, "", "restore", "--accept"); r.code != ExitDone || !strings.Contains(r.err, "list --state ambiguous") {
		t.Errorf("restore: exit %d, %q", r.code, r.err)
	}
	r := runWith(t, nil, svc, "", "check")
	if want := "ID                                    RULE        DETAIL\n" + id + "  maybe_sent  the mark is clear\n1 difference in 12 rows\n"; r.code != ExitNo || r.out != want {
		t.Errorf("check: exit %d,\n%s", r.code, r.out)
	}
	r = runWith(t, nil, svc, "", "check", "--json")
	if want := `{"rows":12,"differences":[{"id":"` + id + `","rule":"maybe_sent","detail":"the mark is clear"}]}` + "\n"; r.code != ExitNo || r.out != want {
		t.Errorf("check --json: exit %d, %s", r.code, r.out)
	}
	if r := runWith(t, nil, svc, "", "version"); r.out != "sendonce 1.2.3\n" {
		t.Errorf("version: %q", r.out)
	}
	if r := runWith(t, nil, svc, "", "completion", "bash"); r.code != ExitDone || !strings.Contains(r.out, "sendonce") {
		t.Errorf("completion: exit %d", r.code)
	}
	if r := runWith(t, nil, svc, ""); r.code != ExitDone || !strings.Contains(r.out, "Available Commands") {
		t.Errorf("no command: exit %d, %q", r.code, r.out)
	}
}

func TestConfig_PrintAndCheck(t *testing.T) {
	t.Chdir(t.TempDir())
	if r := run(t, nil, "", "config"); r.code != ExitDone || !strings.Contains(r.out, "listen: 127.0.0.1:8484 # default\n") {
		t.Errorf("config: exit %d\n%s%s", r.code, r.out, r.err)
	}
	if err := os.WriteFile("sendonce.yaml", []byte("listn: x\nshutdown: {drain: 5}\nproviders: {p: {type: infrai, api_kye: SECRETCANARY1}}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	want := []string{"sendonce.yaml:1: listn: is no setting, did you mean listen?", "sendonce.yaml:2: shutdown.drain: ", "sendonce.yaml:3: providers.p.api_kye: "}
	for _, args := range [][]string{{"config"}, {"config", "--check"}, {"serve"}, {"init"}, {"check"}, {"config", "--config", "sendonce.yaml"}} {
		r := run(t, nil, "", args...)
		if r.code != ExitUsage || r.out != "" {
			t.Errorf("%q: exit %d, out %q", args, r.code, r.out)
		}
		for _, w := range want {
			if !strings.Contains(r.err, w) {
				t.Errorf("%q: no %q in\n%s", args, w, r.err)
			}
		}
		if strings.Contains(r.err, "CANARY") {
			t.Errorf("%q: a secret shows:\n%s", args, r.err)
		}
	}
	if r := run(t, nil, "", "config", "--check", "--json"); r.code != ExitUsage || !strings.HasPrefix(r.out, `{"faults":[{"source":"sendonce.yaml:1","key":"listn","detail":"is no setting, did you mean listen?"}`) {
		t.Errorf("exit %d, out %s", r.code, r.out)
	}
	if r := run(t, nil, "", "config", "--config", "none.yaml"); r.code != ExitUsage || !strings.Contains(r.err, "none.yaml: can't be read") {
		t.Errorf("exit %d, err %s", r.code, r.err)
	}
}
