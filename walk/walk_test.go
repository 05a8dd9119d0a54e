package walk

import (
	"flag"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"sendonce/ledger"
)

var (
	seedFlag  = flag.Uint64("seed", 0, "seed of the walk; 0: a new one")
	stepsFlag = flag.Int("steps", 2000, "acts of the walk")
)

const least = 20 // how often each line of the table has to be taken

// The model's table is written anew; here the two are held against each other.
func TestModel_HasTheTable(t *testing.T) {
	var ours, theirs []string
	for _, l := range Lines {
		ours = append(ours, fmt.Sprintln(l.From, l.By, l.To, l.Unsettled))
	}
	for _, l := range ledger.Transitions {
		theirs = append(theirs, fmt.Sprintln(l.From, l.By, l.To, l.Unsettled))
	}
	slices.Sort(ours)
	slices.Sort(theirs)
	if !slices.Equal(ours, theirs) {
		t.Errorf("the model's lines:\n%s\nthe ledger's:\n%s", strings.Join(ours, ""), strings.Join(theirs, ""))
	}
}

func TestWalk(t *testing.T) {
	seed := *seedFlag
	if seed == 0 {
		seed = uint64(time.Now().UnixNano())
	}
	t.Logf("seed %d, %d steps", seed, *stepsFlag)
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, seed)
		if err := w.start(); err != nil {
			t.Fatal(err)
		}
		w.run()
		err := w.walk(*stepsFlag)
		if err == nil {
			err = w.compareAll()
		}
		if err != nil {
			t.Errorf("seed %d, step %d: %v\nthe last acts:\n%s", seed, len(w.acts), err, strings.Join(w.acts[max(0, len(w.acts)-30):], "\n"))
		}
		w.cancel()
		if err := <-w.ended; err != nil {
			t.Errorf("Run: %v", err)
		}
		if err := w.check(); err != nil {
			t.Error(err)
		}
		if err := w.store.Shutdown(); err != nil {
			t.Error(err)
		}
		w.print(t)
	})
}

// walk makes steps until something is wrong.
func (w *world) walk(steps int) error {
	for i := range steps {
		if err := w.step(); err != nil {
			return err
		}
		synctest.Wait()
		if err := w.tell(); err != nil {
			return err
		}
		if err := w.compare(); err != nil {
			return err
		}
		if i%50 == 49 {
			if err := w.compareAll(); err != nil {
				return err
			}
		}
	}
	return nil
}

// acts and how often each comes.
var acts = []struct {
	weight int
	do     func(*world) error
}{
	{16, (*world).claimNew}, {5, (*world).claimKnown}, {2, (*world).claimBatch},
	{20, (*world).person}, {22, (*world).reply}, {10, (*world).proof}, {4, (*world).gate}, {14, (*world).pass}, {3, (*world).resend},
	{1, (*world).restart}, {2, (*world).crash}, {1, (*world).copyAside}, {1, (*world).putBack}, {2, (*world).accept},
}

func (w *world) step() error {
	if w.chance(60) {
		if done, err := w.steer(); done || err != nil {
			return err
		}
	}
	sum := 0
	for _, a := range acts {
		sum += a.weight
	}
	n := w.random.IntN(sum)
	for _, a := range acts {
		if n -= a.weight; n < 0 {
			return a.do(w)
		}
	}
	panic("the weights changed")
}

// print shows how often each line was taken.
func (w *world) print(t *testing.T) {
	var b strings.Builder
	for _, l := range append(Lines, Line{From: "sending", By: "proof", To: "sent"}) {
		fmt.Fprintf(&b, "%6d  %-10s %-14s %s\n", w.model.Taken[l.From+" "+l.By], l.From, l.By, l.To)
	}
	t.Logf("%d acts, %d rows, %d checks; lines of the table:\n%s", len(w.acts), len(w.model.Rows), w.checks, b.String())
}
