//go:build linux

package main

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestEdgesOf_CallsBothEdgesAndCounts(t *testing.T) {
	var edges []int
	n, err := edgesOf(strings.NewReader("noise\nbegin\nend 42\n"), func(i int) { edges = append(edges, i) })
	if n != 42 || err != nil || !slices.Equal(edges, []int{0, 1}) {
		t.Errorf("%d, %v, edges %v", n, err, edges)
	}
	for _, broken := range []string{"", "begin\n", "end 42\n", "begin\nend x\n", "begin\nend 0\n"} {
		if n, err := edgesOf(strings.NewReader(broken), func(int) {}); err == nil {
			t.Errorf("%q gave %d", broken, n)
		}
	}
}

func TestTransactions_AllLogsOfARun(t *testing.T) {
	dir := t.TempDir()
	if _, err := transactions(dir); err == nil {
		t.Error("no log is a measurement")
	}
	for name, text := range map[string]string{"transactions.7": "0 1 300 0 1 2\n0 2 100 0 1 2\n", "transactions.7.1": "1 1 200 0 1 2\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if all, err := transactions(dir); err != nil || !slices.Equal(all, latencies{100, 200, 300}) {
		t.Errorf("%v, %v", all, err)
	}
	if err := os.WriteFile(filepath.Join(dir, "transactions.8"), []byte("0 1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := transactions(dir); err == nil {
		t.Error("half a line was read")
	}
}

// Redis's length prefixes must fit, and no two requests may set the same key.
func TestSetNX_IsOneCommandWithAKeyOfForty(t *testing.T) {
	seen := map[string]bool{}
	for _, n := range []int64{0, 7, 1e12} {
		for _, run := range []uint64{1, 1<<64 - 1} {
			parts := strings.Split(string(setNX(nil, run, n)), "\r\n")
			if len(parts) != 10 || parts[0] != "*4" || parts[3] != "$40" || len(parts[4]) != 40 || parts[8] != "NX" || seen[parts[4]] {
				t.Fatalf("%q", parts)
			}
			seen[parts[4]] = true
		}
	}
	m := message{r: bufio.NewReader(strings.NewReader("+OK\r\n$-1\r\n"))}
	for _, want := range []string{"+OK", "$-1"} {
		if err := m.nextLine(); err != nil || string(m.body) != want {
			t.Errorf("%q, %v", m.body, err)
		}
	}
	if err := m.nextLine(); err != io.EOF {
		t.Errorf("at the end: %v", err)
	}
}

func TestEchoHandler_AnswersTheBody(t *testing.T) {
	for _, bare := range []bool{true, false} {
		w := httptest.NewRecorder()
		echoHandler(bare).ServeHTTP(w, httptest.NewRequest(http.MethodPost, "/v1/notifications", strings.NewReader(`{"event_id":"evt_1"}`)))
		if w.Code != 200 || !good(echoHTTP, repeats, w.Code, w.Body.Bytes()) || w.Header().Get("Content-Type") != "application/json" {
			t.Errorf("bare %v: %d %s", bare, w.Code, w.Body)
		}
	}
}

// What is missing is left out with its reason, and the rest is measured.
func TestPreparePeers_LeavesOutWithAReason(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	b := &bench{dir: t.TempDir(), root: t.TempDir(), processes: &processes{dir: t.TempDir()}}
	cells := []cell{newCell(repeats, 0, 1, worker, bareHTTP), newCell(claims, 0, 1, disk, redis)}
	if err := b.preparePeers(t.Context(), options{peer: false}, cells); err != nil {
		t.Fatal(err)
	}
	if got := cells[0].systems(b.peers.left); !slices.Equal(got, []string{sendonce, bareHTTP}) {
		t.Errorf("systems %v", got)
	}
	if err := b.preparePeers(t.Context(), options{peer: true}, []cell{cells[1]}); err != nil {
		t.Fatal(err)
	}
	if got := b.peers.leftOut(); !strings.HasPrefix(got, redis+" (redis-server is not here") {
		t.Errorf("left out: %q", got)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := b.preparePeers(ctx, options{peer: true}, cells); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v after an interrupt", err)
	}
}

// A child that reports on a pipe keeps its errors in the log.
func TestProcess_KeepsAPipeOfItsOwn(t *testing.T) {
	out, in, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	cmd := exec.Command("sh", "-c", "echo told; echo complaint >&2")
	cmd.Stdout = in
	p, err := (&processes{dir: t.TempDir()}).start("child", cmd)
	in.Close()
	if err != nil {
		t.Fatal(err)
	}
	told, err := io.ReadAll(out)
	<-p.done
	if string(told) != "told\n" || err != nil || p.tail() != "complaint" {
		t.Errorf("%q, %v, log %q", told, err, p.tail())
	}
}
