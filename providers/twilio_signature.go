package providers

import (
	"crypto/hmac"
	"crypto/sha1"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"hash"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"sendonce/ledger"
)

// The headers of Twilio's signatures (twilio.com/docs/usage/webhooks/webhooks-security and /webhook-shared-keys).
const (
	twilioSignature = "X-Twilio-Signature"
	twilioSettings  = "X-Twilio-Webhooks-Signature-Settings" // key=ID,algorithm=NAME; absent: the auth token and HMAC_SHA1
	twilioBodyHash  = "bodySHA256"                           // in the URL, where the body is no form
)

var twilioHashes = map[string]func() hash.Hash{"HMAC_SHA1": sha1.New, "HMAC_SHA256": sha256.New}

// signing is the secret and the hash that a request says it is signed with.
func (p *twilio) signing(r *ledger.Posted) (secret Secret, with func() hash.Hash, ok bool) {
	switch settings := http.Header(r.Header).Values(twilioSettings); {
	case len(settings) == 0:
		return p.settings.AuthToken, sha1.New, p.settings.AuthToken != ""
	case len(settings) == 1:
		key, algorithm := twilioSettingsOf(settings[0])
		secret, with = p.settings.SharedKeys[key], twilioHashes[algorithm]
		return secret, with, secret != "" && with != nil
	}
	return "", nil, false
}

// twilioSettingsOf reads the two values that the settings have; a name that stands twice, or any other name, makes them none: what
// it would change is unknown.
func twilioSettingsOf(header string) (key, algorithm string) {
	values := map[string]string{}
	parts := strings.Split(header, ",")
	for _, part := range parts {
		name, value, _ := strings.Cut(part, "=")
		values[strings.TrimSpace(name)] = strings.TrimSpace(value)
	}
	if len(parts) == 2 && len(values) == 2 {
		return values["key"], values["algorithm"]
	}
	return "", ""
}

// twilioSigns reports whether a signature is right: base64 of the HMAC over the URL and, by name, each parameter's name and values.
// Twilio signs the URL with the port or without, and documents neither.
func twilioSigns(secret Secret, with func() hash.Hash, address string, params url.Values, signature string) bool {
	var tail strings.Builder
	for _, name := range slices.Sorted(maps.Keys(params)) {
		values := slices.Compact(slices.Sorted(slices.Values(params[name]))) // as twilio-node does with one that is repeated
		for _, value := range values {
			tail.WriteString(name + value)
		}
	}
	right := false
	for _, form := range portForms(address) {
		mac := hmac.New(with, []byte(secret))
		mac.Write([]byte(form + tail.String()))
		right = hmac.Equal([]byte(signature), []byte(base64.StdEncoding.EncodeToString(mac.Sum(nil)))) || right
	}
	return right
}

// portForms are an address without a port, and with the one that it has or its scheme's. The rest stays byte for byte.
func portForms(address string) []string {
	scheme, rest, ok := strings.Cut(address, "://")
	if !ok {
		return nil
	}
	end := len(rest)
	if i := strings.IndexAny(rest, "/?#"); i >= 0 {
		end = i
	}
	host, port, path := rest[:end], ":80", rest[end:]
	if strings.EqualFold(scheme, "https") {
		port = ":443"
	}
	if i := strings.LastIndexByte(host, ':'); i > strings.LastIndexByte(host, ']') {
		host, port = host[:i], host[i:]
	}
	return []string{scheme + "://" + host + path, scheme + "://" + host + port + path}
}

// twilioForm reads the parameters of a form that is signed. Nothing parts URL, names and values in the signed text. So each pair
// has its =, as Twilio writes it, and no name begins with a digit, or those at the end of a reference could be moved into a name.
func twilioForm(body []byte) (url.Values, bool) {
	named := true
	for pair := range strings.SplitSeq(string(body), "&") {
		name, _, both := strings.Cut(pair, "=")
		named = named && both && strings.Trim(name[:min(1, len(name))], "0123456789%") != ""
	}
	params, err := url.ParseQuery(string(body))
	return params, named && err == nil
}

// bodyHash is what the URL says about a body that is no form; "": nothing.
func bodyHash(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return ""
	}
	if v := u.Query()[twilioBodyHash]; len(v) == 1 {
		return v[0]
	}
	return ""
}

// hashes reports whether text is the hex SHA-256 of a body.
func hashes(body []byte, text string) bool {
	sum := sha256.Sum256(body)
	return hmac.Equal([]byte(text), []byte(hex.EncodeToString(sum[:])))
}
