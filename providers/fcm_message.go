package providers

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"sendonce/ledger"
)

// Limits of a message (firebase.google.com/docs/reference/fcm/rest/v1/ErrorCode, RFC 8030 section 5.4, Apple's page about
// requests to APNs).
const (
	fcmPayload    = 4096                // bytes of all names and values that reach the device
	fcmLongestTTL = 28 * 24 * time.Hour // four weeks
	fcmTopicChars = 32                  // of a web push Topic
	fcmCollapseID = 64                  // bytes of apns-collapse-id
	longestKey    = 64                  // characters of the longest key that a recipe makes
)

// dedupeKeyName is the name under which an app finds the wire key: it drops a message whose key it has seen.
const dedupeKeyName = "dedupe_key"

// pushMessage is a push as it is sent.
type pushMessage struct {
	ledger.Message
	data map[string]string // the caller's
}

// shown reports whether the device itself shows the message; one with data alone is handed to the app.
func (m *pushMessage) shown() bool { return m.Title != "" || m.Body != "" }

// readPush reads a push and refuses what FCM is known to refuse. keyLength is that of the wire key, which goes along.
func readPush(message []byte, recipient string, keyLength int) (pushMessage, error) {
	parsed, err := ledger.ParseMessage(ledger.Push, message)
	if err != nil {
		return pushMessage{}, err
	}
	m := pushMessage{Message: parsed}
	switch {
	case strings.HasPrefix(recipient, "/topics/") || strings.ContainsAny(recipient, " \t\r\n"):
		return m, ledger.Invalid("recipient", "must be the registration token or installation id of one device")
	case m.Template != nil:
		return m, ledger.Invalid("message.template", "FCM has no templates: give title, body or data")
	case given(m.Data) && readJSON(m.Data, &m.data) != nil:
		return m, ledger.Invalid("message.data", "must be an object of texts")
	}
	size := len(dedupeKeyName) + keyLength
	if m.shown() {
		size += len("title") + len(m.Title) + len("body") + len(m.Body)
	}
	for _, name := range slices.Sorted(maps.Keys(m.data)) {
		switch {
		case name == dedupeKeyName:
			return m, ledger.Invalid("message.data."+name, "is set by sendonce")
		case name == "from", name == "message_type", strings.HasPrefix(name, "google."), strings.HasPrefix(name, "gcm.notification."):
			return m, ledger.Invalid("message.data."+name, "is a name that FCM keeps to itself")
		}
		size += len(name) + len(m.data[name])
	}
	if size > fcmPayload {
		return m, ledger.Invalid("message", "has %d bytes with the names of its fields and its key, FCM takes %d", size, fcmPayload)
	}
	return m, nil
}

// The fields stand in the order of their names, which are those of Google's description.
type fcmBody struct {
	Message fcmMessage `json:"message"`
}

type fcmMessage struct {
	Android      *fcmAndroid       `json:"android,omitempty"`
	APNs         *fcmAPNs          `json:"apns,omitempty"`
	Data         map[string]string `json:"data"`
	Notification *fcmNotification  `json:"notification,omitempty"`
	Token        string            `json:"token"`
	Webpush      *fcmWebpush       `json:"webpush,omitempty"`
}

type fcmNotification struct {
	Body  string `json:"body,omitempty"`
	Title string `json:"title,omitempty"`
}

type fcmAndroid struct {
	CollapseKey  string  `json:"collapseKey,omitempty"`
	Notification *fcmTag `json:"notification,omitempty"`
	TTL          string  `json:"ttl,omitempty"`
}

type fcmTag struct {
	Tag string `json:"tag"`
}

type fcmAPNs struct {
	Headers map[string]string `json:"headers"`
}

type fcmWebpush struct {
	Headers      map[string]string `json:"headers"`
	Notification *fcmTag           `json:"notification,omitempty"`
}

// fcmOf makes the message, with what lets a copy replace the first: a tag where the message is shown, collapse ids on its way
// to the device, and the key itself for the app. Without a notification Android gets no collapse key: FCM keeps four keys for a
// device that is offline, and a key of its own for each message would make it drop the others, while it keeps a hundred messages
// without one.
func fcmOf(o ledger.Order, m pushMessage) fcmMessage {
	tag := short(o.WireKey, fcmCollapseID)
	out := fcmMessage{
		Data: map[string]string{dedupeKeyName: o.WireKey}, Token: o.Recipient, Android: &fcmAndroid{},
		APNs:    &fcmAPNs{Headers: map[string]string{"apns-collapse-id": tag}},
		Webpush: &fcmWebpush{Headers: map[string]string{"Topic": topic(o.WireKey)}},
	}
	maps.Copy(out.Data, m.data)
	if m.shown() {
		out.Notification = &fcmNotification{m.Body, m.Title}
		out.Android.CollapseKey, out.Android.Notification = tag, &fcmTag{tag}
		out.Webpush.Notification = &fcmTag{tag}
	} else {
		out.APNs.Headers["apns-priority"] = "5" // the only one that Apple allows for data alone
	}
	if left, ok := validity(o, time.Second, fcmLongestTTL); ok { // at least a second: 0 would be "now or never"
		left = left.Truncate(time.Second)
		seconds := strconv.Itoa(int(left / time.Second))
		out.Android.TTL, out.Webpush.Headers["TTL"] = seconds+"s", seconds
		out.APNs.Headers["apns-expiration"] = strconv.FormatInt(o.At.Add(left).Unix(), 10)
	}
	if *out.Android == (fcmAndroid{}) {
		out.Android = nil
	}
	return out
}

// short returns a key as it is where it has room, else the beginning of its SHA-256.
func short(key string, room int) string {
	if len(key) <= room {
		return key
	}
	sum := sha256.Sum256([]byte(key))
	return hex.EncodeToString(sum[:])[:40]
}

// topic is a key in the form of a web push Topic: 32 characters of base64url.
func topic(key string) string {
	sum := sha256.Sum256([]byte(key))
	return base64.RawURLEncoding.EncodeToString(sum[:])[:fcmTopicChars]
}
