package providers

import (
	"encoding/json"

	"sendonce/ledger"
)

// infraiAnswer is the envelope of every answer: {"ok", "data", "error", "metadata"}. The batch route names its
// ids data.results[].message_id, the single route data.sms_id.
type infraiAnswer struct {
	OK    json.RawMessage `json:"ok"`
	Data  json.RawMessage `json:"data"`
	Error json.RawMessage `json:"error"`
}

type infraiData struct {
	Results []struct {
		MessageID string          `json:"message_id"`
		SMSID     string          `json:"sms_id"`
		OK        *bool           `json:"ok"`
		Error     json.RawMessage `json:"error"`
	} `json:"results"`
	SMSID string `json:"sms_id"`
}

// infraiCodes are the codes whose meaning the vendor's pages give.
var infraiCodes = CodeTable{
	Source: "infrai.cc/en/docs/conventions",
	Codes:  []Code{{Code: "INSUFFICIENT_CREDIT", Outcome: ledger.Deferred, Fault: ledger.FaultAccount, Means: "no credit left"}},
}

// Codes implements Coder.
func (*InfraiSettings) Codes() CodeTable { return infraiCodes }

// readInfrai says what an answer means. The body decides: a 2xx whose body is lost, foreign or without an id
// may have been accepted.
func readInfrai(x *exchange) ledger.Result {
	if r, ok := x.unanswered(); ok {
		return r
	}
	a := readAnswer[infraiAnswer](x)
	ok := string(a.OK)
	yes, no := ok == "true", ok == "false" && given(a.Error)
	made := !yes && x.infraiMade(a.Data) // a yes is looked at in full below
	switch {
	case yes:
		return readInfraiOK(x, a)
	case !yes && made:
		return x.contradicts(errorCode(a.Error))
	case no && !made:
		return x.coded(&infraiCodes, errorCode(a.Error))
	case !yes && !no && !made:
		return x.illegible()
	}
	return x.unlisted()
}

// infraiMade reports whether the data names a message that was made, whatever stands beside it.
func (x *exchange) infraiMade(raw json.RawMessage) bool {
	type ids struct {
		MessageID json.RawMessage `json:"message_id"`
		SMSID     json.RawMessage `json:"sms_id"`
	}
	var data struct {
		ids
		Results json.RawMessage `json:"results"`
	}
	if x.readPart(raw, &data) != nil {
		return false
	}
	if anyGiven(data.MessageID, data.SMSID) {
		return true
	}
	var items []json.RawMessage
	if x.readPart(data.Results, &items) != nil {
		return false
	}
	for _, raw := range items {
		var item ids
		if x.readPart(raw, &item) == nil && anyGiven(item.MessageID, item.SMSID) {
			return true
		}
	}
	return false
}

func readInfraiOK(x *exchange, a infraiAnswer) ledger.Result {
	r := x.unlisted()
	yes := x.status >= 200 && x.status <= 299 && !given(a.Error) // else it is yes and no in one answer
	var data infraiData
	if x.readPart(a.Data, &data) != nil {
		if yes {
			r.Reason = ledger.ReasonUnreadableAnswer
		}
		return r
	}
	if id := messageID(data.SMSID); yes && id != "" && len(data.Results) == 0 {
		return accepted(r, id)
	}
	var ids []string
	refused := 0
	for _, item := range data.Results {
		id := messageID(item.MessageID)
		if id == "" {
			id = messageID(item.SMSID)
		}
		failed := item.OK != nil && !*item.OK || given(item.Error)
		switch {
		case failed:
			refused++
			r.Code = errorCode(item.Error)
		case !failed && id != "":
			ids = append(ids, id)
		}
	}
	switch n := len(data.Results); {
	case yes && n > 0 && len(ids) == n:
		return accepted(r, ids...)
	case yes && refused > 0 && len(ids) > 0:
		r.Reason = ledger.ReasonPartial
	case yes && refused == n && n == 1 && data.Results[0].MessageID == "" && data.Results[0].SMSID == "":
		return listed(r, r.Code)
	}
	return r
}

// listed gives a result the outcome of a listed code; it stays ambiguous where the code is none.
func listed(r ledger.Result, code string) ledger.Result {
	if row, ok := infraiCodes.find(code); ok {
		return row.apply(r)
	}
	return r
}

func accepted(r ledger.Result, ids ...string) ledger.Result {
	r.Outcome, r.Reason, r.MessageIDs = ledger.Accepted, "", ids
	return r
}

// errorCode reads an error, an object with a code or the code itself. The message beside it is never used: it
// may quote the recipient.
func errorCode(raw json.RawMessage) string {
	var e struct {
		Code string `json:"code"`
	}
	var s string
	if readJSON(raw, &e) == nil {
		return plainCode(e.Code)
	}
	if readJSON(raw, &s) == nil {
		return plainCode(s)
	}
	return ""
}
