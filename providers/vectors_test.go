package providers

import (
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"os"
	"slices"
	"testing"
	"time"

	"sendonce/ledger"
)

// readVectors reads a file of testdata/vectors.
func readVectors[T any](t *testing.T, name string) (v T) {
	t.Helper()
	text, err := os.ReadFile("../testdata/vectors/" + name)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &v); err != nil {
		t.Fatal(err)
	}
	return v
}

// checkVector wants a request taken or refused, as its vector says.
func checkVector(t *testing.T, p ledger.Provider, name string, r ledger.Posted, valid bool) {
	t.Helper()
	receipts, err := p.(ledger.Reporter).Receipts(r)
	switch {
	case valid && errors.Is(err, ledger.ErrUnverified):
		t.Errorf("%s: refused", name)
	case !valid && (!errors.Is(err, ledger.ErrUnverified) || receipts != nil):
		t.Errorf("%s: %v and %d receipts, want it refused", name, err, len(receipts))
	}
}

func TestReceipts_TwilioVectors(t *testing.T) {
	type vector struct {
		Name, URL, Body, Signature string
		AuthToken                  string `json:"auth_token"`
		Settings                   string `json:"settings_header"`
		Secret                     string `json:"shared_key_secret"`
		Params                     map[string]any
		Valid                      bool
	}
	file := readVectors[struct {
		Form   []vector
		JSON   []vector `json:"json_body"`
		Shared []vector `json:"shared_key_hmac_sha256"`
	}](t, "twilio_signature.json")
	all := slices.Concat(file.Form, file.JSON, file.Shared)
	if len(all) < 14 {
		t.Fatalf("only %d vectors", len(all))
	}
	for _, v := range all {
		form := url.Values{}
		for name, value := range v.Params {
			switch value := value.(type) {
			case string:
				form.Set(name, value)
			case []any:
				for _, x := range value {
					form.Add(name, x.(string))
				}
			}
		}
		s := TwilioSettings{
			AccountSID: "AC0123456789abcdef0123456789abcdef", AuthToken: Secret(v.AuthToken), From: "+15005550006",
			SharedKeys: map[string]Secret{"webhooks_sharedkey_example": Secret(v.Secret)},
		}
		header := http.Header{twilioSignature: {v.Signature}}
		if v.Settings != "" {
			header.Set(twilioSettings, v.Settings)
			s.AuthToken = testKey
		} else {
			s.SharedKeys = nil
		}
		r := ledger.Posted{URL: v.URL, Header: header, Body: []byte(v.Body), At: testTime}
		if v.Body == "" {
			r.Body = []byte(form.Encode())
		}
		checkVector(t, build(t, &s, Common{}), v.Name, r, v.Valid)
	}
}

func TestReceipts_SendGridVectors(t *testing.T) {
	file := readVectors[struct {
		Key     string `json:"public_key_spki_der_base64"`
		Vectors []struct {
			Name, Timestamp, Signature string
			Payload                    []byte `json:"payload_base64"`
			Text                       string `json:"payload"`
			Valid                      bool
		}
	}](t, "sendgrid_event_webhook.json")
	p := build(t, &SendGridSettings{APIKey: testKey, Category: "c", WebhookPublicKey: file.Key}, Common{})
	for _, v := range file.Vectors {
		r := ledger.Posted{
			Header: http.Header{sendGridSignature: {v.Signature}, sendGridTimestamp: {v.Timestamp}},
			Body:   []byte(v.Text), At: time.Unix(1600112502, 0),
		}
		if v.Payload != nil {
			r.Body = v.Payload
		}
		checkVector(t, p, v.Name, r, v.Valid)
		if v.Valid {
			got, _ := p.(ledger.Reporter).Receipts(r)
			if len(got) != 1 || got[0].MessageID != "LRzXl_NHStOGhQ4kofSm_A" || got[0].Delivery != ledger.Undelivered || got[0].Kind != "dropped" {
				t.Errorf("%s: %+v", v.Name, got)
			}
		}
	}
}

func TestReceipts_StandardWebhooksVectors(t *testing.T) {
	file := readVectors[struct {
		Vectors []struct {
			Name, Secret, ID, Body, Signature string
			Timestamp                         int64
			Valid                             bool
		}
	}](t, "standard_webhooks.json")
	for _, v := range file.Vectors {
		p := build(t, &ResendSettings{APIKey: testKey, WebhookSecret: Secret(v.Secret)}, Common{})
		r := ledger.Posted{
			Header: http.Header{svixID: {v.ID}, svixTimestamp: {itoa(int(v.Timestamp))}, svixSignature: {v.Signature}},
			Body:   []byte(v.Body), At: time.Unix(v.Timestamp, 0),
		}
		checkVector(t, p, v.Name, r, v.Valid)
	}
}

func TestReceipts_VonageSMSVectors(t *testing.T) {
	file := readVectors[struct {
		Vectors []struct {
			Method, Secret, Sig string
			Params              map[string]string
		}
	}](t, "vonage_sms_sig.json")
	if len(file.Vectors) < 11 {
		t.Fatalf("only %d vectors", len(file.Vectors))
	}
	for _, v := range file.Vectors {
		v.Params["sig"] = v.Sig
		at, _ := signedTime(v.Params["timestamp"])
		form := url.Values{}
		for name, value := range v.Params {
			form.Set(name, value)
		}
		asJSON, _ := json.Marshal(v.Params)
		for _, body := range [][]byte{[]byte(form.Encode()), asJSON} {
			for method := range vonageMethods {
				s := VonageSettings{API: "sms", APIKey: "abcd1234", APISecret: testKey, From: "AcmeShip", SignatureSecret: Secret(v.Secret), SignatureMethod: method}
				checkVector(t, build(t, &s, Common{}), v.Method+" as "+method, ledger.Posted{Body: body, At: at}, method == v.Method)
			}
			s := VonageSettings{API: "sms", APIKey: "abcd1234", APISecret: testKey, From: "AcmeShip", SignatureSecret: Secret(v.Secret)}
			checkVector(t, build(t, &s, Common{}), v.Method, ledger.Posted{Body: body, At: at}, true)
		}
	}
}

func TestReceipts_VonageMessagesVectors(t *testing.T) {
	file := readVectors[struct {
		Secret  string `json:"signature_secret"`
		Vectors []struct {
			Name, Authorization, Body string
			Valid                     bool
		}
	}](t, "vonage_signed_webhook_jwt.json")
	s := VonageSettings{API: "messages", APIKey: "a1b2c3d", APISecret: testKey, From: "AcmeShip", SignatureSecret: Secret(file.Secret)}
	p := build(t, &s, Common{})
	for _, v := range file.Vectors {
		r := ledger.Posted{Header: http.Header{"Authorization": {v.Authorization}}, Body: []byte(v.Body), At: time.Unix(1767276000, 0)}
		checkVector(t, p, v.Name, r, v.Valid)
	}
}
