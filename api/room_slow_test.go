package api

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// Who announces a large body and does not send it kept every other large one out, and an event whose length was not announced waited
// in line with them.
func TestRoom_WhatDoesNotComeKeepsNobodyOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := New(newStub(), Settings{Keys: testKeys}, quiet())
		begin := func(path string, announced int64, body io.Reader) <-chan int {
			r := httptest.NewRequest("POST", "http://localhost"+path, body)
			r.ContentLength = announced
			r.Header.Set("Content-Type", "application/json")
			r.Header.Set("Authorization", strings.TrimPrefix(bearer("shop"), "Authorization: "))
			status := make(chan int, 1)
			go func() {
				defer func() {
					if recover() == http.ErrAbortHandler {
						status <- 0
					}
				}()
				w := httptest.NewRecorder()
				a.Handler().ServeHTTP(w, r)
				status <- w.Code
			}()
			synctest.Wait()
			return status
		}
		ends := make([]func() error, 0, 3)
		for _, sent := range []int{0, 1, smallBody} { // the third one has sent all that needs no room
			body, caller := io.Pipe()
			ends = append(ends, caller.Close)
			begin("/v1/notifications/batch", a.limits.Batch, body)
			if _, err := caller.Write([]byte(batchOf(item("evt_slow")) + strings.Repeat(" ", smallBody))[:sent]); err != nil {
				t.Fatal(err)
			}
		}
		synctest.Wait()
		expect := func(what string, status <-chan int, want int) {
			t.Helper()
			select {
			case got := <-status:
				if got != want {
					t.Errorf("%s: %d, want %d", what, got, want)
				}
			default:
				t.Errorf("%s waits", what)
			}
		}
		batch := batchOf(item("evt_1"))
		expect("a batch beside them", begin("/v1/notifications/batch", int64(len(batch)), strings.NewReader(batch)), 200)
		large := claimOf(`"event_id":"evt_2"`) + strings.Repeat(" ", 2*smallBody)
		expect("a large event beside them", begin("/v1/notifications", int64(len(large)), strings.NewReader(large)), 202)
		if !a.room.free.TryAcquire(a.room.size) {
			t.Fatal("there is no room where nobody has more to work on")
		}
		expect("a small event of unknown length where there is no room", begin("/v1/notifications", -1, strings.NewReader(claimOf(`"event_id":"evt_3"`))), 202)
		a.room.free.Release(a.room.size)
		for _, end := range ends {
			_ = end()
		}
		synctest.Wait()
		if !a.room.free.TryAcquire(a.room.size) {
			t.Error("somebody who left has room still")
		}
	})
}

// A provider that asks first whether it may send is told no at once; it was let wait for as long as a body may take.
func TestReceipts_TooLargeBeforeTheBody(t *testing.T) {
	srv := httptest.NewServer(New(newStub(), Settings{Keys: testKeys, PublicURL: "https://notify.example.test"}, quiet()).Handler())
	defer srv.Close()
	conn, err := net.Dial("tcp", srv.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if err := conn.SetDeadline(time.Now().Add(10 * time.Second)); err != nil {
		t.Fatal(err)
	}
	fmt.Fprint(conn, "POST /v1/receipts/mail HTTP/1.1\r\nHost: notify.example.test\r\nContent-Length: 9000000\r\nExpect: 100-continue\r\n\r\n")
	if line, err := bufio.NewReader(conn).ReadString('\n'); err != nil || !strings.HasPrefix(line, "HTTP/1.1 413 ") {
		t.Errorf("first line %q, %v", line, err)
	}
}
