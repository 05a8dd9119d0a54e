package console

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"sendonce/ledger"
)

const (
	toldCookie = "sendonce_told"
	toldFor    = time.Minute // after the act
)

// What is told where it was not this very act, or where that is not known.
const (
	toldDone    = "done"
	toldAlready = "already"
	toldOpen    = "open"
)

// tellings are the sentences that a page may begin with, by what was done. Nothing writes to it.
var tellings = map[string]string{
	string(ledger.CauseConfirm): "Confirmed: it counts as sent.",
	string(ledger.CauseRelease): "Released: it will be sent.",
	string(ledger.CauseAbandon): "Abandoned: nothing more will be tried.",
	string(ledger.CauseHold):    "Held: it waits until somebody lets it go.",
	string(ledger.CauseUnhold):  "Let go: it is sent when it is due.",
	string(ledger.CauseCancel):  "Cancelled: it will not be sent.",
	string(ledger.CauseResend):  "A second message was asked for. It is a notification of its own: this one.",
	toldDone:                    "It is decided: what follows below is how the row stands.",
	toldAlready:                 "Somebody has decided the same before you. Nothing more was changed, and your reason was not recorded.",
	"pause":                     "Paused: nothing more goes to this provider until somebody resumes it.",
	"resume":                    "Resumed: messages pass.",
	toldOpen:                    "It was open already: messages pass.",
}

// done leads to a page that tells what was done. What happened never stands in the address, which anybody can write into a link: it
// is in a cookie that only this answer gives, for this page and session, told once and soon.
func (v *visit) done(address, word string) error {
	if tellings[word] == "" {
		panic("console: nothing is told for " + word)
	}
	path, _, _ := strings.Cut(address, "?")
	at := strconv.FormatInt(time.Now().Unix(), 10)
	v.setCookie(toldCookie, Path+path, strings.Join([]string{word, at, v.sealOf(word, at, Path+path)}, "."), int(toldFor.Seconds()))
	return v.redirect(address)
}

// told is the sentence of what was done just now, if this page is the one that it led to. A part of a page that is fetched again in
// the background leaves it to the page.
func (v *visit) told() string {
	cookie, err := v.r.Cookie(toldCookie)
	if err != nil || v.r.Method != http.MethodGet || v.r.Header.Get("HX-Request") != "" {
		return ""
	}
	v.setCookie(toldCookie, v.r.URL.Path, "", -1)
	word, rest, _ := strings.Cut(cookie.Value, ".")
	at, seal, _ := strings.Cut(rest, ".")
	if !hmac.Equal([]byte(seal), []byte(v.sealOf(word, at, v.r.URL.Path))) {
		return ""
	}
	seconds, err := strconv.ParseInt(at, 10, 64)
	if err != nil || time.Since(time.Unix(seconds, 0)) > toldFor {
		return ""
	}
	return tellings[word]
}

// sealOf binds what is told to the page, the session and this process.
func (v *visit) sealOf(word, at, path string) string {
	session, _ := v.login()
	m := hmac.New(sha256.New, v.c.seal[:])
	fmt.Fprintf(m, "%s\x00%s\x00%s\x00%s", word, at, path, session)
	return base64.RawURLEncoding.EncodeToString(m.Sum(nil))
}
