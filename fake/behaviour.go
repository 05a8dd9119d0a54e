package fake

import (
	"hash/fnv"
	"math/rand/v2"
	"strconv"
)

// Behaviour is what the fake does with one request.
type Behaviour string

// The behaviours. Those whose name begins with accept send the message out, whatever the client sees.
const (
	Accept        Behaviour = "accept"         // 200
	AcceptSlow    Behaviour = "accept_slow"    // 200 after Options.Slow
	AcceptHang    Behaviour = "accept_hang"    // 200 after Release, or nothing if the client goes
	AcceptReset   Behaviour = "accept_reset"   // the connection is reset
	AcceptError   Behaviour = "accept_error"   // 500
	AcceptGarbage Behaviour = "accept_garbage" // 200 with a body that is no JSON
	AcceptCut     Behaviour = "accept_cut"     // 200, the body ends half way
	AcceptTwice   Behaviour = "accept_twice"   // the 200 comes twice on one connection
	AcceptDrop    Behaviour = "accept_drop"    // a reused connection closes without an answer; 200 on a fresh one
	Throttle      Behaviour = "throttle"       // 429 with Retry-After
	Unauthorized  Behaviour = "unauthorized"   // 401
	NoCredit      Behaviour = "no_credit"      // 402 INSUFFICIENT_CREDIT
	Refuse        Behaviour = "refuse"         // 400 in the provider's form; 410 to a webhook
	Unavailable   Behaviour = "unavailable"    // 503
	Defer         Behaviour = "defer"          // what the provider calls "not accepted, later" for this message; throttle where it has none
	Lose          Behaviour = "lose"           // the connection closes without an answer, and nothing goes out
)

// Behaviours lists all behaviours.
var Behaviours = []Behaviour{
	Accept, AcceptSlow, AcceptHang, AcceptReset, AcceptError, AcceptGarbage, AcceptCut, AcceptTwice, AcceptDrop,
	Throttle, Unauthorized, NoCredit, Refuse, Unavailable, Defer, Lose,
}

// Accepts reports whether the message goes out.
func (b Behaviour) Accepts() bool {
	switch b {
	case Throttle, Unauthorized, NoCredit, Refuse, Unavailable, Defer, Lose:
		return false
	}
	return true
}

// DefaultWeights let about half of the requests go well. AcceptTwice is left out: by chance its second answer
// may be taken for the next request's, which no client of HTTP/1.1 can tell.
var DefaultWeights = map[Behaviour]int{
	Accept: 50, AcceptSlow: 4, AcceptHang: 4, AcceptReset: 6, AcceptError: 6, AcceptGarbage: 4, AcceptCut: 4, AcceptDrop: 6,
	Throttle: 5, Unauthorized: 1, NoCredit: 1, Refuse: 4, Unavailable: 5,
}

// weighted draws a behaviour. It goes through Behaviours, since the order of a map is not a run's own.
func weighted(weights map[Behaviour]int, random *rand.Rand) Behaviour {
	total := 0
	for _, b := range Behaviours {
		total += weights[b]
	}
	if total == 0 {
		return Accept
	}
	n := random.IntN(total)
	for _, b := range Behaviours {
		if n -= weights[b]; n < 0 {
			return b
		}
	}
	panic("the weights changed while they were summed")
}

// fold makes the choice hang on the token and on how often it came, not on the order in which requests of
// several workers arrive.
func fold(token string, n int) uint64 {
	h := fnv.New64a()
	_, _ = h.Write([]byte(token + "\x00" + strconv.Itoa(n)))
	return h.Sum64()
}
