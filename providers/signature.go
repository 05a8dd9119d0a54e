package providers

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"strconv"
	"strings"
	"time"
)

// The scheme of Standard Webhooks: HMAC-SHA256 over id, a dot, Unix seconds, a dot, the body.
const (
	secretPrefix   = "whsec_"
	minSecretBytes = 24
	maxSecretBytes = 64
)

var errSecret = errors.New("must be whsec_ and base64 of 24 to 64 random bytes; several during a change, separated by blanks")

// parseSecrets reads one or several secrets, separated by blanks. The prefix may be missing.
func parseSecrets(s string) ([][]byte, error) {
	var keys [][]byte
	for _, word := range strings.Fields(s) {
		key, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(word, secretPrefix))
		if err != nil || len(key) < minSecretBytes || len(key) > maxSecretBytes {
			return nil, errSecret // without the cause: its text would quote the secret
		}
		keys = append(keys, key)
	}
	if len(keys) == 0 {
		return nil, errSecret
	}
	return keys, nil
}

// words are the secrets as a receiver, which shares them, may write them into an answer: with the prefix or without.
func words(s Secret) []Secret {
	var out []Secret
	for _, word := range strings.Fields(string(s)) {
		out = append(out, Secret(word), Secret(strings.TrimPrefix(word, secretPrefix)))
	}
	return out
}

// sign returns the value of webhook-signature: one signature for each key, so that a receiver that knows either
// the old or the new secret is content.
func sign(keys [][]byte, id string, at time.Time, body []byte) string {
	signatures := make([]string, len(keys))
	for i, key := range keys {
		mac := hmac.New(sha256.New, key)
		mac.Write([]byte(id + "." + strconv.FormatInt(at.Unix(), 10) + "."))
		mac.Write(body)
		signatures[i] = "v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil))
	}
	return strings.Join(signatures, " ")
}

// verified reports whether a request is signed under one of the keys, at a time that is near ours. Several signatures are
// separated by blanks and one that is right is enough; those of other versions are no match.
func verified(keys [][]byte, id, timestamp string, body []byte, signatures string, now time.Time) bool {
	at, readable := signedTime(timestamp)
	right := false
	for _, want := range strings.Fields(sign(keys, id, at, body)) {
		for _, given := range strings.Fields(signatures) {
			right = hmac.Equal([]byte(given), []byte(want)) || right
		}
	}
	return readable && near(at, now, receiptClockSkew, receiptClockSkew) && id != "" && !strings.Contains(id, ".") && right
}

// webhookID is what receivers dedupe on: the same for every attempt under a wire key. A dot would end the id
// early in the signed text, so a key with anything but letters, digits, _ and - is hashed.
func webhookID(wireKey string) string {
	const plain = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-"
	if strings.Trim(wireKey, plain) != "" {
		sum := sha256.Sum256([]byte(wireKey))
		wireKey = hex.EncodeToString(sum[:])[:40]
	}
	return "msg_" + wireKey
}
