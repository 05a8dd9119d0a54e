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
	seedFlag  = flag.Uint64("seed", 0, "seed of the first walk, the others take the next ones; 0: a new one")
	stepsFlag = flag.Int("steps", 900, "acts of each walk; it goes on for as many again while a line was taken too rarely")
	walksFlag = flag.Int("walks", 2, "walks beside each other, each with a ledger of its own")
)

// table is the model's, and what becomes of a row whose proof came while it was sending.
var table = append(slices.Clone(Lines), Line{From: "sending", By: "proof", To: "sent"})

const (
	least   = 20 // how often each line of the table has to be taken, by all walks
	crowd   = 25 // rows of a walk to which something may still happen
	steered = 80 // per cent of the acts lead to rarely taken lines, as long as there are any
)

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
	worlds := make([]*world, *walksFlag)
	t.Run("seed", func(t *testing.T) {
		for i := range worlds {
			t.Run(fmt.Sprint(seed+uint64(i)), func(t *testing.T) {
				t.Parallel()
				synctest.Test(t, func(t *testing.T) { worlds[i] = stroll(t, seed+uint64(i)) })
			})
		}
	})
	if !t.Failed() {
		sum(t, worlds)
	}
}

// stroll is one walk.
func stroll(t *testing.T, seed uint64) *world {
	w := newWorld(t, seed)
	err := w.start()
	if err == nil {
		w.run()
		err = w.walk(*stepsFlag)
	}
	if err == nil {
		err = w.compareAll()
	}
	if err != nil {
		t.Errorf("-seed %d -walks 1, act %d: %v\nthe last acts:\n%s", seed, len(w.acts), err, strings.Join(w.acts[max(0, len(w.acts)-30):], "\n"))
	}
	if err := w.end(); err != nil {
		t.Errorf("-seed %d -walks 1, at the end: %v", seed, err)
	}
	return w
}

// sum shows how often each line was taken.
func sum(t *testing.T, worlds []*world) {
	acts, rows, checks, erased, again := 0, 0, 0, 0, 0
	for _, w := range worlds {
		acts, rows, checks = acts+len(w.acts), rows+len(w.events), checks+w.checks
		erased, again = erased+w.model.Erased, again+w.again
	}
	var b strings.Builder
	for _, l := range table {
		n := 0
		for _, w := range worlds {
			n += w.model.Taken[l.From+" "+l.By]
		}
		fmt.Fprintf(&b, "%6d  %-10s %-14s %s\n", n, l.From, l.By, l.To)
		if n < least {
			t.Errorf("%s by %s was taken %d times, want %d: walk further", l.From, l.By, n, least)
		}
	}
	if erased < leastErased || again < leastErased {
		t.Errorf("%d rows were erased, and such rows were asked for %d times, want %d each: walk further", erased, again, leastErased)
	}
	t.Logf("%d acts, %d rows, %d of them erased and asked for %d times, %d checks; lines of the table:\n%s", acts, rows, erased, again, checks, b.String())
}

// rare returns a line that was not taken often enough.
func (w *world) rare() (Line, bool) {
	for _, l := range table {
		if w.taken(l) < w.share() {
			return l, true
		}
	}
	return Line{}, false
}

// walk makes steps until something is wrong.
func (w *world) walk(steps int) error {
	for i := range 2 * steps {
		if _, rare := w.rare(); i >= steps && !rare {
			break
		}
		if err := w.step(); err != nil {
			return err
		}
		w.advance(time.Millisecond) // after a crowd the store waits for company
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
	if c := w.held(func(c *call) bool { return c.Kind == ledger.KindRepeat }); c != nil && w.chance(30) {
		return w.answer(c, w.replyOf(w.pick("accepted", "rejected", "deferred", "fault", "ambiguous")))
	}
	if w.chance(4) {
		return w.gone()
	}
	if w.chance(steered) {
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
