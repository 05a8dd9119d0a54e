package fake

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/hmac"
	"crypto/md5"
	"crypto/rand"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/sha512"
	"crypto/x509"
	"encoding/base64"
	"encoding/hex"
	"hash"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Keys are what the providers sign their receipts with.
type Keys struct {
	TwilioToken     string // "": what the message was sent with
	TwilioKeyID     string // "": no shared key; else every second receipt is signed with it in place of the token
	TwilioSharedKey string
	VonageSecret    string // "": the one that VonageSecret is
	VonageMethod    string // of the SMS API: md5hash, md5, sha1, sha256 or sha512; "": sha256
	SvixSecret      string // of Resend's webhook, with whsec_; "": the one that SvixSecret is
}

// The keys that sign where Keys says nothing. They are worth nothing elsewhere.
const (
	VonageSecret = "example-signature-secret"
	SvixSecret   = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw" // of the Standard Webhooks' test vectors
)

// eventKey signs SendGrid's events. It is made once in a process, so that no key stands in a file.
var eventKey = sync.OnceValue(func() *ecdsa.PrivateKey {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		panic(err)
	}
	return key
})

// EventKey is the public key of SendGrid's events, as its console shows it: base64 of the SubjectPublicKeyInfo.
func EventKey() string {
	der, err := x509.MarshalPKIXPublicKey(&eventKey().PublicKey)
	if err != nil {
		panic(err)
	}
	return base64.StdEncoding.EncodeToString(der)
}

// signTwilio is the signature over a URL and the parameters of a form: names in the order of their bytes, and of a repeated
// one each value once, in order. new is sha1.New, or sha256.New with a shared key.
func signTwilio(new func() hash.Hash, key, url string, form map[string][]string) string {
	mac := hmac.New(new, []byte(key))
	mac.Write([]byte(url))
	for _, name := range slices.Sorted(maps.Keys(form)) {
		values := slices.Clone(form[name])
		slices.Sort(values)
		for _, value := range slices.Compact(values) {
			mac.Write([]byte(name + value))
		}
	}
	return base64.StdEncoding.EncodeToString(mac.Sum(nil))
}

// vonageMethods are the keyed hashes that a signature of the SMS API may be made with, besides md5hash.
var vonageMethods = map[string]func() hash.Hash{"md5": md5.New, "sha1": sha1.New, "sha256": sha256.New, "sha512": sha512.New}

// signVonageSMS is the parameter sig of a receipt of the SMS API.
func signVonageSMS(method, secret string, form map[string]string) string {
	clean := strings.NewReplacer("&", "_", "=", "_")
	var base strings.Builder
	for _, name := range slices.Sorted(maps.Keys(form)) {
		if name != "sig" {
			base.WriteString("&" + name + "=" + clean.Replace(form[name]))
		}
	}
	if method == "md5hash" {
		sum := md5.Sum([]byte(base.String() + secret))
		return hex.EncodeToString(sum[:])
	}
	mac := hmac.New(vonageMethods[method], []byte(secret))
	mac.Write([]byte(base.String()))
	return strings.ToUpper(hex.EncodeToString(mac.Sum(nil)))
}

// signVonageJWT is the Authorization header of a receipt of the Messages API: a token (RFC 7519) with the hash of the body.
// claims is the JSON of the other claims, without its braces.
func signVonageJWT(secret, claims string, body []byte) string {
	sum := sha256.Sum256(body)
	encode := base64.RawURLEncoding.EncodeToString
	text := encode([]byte(`{"alg":"HS256","typ":"JWT"}`)) + "." +
		encode([]byte("{"+claims+`,"payload_hash":"`+hex.EncodeToString(sum[:])+`"}`))
	return "Bearer " + text + "." + hmacSHA256(secret, text)
}

// hmacSHA256 is a keyed hash as tokens write it.
func hmacSHA256(secret, text string) string {
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write([]byte(text))
	return base64.RawURLEncoding.EncodeToString(mac.Sum(nil))
}

// signEvents is the signature of SendGrid's event webhook: of the time as a text, followed by the body.
func signEvents(timestamp string, body []byte) string {
	sum := sha256.Sum256(append([]byte(timestamp), body...))
	signature, err := ecdsa.SignASN1(rand.Reader, eventKey(), sum[:])
	if err != nil {
		panic(err)
	}
	return base64.StdEncoding.EncodeToString(signature)
}

// signSvix is the signature of a webhook of Resend.
func signSvix(secret, id string, at time.Time, body []byte) string {
	key, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(secret, "whsec_"))
	if err != nil {
		panic("fake: the secret of the webhook is no base64")
	}
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte(id + "." + strconv.FormatInt(at.Unix(), 10) + "."))
	mac.Write(body)
	return "v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil))
}
