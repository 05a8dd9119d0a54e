package main

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
	"github.com/riverqueue/river/rivermigrate"
)

// args is one notification as a job that River inserts once.
type args struct {
	EventID   string `json:"event_id" river:"unique"`
	Channel   string `json:"channel" river:"unique"`
	Recipient string `json:"recipient" river:"unique"`
	Text      string `json:"text"`
}

func (args) Kind() string { return "notify" }

func (args) InsertOpts() river.InsertOpts {
	return river.InsertOpts{UniqueOpts: river.UniqueOpts{ByArgs: true}}
}

type worker struct {
	river.WorkerDefaults[args]
	client   *http.Client
	provider string
}

// Work implements river.Worker.
func (w *worker) Work(ctx context.Context, j *river.Job[args]) error {
	_, err := post(ctx, w.client, w.provider, strconv.FormatInt(j.ID, 10), j.Args.Recipient, j.Args.Text)
	return err
}

// ahead is how many jobs may wait for each worker: River has something to fetch, and the table stays small.
const ahead = 4

// runRiver inserts jobs from o.conns callers and works them with as many workers. It prints "begin" when the measured time
// begins, and "end N" with the number of jobs that were recorded as completed in it.
func runRiver(ctx context.Context, o options, pool *pgxpool.Pool, client *http.Client) error {
	r, err := startRiver(ctx, o, pool, client)
	if err != nil {
		return err
	}
	events, cancel := r.SubscribeConfig(&river.SubscribeConfig{ChanSize: 1 << 18, Kinds: []river.EventKind{river.EventKindJobCompleted}})
	defer cancel()
	var inserted, completed atomic.Int64
	var callers sync.WaitGroup
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	for range o.conns {
		callers.Go(func() {
			for ctx.Err() == nil {
				if inserted.Load()-completed.Load() > int64(ahead*o.conns) {
					time.Sleep(time.Millisecond)
					continue
				}
				n := inserted.Add(1)
				job := args{fmt.Sprintf("evt_%d", n), "sms", fmt.Sprintf("+1415555%04d", n%10000),
					fmt.Sprintf("Order A-%d shipped. Track it at https://example.test/t/A-%d and reply STOP to end these messages.", n, n)}
				if _, err := r.Insert(ctx, job, nil); err != nil && ctx.Err() == nil {
					stop(err)
				}
			}
		})
	}
	go func() {
		for range events { // each comes once its completion is in the database
			completed.Add(1)
		}
	}()
	var from int64
	for i, length := range []time.Duration{o.warm, o.length} {
		select {
		case <-time.After(length):
		case <-ctx.Done():
			return context.Cause(ctx)
		}
		if i == 0 {
			from = completed.Load()
			fmt.Println("begin")
		}
	}
	fmt.Println("end", completed.Load()-from)
	stop(nil)
	callers.Wait()
	ending, cancelEnding := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
	defer cancelEnding()
	return r.StopAndCancel(ending)
}

// startRiver makes River's tables anew and starts its workers, with a fetch as often as it allows: by default it would fetch
// ten times a second.
func startRiver(ctx context.Context, o options, pool *pgxpool.Pool, client *http.Client) (*river.Client[pgx.Tx], error) {
	quiet := slog.New(slog.NewTextHandler(io.Discard, nil))
	for _, query := range []string{"DROP SCHEMA public CASCADE", "CREATE SCHEMA public", "CHECKPOINT"} {
		if _, err := pool.Exec(ctx, query); err != nil {
			return nil, err
		}
	}
	driver := riverpgxv5.New(pool)
	m, err := rivermigrate.New(driver, &rivermigrate.Config{Logger: quiet})
	if err != nil {
		return nil, err
	}
	if _, err := m.Migrate(ctx, rivermigrate.DirectionUp, nil); err != nil {
		return nil, err
	}
	workers := river.NewWorkers()
	river.AddWorker(workers, &worker{client: client, provider: o.provider})
	r, err := river.NewClient(driver, &river.Config{
		Logger: quiet, Workers: workers, FetchCooldown: time.Millisecond, FetchPollInterval: 100 * time.Millisecond,
		Queues: map[string]river.QueueConfig{river.QueueDefault: {MaxWorkers: o.conns}},
	})
	if err != nil {
		return nil, err
	}
	return r, r.Start(ctx)
}
