package demo

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"time"

	"sendonce/fake"
)

// The shop is open for twelve hours. Times of the script count from its opening.
const (
	opens    = 8 * time.Hour // of the day
	openFor  = 12 * time.Hour
	timeout  = 2 * time.Second // for a provider's answer, on both sides
	downtime = 400 * time.Millisecond
)

// token is what the fake providers count messages by: the reference that stands in every text.
var token = regexp.MustCompile(`\b[CPSD]-\d{4}\b`)

// notification is one message that somebody is to get.
type notification struct {
	token     string
	kind      *kind
	recipient string
	text      string
	at        time.Duration
	again     []time.Duration // when the shop asks for it once more: double clicks, queues that deliver twice
	faults    []fake.Behaviour
	crash     bool // both sides die while its request is under way
}

// name is the time of day that the script's time stands for.
func clock(at time.Duration) string {
	at += opens
	return fmt.Sprintf("%02d:%02d", int(at.Hours()), int(at.Minutes())%60)
}

// faults are what a request may meet, by how often in a hundred.
var faults = []struct {
	behaviour fake.Behaviour
	weight    int
}{
	{fake.AcceptHang, 5}, {fake.AcceptReset, 6}, {fake.AcceptError, 6}, {fake.AcceptCut, 3}, {fake.AcceptGarbage, 2}, // it went out, and no readable yes came back
	{fake.Lose, 3}, {fake.Unavailable, 2}, // it did not, and no readable no came back
	{fake.Throttle, 2}, {fake.Refuse, 2}, // a clear no
}

// write writes the day: the same seed and size, the same day.
func write(seed uint64, size int) []*notification {
	random := rand.New(rand.NewPCG(seed, 0x73686f70))
	var script []*notification
	for number := 1000; len(script) < size; number++ {
		ordered := time.Duration(random.Int64N(int64(openFor - 90*time.Minute)))
		phone, person := fmt.Sprintf("+1555%07d", 100_0000+random.IntN(900_0000)), fmt.Sprintf("customer%d", number)
		for i, k := range kinds {
			if len(script) == size || random.IntN(100) >= k.share {
				continue
			}
			n := &notification{
				token: fmt.Sprintf("%s-%04d", k.letter, number), kind: k, recipient: k.recipient(phone, person),
				at: ordered + time.Duration(i)*20*time.Minute,
			}
			n.text = k.text(n.token, random)
			n.mishap(random)
			script = append(script, n)
		}
	}
	slices.SortStableFunc(script, func(a, b *notification) int { return int(a.at - b.at) })
	crashAt(script, size*2/5)
	crashAt(script, size*3/4)
	return script
}

// mishap draws what goes wrong with a notification.
func (n *notification) mishap(random *rand.Rand) {
	for random.IntN(100) < 18 && len(n.again) < 2 {
		late := time.Duration(random.IntN(2)) * time.Duration(random.IntN(60)+5) * time.Minute // half of them at once
		n.again = append(n.again, min(n.at+late, openFor))
	}
	draw := random.IntN(100)
	for _, f := range faults {
		if draw -= f.weight; draw < 0 {
			n.faults = []fake.Behaviour{f.behaviour}
			return
		}
	}
}

// crashAt makes the first text message from a place of the script on one that both sides die over. Its provider has it by then.
func crashAt(script []*notification, from int) {
	for _, n := range script[from:] {
		if n.kind.provider == "twilio" || n.kind.provider == "fcm" {
			n.crash, n.faults = true, []fake.Behaviour{fake.AcceptHang}
			return
		}
	}
}
