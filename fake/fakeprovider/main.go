// Command fakeprovider runs the misbehaving provider by hand. Point base_url of a provider, or a webhook's recipient below
// /hook/, at it; GET /counts shows what went out. With -receipts it posts what becomes of messages to the address that each
// names, and SendGrid's and Resend's to -webhook, signed with the keys that it prints.
package main

import (
	"flag"
	"fmt"
	"net/http"
	"os"
	"os/signal"
	"time"

	"sendonce/fake"
)

func main() {
	address := flag.String("address", "127.0.0.1:9100", "where to listen")
	seed := flag.Uint64("seed", 1, "of the choice of behaviours")
	good := flag.Bool("good", false, "accept and answer everything")
	honour := flag.Bool("honour-keys", false, "send nothing again under a known idempotency key")
	delay := flag.Duration("delay", 0, "before each answer")
	receipts := flag.Bool("receipts", false, "post receipts")
	webhook := flag.String("webhook", "", "URL for SendGrid's and Resend's receipts")
	after := flag.Duration("after", time.Minute, "the last receipt about a message leaves at most so long after it, its copies twice as long")
	lag := flag.Duration("lag", 0, "until a message shows up in look-ups, at least; at most twice as long")
	flag.Parse()

	reports := fake.Receipts{Webhook: *webhook, After: *after}
	if *receipts {
		reports.Client = http.DefaultClient
		fmt.Printf("receipts are signed with signature_secret %s (Vonage), webhook_secret %s (Resend), webhook_public_key %s (SendGrid) and Twilio's auth_token\n",
			fake.VonageSecret, fake.SvixSecret, fake.EventKey())
	}
	p := fake.New(fake.Options{
		Receipts: reports, LookUps: fake.LookUps{Lag: *lag},
		Seed: *seed, WellBehaved: *good, HonourKeys: *honour, Delay: *delay,
		OnRequest: func(r fake.Request) {
			fmt.Println(time.Now().Format(time.TimeOnly), r.N, r.Path, r.Token, r.Behaviour)
		},
	})
	url, err := p.Listen(*address)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Println("listening on", url)
	stop := make(chan os.Signal, 1)
	signal.Notify(stop, os.Interrupt)
	<-stop
	_ = p.Close()
	for token, n := range p.Counts() {
		fmt.Println(token, n)
	}
}
