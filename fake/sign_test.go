package fake

import (
	"crypto/ecdsa"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"os"
	"strings"
	"testing"
	"time"
)

// vectors reads a file of signatures that others made.
func vectors(t *testing.T, name string, into any) {
	t.Helper()
	text, err := os.ReadFile("../testdata/vectors/" + name + ".json")
	if err == nil {
		err = json.Unmarshal(text, into)
	}
	if err != nil {
		t.Fatal(err)
	}
}

func TestSignTwilio(t *testing.T) {
	type vector struct {
		Name, URL, Signature string
		AuthToken            string `json:"auth_token"`
		SharedKeySecret      string `json:"shared_key_secret"`
		Params               map[string]any
		Valid                bool
	}
	var v struct {
		Form   []vector
		JSON   []vector `json:"json_body"`
		Shared []vector `json:"shared_key_hmac_sha256"`
	}
	vectors(t, "twilio_signature", &v)
	form := func(params map[string]any) map[string][]string {
		out := map[string][]string{}
		for name, value := range params {
			switch value := value.(type) {
			case string:
				out[name] = []string{value}
			case []any:
				for _, one := range value {
					out[name] = append(out[name], one.(string))
				}
			}
		}
		return out
	}
	n := 0
	for _, c := range append(v.Form, v.JSON...) {
		if strings.Contains(c.Name, "made without it") { // Twilio signs either form of a URL with a port
			c.URL = strings.Replace(c.URL, ":1234", "", 1)
		}
		if got := signTwilio(sha1.New, c.AuthToken, c.URL, form(c.Params)); (got == c.Signature) != c.Valid {
			t.Errorf("%s: signed %s", c.Name, got)
		}
		n++
	}
	for _, c := range v.Shared {
		if got := signTwilio(sha256.New, c.SharedKeySecret, c.URL, form(c.Params)); got != c.Signature {
			t.Errorf("%s: signed %s", c.Name, got)
		}
		n++
	}
	if n < 12 {
		t.Errorf("only %d vectors", n)
	}
}

func TestSignVonageSMS(t *testing.T) {
	var v struct {
		Vectors []struct {
			Method, Secret, Sig string
			Params              map[string]string
		}
	}
	vectors(t, "vonage_sms_sig", &v)
	for _, c := range v.Vectors {
		if got := signVonageSMS(c.Method, c.Secret, c.Params); got != c.Sig {
			t.Errorf("%s of %v: signed %s, want %s", c.Method, c.Params, got, c.Sig)
		}
	}
	if len(v.Vectors) < 9 {
		t.Errorf("only %d vectors", len(v.Vectors))
	}
}

func TestSignVonageJWT(t *testing.T) {
	var v struct {
		Secret  string `json:"signature_secret"`
		Vectors []struct {
			Name, Authorization, Body string
		}
	}
	vectors(t, "vonage_signed_webhook_jwt", &v)
	c := v.Vectors[0]
	_, rest, _ := strings.Cut(c.Authorization, ".")
	payload, _, _ := strings.Cut(rest, ".")
	claims, err := base64.RawURLEncoding.DecodeString(payload)
	if err != nil {
		t.Fatal(err)
	}
	// The order of the claims is anybody's; the vector has the hash of the body in the middle.
	head, tail, _ := strings.Cut(string(claims), `,"payload_hash":"`)
	_, tail, _ = strings.Cut(tail, `"`)
	ours := signVonageJWT(v.Secret, head[1:]+strings.TrimSuffix(tail, "}"), []byte(c.Body))
	signed := func(authorization string) (parts []string, members map[string]any) {
		parts = strings.Split(strings.TrimPrefix(authorization, "Bearer "), ".")
		text, err := base64.RawURLEncoding.DecodeString(parts[1])
		if err == nil {
			err = json.Unmarshal(text, &members)
		}
		if err != nil || len(parts) != 3 {
			t.Fatalf("%s: %v", authorization, err)
		}
		return parts, members
	}
	got, gotClaims := signed(ours)
	want, wantClaims := signed(c.Authorization)
	if got[0] != want[0] || gotClaims["payload_hash"] != wantClaims["payload_hash"] || len(gotClaims) != len(wantClaims) {
		t.Errorf("%s: signed %v, want %v", c.Name, gotClaims, wantClaims)
	}
	// The same claims in the same order must bring the same signature.
	if sum := hmacSHA256(v.Secret, want[0]+"."+want[1]); sum != want[2] || hmacSHA256(v.Secret, got[0]+"."+got[1]) != got[2] {
		t.Errorf("%s: the signature is %s, want %s", c.Name, sum, want[2])
	}
}

func TestSignEvents(t *testing.T) {
	var v struct {
		PublicKey string `json:"public_key_spki_der_base64"`
		Vectors   []struct {
			Name, Timestamp, Payload, Signature string
			Valid                               bool
		}
	}
	vectors(t, "sendgrid_event_webhook", &v)
	verifies := func(key, timestamp, body, signature string) bool {
		der, err := base64.StdEncoding.DecodeString(key)
		if err != nil {
			t.Fatal(err)
		}
		public, err := x509.ParsePKIXPublicKey(der)
		if err != nil {
			t.Fatal(err)
		}
		raw, err := base64.StdEncoding.DecodeString(signature)
		sum := sha256.Sum256([]byte(timestamp + body))
		return err == nil && ecdsa.VerifyASN1(public.(*ecdsa.PublicKey), sum[:], raw)
	}
	for _, c := range v.Vectors {
		if verifies(v.PublicKey, c.Timestamp, c.Payload, c.Signature) != c.Valid {
			t.Errorf("%s: this test does not verify as SendGrid does", c.Name)
		}
		ours := signEvents(c.Timestamp, []byte(c.Payload))
		if !verifies(EventKey(), c.Timestamp, c.Payload, ours) || verifies(EventKey(), c.Timestamp, c.Payload+" ", ours) {
			t.Errorf("%s: the fake does not sign as SendGrid does", c.Name)
		}
	}
}

func TestSignSvix(t *testing.T) {
	var v struct {
		Vectors []struct {
			Name, Secret, ID, Body, Signature string
			Timestamp                         int64
			Valid                             bool
		}
	}
	vectors(t, "standard_webhooks", &v)
	n := 0
	for _, c := range v.Vectors {
		got := signSvix(c.Secret, c.ID, time.Unix(c.Timestamp, 0), []byte(c.Body))
		if strings.Contains(" "+c.Signature+" ", " "+got+" ") != c.Valid {
			t.Errorf("%s: signed %s", c.Name, got)
		}
		n++
	}
	if n < 5 {
		t.Errorf("only %d vectors", n)
	}
}
