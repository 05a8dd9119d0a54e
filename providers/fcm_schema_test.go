package providers

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"sendonce/ledger"
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

// misfits lists every field that the description does not have, or has as another type.
func (d *discovery) misfits(path string, s *schema, value any) (out []string) {
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
				out = append(out, path+"."+name+" is no field")
				continue
			}
			out = append(out, d.misfits(path+"."+name, of, inner)...)
		}
	}
	if s.Type != kind && s.Type != "any" {
		out = append(out, fmt.Sprintf("%s is %T and not %s", path, value, s.Type))
	}
	return out
}

// Every form of request that the adapter makes has fields and types of Google's own description.
func TestWire_FCMRequestsFitGooglesDescription(t *testing.T) {
	var d discovery
	readSpec(t, "fcm_v1_discovery.json", &d)
	if d.Schemas["SendMessageRequest"] == nil {
		t.Fatal("the description lacks SendMessageRequest")
	}
	o := pushOrder("")
	longKey := o
	longKey.WireKey = strings.Repeat("k", 128) // a key that the caller brought
	adapters := map[string]ledger.Provider{"": newFCM(t, Common{})}
	pushes := map[string]string{
		"all": `{"title":"t","body":"b","data":{"a":"b"}}`, "title": `{"title":"Grüße 👍"}`, "body": `{"body":"שלום"}`, "data": `{"data":{"a":"b","ü":""}}`,
	}
	forms := append(cross(adapters, o, pushes), cross(adapters, longKey, pushes)...)
	request, findings := d.Schemas["SendMessageRequest"], 0
	for _, f := range forms {
		var body any
		if err := json.Unmarshal(requestOf(t, f).body, &body); err != nil {
			t.Fatal(err)
		}
		if m := d.misfits("request", request, body); len(m) > 0 {
			findings += len(m)
			t.Errorf("%s: %q", f.name, m)
		}
	}
	found := 0
	wrong := []string{`{"message":{"dedupe_key":"x"}}`, `{"message":{"token":1}}`, `{"message":{"data":{"a":{}}}}`, `{"messages":{}}`}
	for _, text := range wrong {
		var body any
		if err := json.Unmarshal([]byte(text), &body); err != nil {
			t.Fatal(err)
		}
		if len(d.misfits("request", request, body)) == 0 {
			t.Errorf("nothing is found wrong with %s", text)
			continue
		}
		found++
	}
	t.Logf("%-26s %4d forms of request, %d findings; %d of %d wrong requests found", "fcm_v1_discovery", len(forms), findings, found, len(wrong))
}
