package api

import (
	"bufio"
	"bytes"
	"fmt"
	"log/slog"
	"net"
	"net/http/httptest"
	"strings"
	"testing"
)

// Only the exact key passes, and every other header gets one and the same answer. (F36)
func TestAuth_OnlyTheExactKey(t *testing.T) {
	base := serve(t, newStub(), Settings{Keys: testKeys})
	url := base + "/v1/notifications"
	for _, line := range []string{"Authorization: Bearer key-reader", "Authorization: bearer key-reader", "Authorization: BEARER key-reader"} {
		if got := do(t, "GET", url, "", line); got.status != 200 {
			t.Errorf("%s: %d", line, got.status)
		}
	}
	want := do(t, "GET", url, "")
	if want.status != 401 || want.problem(t).Code != codeUnauthorized || !strings.HasPrefix(want.header.Get("WWW-Authenticate"), "Bearer") {
		t.Fatalf("no key: %d %s", want.status, want.body)
	}
	for _, lines := range [][]string{
		{"Authorization: Bearer key-readerx"}, {"Authorization: Bearer key-"}, {"Authorization: Bearer "}, {"Authorization: Bearer"},
		{"Authorization: Bearer    "}, {"Authorization: Bearer KEY-READER"}, {"Authorization: Bearer Bearer key-reader"},
		{"Authorization: Bearer  key-reader"}, {"Authorization: Bearer key-reader key-reader"}, {"Authorization: Bearer key-reader,"},
		{"Authorization: Bearer\tkey-reader"}, {"Authorization: Basic key-reader"}, {"Authorization: key-reader"}, {"Authorization: "},
		{"Authorization: Bearer key-reader", "Authorization: Bearer key-reader"}, {"Authorization: Bearer key-reader", "Authorization: Bearer x"},
		{"X-Api-Key: key-reader"}, {"Cookie: key=key-reader"}, {"Proxy-Authorization: Bearer key-reader"},
	} {
		if got := do(t, "GET", url, "", lines...); got.status != 401 || !bytes.Equal(got.body, want.body) {
			t.Errorf("%q: %d %s", lines, got.status, got.body)
		}
	}
	for _, query := range []string{"api_key", "key", "token", "access_token", "authorization"} {
		if got := do(t, "GET", url+"?"+query+"=key-reader", ""); got.status != 401 || !bytes.Equal(got.body, want.body) {
			t.Errorf("key in %s: %d %s", query, got.status, got.body)
		}
	}
}

// Two keys of one name are the rotation of one caller: both work. (F07)
func TestAuth_TwoKeysWhileOneReplacesTheOther(t *testing.T) {
	older, newer := keyOf("older", new("shop"), RoleSend), keyOf("newer", new("shop"), RoleSend)
	older.Name, newer.Name = "shop", "shop"
	s := newStub()
	base := serve(t, s, Settings{Keys: []AccessKey{older, newer}})
	for _, key := range []string{"older", "newer"} {
		if got := do(t, "POST", base+"/v1/notifications", claimOf(`"event_id":"evt_1"`), bearer(key)); got.status != 202 {
			t.Errorf("%s: %d", key, got.status)
		}
	}
	if s.events[0].Source != s.events[1].Source || s.events[0].Caller != "shop" || s.events[1].Caller != "shop" {
		t.Errorf("the keys claim differently: %+v", s.events)
	}
}

