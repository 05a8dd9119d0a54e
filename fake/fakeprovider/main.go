// Command fakeprovider runs the misbehaving provider by hand. Point base_url of an infrai provider, or a webhook's
// recipient below /hook/, at it; GET /counts shows what went out.
package main

import (
	"flag"
	"fmt"
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
	flag.Parse()

	p := fake.New(fake.Options{
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
