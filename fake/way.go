package fake

import (
	"math/rand/v2"
	"slices"
	"time"
)

// way is what becomes of a message after it was accepted, in the provider's own words, and how its receipts leave.
type way struct {
	steps []step
	lost  bool // no receipt leaves
	early bool // the first one leaves before the message's own answer
	stray bool // a receipt about a message that is not ours leaves too
}

// step is one report about a message.
type step struct {
	word   string
	after  time.Duration   // since the message was accepted: when it happens
	leaves time.Duration   // since then too: when the receipt leaves
	copies []time.Duration // since then too: when it leaves again
}

// firstWord is what a provider says of a message of which it has nothing to report yet.
var firstWord = map[string]string{
	"twilio": "queued", "vonage_sms": "accepted", "vonage_messages": "submitted", "sendgrid": "processed", "resend": "queued",
	"batch": "queued", "single": "queued",
}

// ways are the words that each provider reports, in their order: the first of them is what becomes of most messages.
var ways = map[string][][]string{
	"twilio": {
		{"sent", "delivered"}, {"queued", "sending", "sent", "delivered"}, {"sent", "undelivered"}, {"failed"}, {"sent", "undelivered", "delivered"},
	},
	"vonage_sms":      {{"accepted", "delivered"}, {"buffered", "delivered"}, {"delivered"}, {"buffered", "expired"}, {"failed"}, {"unknown"}},
	"vonage_messages": {{"submitted", "delivered"}, {"delivered"}, {"submitted", "undeliverable"}, {"submitted", "rejected"}},
	"sendgrid": {
		{"processed", "delivered"}, {"processed", "deferred", "deferred", "delivered"}, {"processed", "bounce"}, {"dropped"},
		{"processed", "delivered", "open", "click"}, {"processed", "delivered", "bounce"}, {"processed", "delivered", "spamreport"},
	},
	"resend": {
		{"sent", "delivered"}, {"sent", "delivery_delayed", "delivered"}, {"sent", "bounced"}, {"failed"}, {"sent", "suppressed"},
		{"sent", "delivered", "opened", "clicked"}, {"sent", "delivered", "complained"},
	},
	"batch":  {{"sent", "delivered"}},
	"single": {{"sent", "delivered"}},
}

// way draws what becomes of a message: its token and number decide, not the order in which requests arrive.
func (p *Provider) way(m *message) way {
	words := ways[m.kind]
	if words == nil {
		return way{lost: true}
	}
	if p.options.WellBehaved {
		w := way{lost: p.options.Receipts.Lost >= 100}
		for i, word := range words[0] {
			at := time.Duration(i+1) * p.options.Receipts.After / 4
			w.steps = append(w.steps, step{word: word, after: at, leaves: at})
		}
		return w
	}
	random := rand.New(rand.NewPCG(p.options.Seed^0x7265706f7274, fold(m.Token, p.counts[m.Token])))
	w := way{lost: percent(random, p.options.Receipts.Lost), early: percent(random, 10), stray: percent(random, 5)}
	list := words[0]
	if percent(random, 40) {
		list = words[random.IntN(len(words))]
	}
	// Three of four leave soon, the others within After.
	span := p.options.Receipts.After / 10
	if percent(random, 25) {
		span = p.options.Receipts.After
	}
	var at []time.Duration
	for range list {
		at = append(at, time.Duration(random.Int64N(int64(span))))
	}
	slices.Sort(at)
	leaves := slices.Clone(at)
	if percent(random, 20) {
		random.Shuffle(len(leaves), func(i, j int) { leaves[i], leaves[j] = leaves[j], leaves[i] })
	}
	for i, word := range list {
		s := step{word: word, after: at[i], leaves: leaves[i]}
		for percent(random, 25) {
			s.copies = append(s.copies, leaves[i]+time.Duration(random.Int64N(int64(p.options.Receipts.After))))
		}
		w.steps = append(w.steps, s)
	}
	return w
}

// percent is true so often in a hundred times.
func percent(random *rand.Rand, n int) bool { return random.IntN(100) < n }

// word is what the provider would say of a message at a time.
func (m *message) word(at time.Time) string {
	word := firstWord[m.kind]
	for _, s := range m.way.steps {
		if s.after <= at.Sub(m.At) {
			word = s.word
		}
	}
	return word
}