// A caller without a key, or with too large a body, is told so before a byte of its body is asked for. (F36)
func TestAuth_BeforeTheBody(t *testing.T) {
	srv := httptest.NewServer(New(newStub(), Settings{Keys: testKeys}, quiet()).Handler())
	defer srv.Close()
	for _, c := range []struct {
		key    string
		length int
		status int
	}{{"nobody", 1000, 401}, {"reader", 1000, 403}, {"sender", 256<<10 + 1, 413}, {"sender", 1000, 100}} {
		conn, err := net.Dial("tcp", srv.Listener.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(conn, "POST /v1/notifications HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n%s\r\nContent-Length: %d\r\nExpect: 100-continue\r\n\r\n",
			bearer(c.key), c.length)
		line, err := bufio.NewReader(conn).ReadString('\n')
		if err != nil || !strings.HasPrefix(line, fmt.Sprintf("HTTP/1.1 %d ", c.status)) {
			t.Errorf("%+v: first line %q, %v", c, line, err)
		}
		conn.Close()
	}
}

// What a key may not know is a programmer's mistake or the configuration's: New refuses it.
func TestAuth_BadSettingsPanic(t *testing.T) {
	for what, s := range map[string]Settings{
		"empty key":  {Keys: []AccessKey{{Name: "a", SHA256: [32]byte{0xe3, 0xb0, 0xc4, 0x42, 0x98, 0xfc, 0x1c, 0x14, 0x9a, 0xfb, 0xf4, 0xc8, 0x99, 0x6f, 0xb9, 0x24, 0x27, 0xae, 0x41, 0xe4, 0x64, 0x9b, 0x93, 0x4c, 0xa4, 0x95, 0x99, 0x1b, 0x78, 0x52, 0xb8, 0x55}, Roles: []Role{RoleSend}}}},
		"no sum":     {Keys: []AccessKey{{Name: "a", Roles: []Role{RoleSend}}}},
		"no role":    {Keys: []AccessKey{keyOf("a", nil)}},
		"other role": {Keys: []AccessKey{keyOf("a", nil, "admin")}},
		"no name":    {Keys: []AccessKey{keyOf("", nil, RoleSend)}},
		"no URL":     {PublicURL: "notify.example.test"},
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s was accepted", what)
				}
			}()
			New(newStub(), s, quiet())
		}()
	}
}

// A caller of one source sees nothing of another: what it may not see is what does not exist, byte for byte. (F07)
func TestSource_OtherRowsDoNotExist(t *testing.T) {
	s := newStub()
	base := serve(t, s, Settings{Keys: testKeys})
	for _, r := range New(s, Settings{}, quiet()).echo.Routes() {
		if !strings.Contains(r.Path, ":id") {
			continue
		}
		body := bodies[r.Method+" "+r.Path]
		ask := func(id, key string, header ...string) answer {
			path := strings.Replace(r.Path, ":id", id, 1)
			return do(t, r.Method, base+path, body, append(header, bearer(key))...)
		}
		for _, match := range [][]string{nil, {`If-Match: "3"`}, {`If-Match: "9"`}} {
			want := ask(unknown.String(), "shop", match...)
			if want.status != 404 || want.problem(t).Code != codeNoNotification {
				t.Fatalf("%s with an unknown id: %d %s", r.Path, want.status, want.body)
			}
			for _, id := range []string{rowA.String(), strings.ToUpper(rowA.String()), "{" + rowA.String() + "}",
				strings.ReplaceAll(rowA.String(), "-", ""), "7", "urn:uuid:" + rowA.String(), rowA.String() + "%00", "%ff"} {
				who := "shop" // even the row's own caller finds it under one form of its id only
				if id == rowA.String() {
					who = "billing"
				}
				got := ask(id, who, match...)
				got.header.Del("Date")
				want.header.Del("Date")
				if got.status != 404 || !bytes.Equal(got.body, want.body) || fmt.Sprint(got.header) != fmt.Sprint(want.header) {
					t.Errorf("%s %s: %d %s %v", r.Path, id, got.status, got.body, got.header)
				}
			}
		}
	}
	if s.seen() != 0 {
		t.Errorf("%d foreign requests changed something", s.seen())
	}
}

// A bound key claims, lists, settles and looks keys up in its own source only. (F07)
func TestSource_BoundKey(t *testing.T) {
	s := newStub()
	base := serve(t, s, Settings{Keys: testKeys})
	const bulk = `{"action":"cancel","reason":"x","dry_run":true,"filter":{"state":"held"%s}}`
	for _, c := range []struct {
		method, path, body string
		source             func() string
	}{
		{"POST", "/v1/notifications", claimOf(`"event_id":"evt_1"%s`), func() string { return s.events[len(s.events)-1].Source }},
		{"GET", "/v1/notifications?state=sent%s", "", func() string { return *s.filter.Source }},
		{"GET", "/v1/keys?event_id=e%s", "", func() string { return s.events[len(s.events)-1].Source }},
		{"POST", "/v1/settlements", bulk, func() string { return *s.bulks[len(s.bulks)-1].Filter.Source }},
	} {
		ask := func(inQuery, inBody string) answer {
			path, body := strings.Replace(c.path, "%s", inQuery, 1), strings.Replace(c.body, "%s", inBody, 1)
			return do(t, c.method, base+path, body, bearer("billing"))
		}
		for _, own := range []answer{ask("", ""), ask("&source=billing", `,"source":"billing"`)} {
			if own.status >= 300 {
				t.Fatalf("%s: %d %s", c.path, own.status, own.body)
			}
			if got := c.source(); got != "billing" {
				t.Errorf("%s: the ledger was asked for source %q", c.path, got)
			}
		}
		for _, other := range []answer{ask("&source=shop", `,"source":"shop"`), ask("&source=", `,"source":""`)} {
			if other.status != 403 || other.problem(t).Code != codeSourceNotAllowed {
				t.Errorf("%s with another source: %d %s", c.path, other.status, other.body)
			}
		}
	}
}

