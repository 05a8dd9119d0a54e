package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
)

type message struct {
	To   string `json:"to"`
	Body string `json:"body"`
	From string `json:"from"`
}

type order struct {
	Messages       []message `json:"messages"`
	IdempotencyKey string    `json:"idempotency_key"`
}

type envelope struct {
	Data struct {
		Results []struct {
			MessageID string `json:"message_id"`
		} `json:"results"`
	} `json:"data"`
}

// post hands one message to the provider and returns its id.
func post(ctx context.Context, client *http.Client, provider, key, recipient, text string) (string, error) {
	body, err := json.Marshal(order{[]message{{To: recipient, Body: text, From: "AcmeShip"}}, key})
	if err != nil {
		return "", err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, provider+"/v1/sms/batch/send", bytes.NewReader(body))
	if err != nil {
		return "", err
	}
	req.Header.Set("Authorization", "Bearer test")
	req.Header.Set("Content-Type", "application/json")
	resp, err := client.Do(req)
	if err != nil {
		return "", err
	}
	defer resp.Body.Close()
	var answer envelope
	if err := json.NewDecoder(resp.Body).Decode(&answer); err != nil {
		return "", err
	}
	if resp.StatusCode/100 != 2 || len(answer.Data.Results) != 1 {
		return "", fmt.Errorf("provider: %s", resp.Status)
	}
	return answer.Data.Results[0].MessageID, nil
}
