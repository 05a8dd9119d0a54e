package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"log"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
)

const (
	claimRow = `INSERT INTO notification_claim (dedupe_key, event_id, channel) VALUES ($1, $2, $3) ON CONFLICT (dedupe_key) DO NOTHING`
	readRow  = `SELECT state, coalesce(message_id, '') FROM notification_claim WHERE dedupe_key = $1`
	sentRow  = `UPDATE notification_claim SET state = 'sent', message_id = $2, confirmed_at = now(), attempts = attempts + 1 WHERE dedupe_key = $1`
	failRow  = `UPDATE notification_claim SET state = 'failed', attempts = attempts + 1 WHERE dedupe_key = $1`
)

type service struct {
	pool     *pgxpool.Pool // prepares each statement once a connection, by itself
	client   *http.Client
	provider string
}

// claim is the part of sendonce's request that this service takes.
type claim struct {
	EventID   string `json:"event_id"`
	EventType string `json:"event_type"`
	Channel   string `json:"channel"`
	Recipient string `json:"recipient"`
	Message   struct {
		Text string `json:"text"`
	} `json:"message"`
}

type answer struct {
	DedupeKey string `json:"dedupe_key"`
	Duplicate bool   `json:"duplicate"`
	State     string `json:"state"`
	EventID   string `json:"event_id"`
	Channel   string `json:"channel"`
	Recipient string `json:"recipient"`
	MessageID string `json:"message_id,omitempty"`
}

// runService serves until ctx ends.
func runService(ctx context.Context, o options, pool *pgxpool.Pool, client *http.Client) error {
	table, err := os.ReadFile(o.table)
	if err != nil {
		return err
	}
	for _, query := range []string{string(table), "CHECKPOINT"} {
		if _, err := pool.Exec(ctx, query); err != nil {
			return err
		}
	}
	s := &service{pool: pool, client: client, provider: o.provider}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /v1/notifications", s.notify)
	server := &http.Server{Addr: o.addr, Handler: mux, ReadHeaderTimeout: 5 * time.Second, IdleTimeout: time.Minute}
	stop := context.AfterFunc(ctx, func() { server.Close() })
	defer stop()
	if err := server.ListenAndServe(); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

// notify claims, sends and records; a known event gets its row as it stands.
func (s *service) notify(w http.ResponseWriter, r *http.Request) {
	var c claim
	if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, 256<<10)).Decode(&c); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	if c.EventID == "" || c.Channel != "sms" || c.Recipient == "" || c.Message.Text == "" {
		http.Error(w, "event_id, channel, recipient and message.text are required", http.StatusBadRequest)
		return
	}
	a, status, err := s.once(r.Context(), c)
	if err != nil {
		log.Print(err)
		http.Error(w, "try again", http.StatusServiceUnavailable)
		return
	}
	body, err := json.Marshal(a)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(body) // the caller has gone
}

func (s *service) once(ctx context.Context, c claim) (answer, int, error) {
	sum := sha256.Sum256([]byte(strings.Join([]string{c.EventID, c.Channel, c.Recipient}, "\x00")))
	a := answer{DedupeKey: hex.EncodeToString(sum[:20]), EventID: c.EventID, Channel: c.Channel, Recipient: c.Recipient}
	done, err := s.pool.Exec(ctx, claimRow, a.DedupeKey, c.EventID, c.Channel)
	if err != nil {
		return a, 0, err
	}
	if done.RowsAffected() == 0 {
		a.Duplicate = true
		return a, http.StatusOK, s.pool.QueryRow(ctx, readRow, a.DedupeKey).Scan(&a.State, &a.MessageID)
	}
	if a.MessageID, err = post(ctx, s.client, s.provider, a.DedupeKey, c.Recipient, c.Message.Text); err != nil {
		_, failed := s.pool.Exec(ctx, failRow, a.DedupeKey)
		return a, 0, errors.Join(err, failed)
	}
	a.State = "sent"
	_, err = s.pool.Exec(ctx, sentRow, a.DedupeKey, a.MessageID)
	return a, http.StatusAccepted, err
}