// Without keys the server is for this machine: a name that was pointed at it is refused, and so is whatever a
// browser sends for a foreign page, reading included. With keys the host may be any, and foreign pages may
// not write. (F35)
func TestGuard_HostAndOrigin(t *testing.T) {
	local, open := serve(t, newStub(), Settings{}), serve(t, newStub(), Settings{Keys: testKeys, PublicURL: "https://notify.example.test/base"})
	host := strings.TrimPrefix(local, "http://")
	const code421, code403 = codeHostNotAllowed, codeCrossSite
	for _, c := range []struct {
		header      string
		get, post   string // codes without keys
		kGet, kPost string // codes with keys
	}{
		{"X: y", "", "", "", ""},
		{"Host: localhost", "", "", "", ""}, {"Host: LocalHost:8484", "", "", "", ""}, {"Host: 127.0.0.1:1", "", "", "", ""},
		{"Host: 127.8.9.1", "", "", "", ""}, {"Host: [::1]:8484", "", "", "", ""}, {"Host: [::1]", "", "", "", ""},
		{"Host: evil.example.test", code421, code421, "", ""}, {"Host: localhost.evil.example.test", code421, code421, "", ""},
		{"Host: 127.0.0.1.evil.example.test", code421, code421, "", ""}, {"Host: 10.0.0.1", code421, code421, "", ""},
		{"Host: 0.0.0.0:8484", code421, code421, "", ""}, {"Host: localhost.", code421, code421, "", ""}, {"Host: [::]:8484", code421, code421, "", ""},
		{"Sec-Fetch-Site: cross-site", code403, code403, "", code403}, {"Sec-Fetch-Site: same-site", code403, code403, "", code403},
		{"Sec-Fetch-Site: same-origin", "", "", "", ""}, {"Sec-Fetch-Site: none", "", "", "", ""},
		{"Origin: https://evil.example.test", code403, code403, "", code403}, {"Origin: null", code403, code403, "", code403},
		{"Origin: https://notify.example.test", code403, code403, "", ""}, {"Origin: http://" + host, "", "", "", code403},
	} {
		for _, side := range []struct {
			base, get, post string
		}{{local, c.get, c.post}, {open, c.kGet, c.kPost}} {
			path := "/v1/notifications"
			check := func(method, want string, got answer) {
				code := ""
				if got.status >= 300 {
					code = got.problem(t).Code
				}
				if code != want {
					t.Errorf("%s with %q, keys %v: %q, want %q", method, c.header, side.base == open, code, want)
				}
			}
			check("GET", side.get, do(t, "GET", side.base+path, "", c.header, bearer("shop")))
			check("POST", side.post, do(t, "POST", side.base+path, claimOf(`"event_id":"evt_1"`), c.header, bearer("shop")))
		}
	}
}

// Whoever is turned away at the door leaves a log line, but a page that tries for hours does not fill a disk. (F39)
func TestGuard_RefusalsAreLoggedButBounded(t *testing.T) {
	var log bytes.Buffer
	h := New(newStub(), Settings{}, slog.New(slog.NewTextHandler(&log, nil))).Handler()
	for range 1000 {
		r := httptest.NewRequest("POST", "http://evil.example.test/v1/notifications", strings.NewReader("{}"))
		h.ServeHTTP(httptest.NewRecorder(), r)
	}
	if lines := strings.Count(log.String(), "\n"); lines < 1 || lines > 50 {
		t.Errorf("%d log lines for 1000 refusals", lines)
	}
}

// claimOf is the body of a claim with some members of its own.
func claimOf(members string) string {
	return `{"channel":"sms","recipient":"+14155550142","message":{"text":"Hello."},` + members + `}`
}
