package providers

import (
	"encoding/json"
	"os"
	"testing"
	"time"
)

// discovery is what counts in Google's description of an API.
type discovery struct {
	Schemas map[string]*schema `json:"schemas"`
}

type schema struct {
	Ref                  string             `json:"$ref"`
	Type                 string             `json:"type"`
	Properties           map[string]*schema `json:"properties"`
	AdditionalProperties *schema            `json:"additionalProperties"`
}

// fits reports every field that the description does not have, or has as another type.
func (d *discovery) fits(t *testing.T, path string, s *schema, value any) {
	t.Helper()
	if s.Ref != "" {
		s = d.Schemas[s.Ref]
	}
	kind := "none of these"
	switch v := value.(type) {
	case string:
		kind = "string"
	case bool:
		kind = "boolean"
	case map[string]any:
		kind = "object"
		for name, inner := range v {
			of := s.Properties[name]
			if of == nil {
				of = s.AdditionalProperties
			}
			if of == nil {
				t.Errorf("%s.%s is no field of Google's description", path, name)
				continue
			}
			d.fits(t, path+"."+name, of, inner)
		}
	}
	if s.Type != kind && s.Type != "any" {
		t.Errorf("%s is %T, and Google's description says %s", path, value, s.Type)
	}
}

// Every shape of request that the adapter makes has fields and types of Google's own description.
func TestFCM_RequestsFitGooglesDescription(t *testing.T) {
	text, err := os.ReadFile("../testdata/specs/fcm_v1_discovery.json")
	if err != nil {
		t.Fatal(err)
	}
	var d discovery
	if err := json.Unmarshal(text, &d); err != nil || d.Schemas["SendMessageRequest"] == nil {
		t.Fatalf("no description: %v", err)
	}
	p := newFCM(t, Common{})
	for _, message := range []string{`{"title":"t","body":"b","data":{"a":"b"}}`, `{"title":"t"}`, `{"body":"b"}`, `{"data":{"a":"b"}}`} {
		for _, expires := range []time.Time{{}, testTime.Add(time.Hour)} {
			o := pushOrder(message)
			o.ExpiresAt = expires
			r, err := p.Build(o)
			if err != nil {
				t.Fatal(err)
			}
			var body any
			if err := json.Unmarshal(r.Body(), &body); err != nil {
				t.Fatal(err)
			}
			d.fits(t, "request", d.Schemas["SendMessageRequest"], body)
		}
	}
}
