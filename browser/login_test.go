package browser

import (
	"testing"
)

func TestLogin(t *testing.T) {
	s := serve(t)
	w := s.open("")
	w.expect("403")
	w.visit("/waiting?state=held")
	w.has("h1", "Log in")
	w.fill("#key", "key-wrong")
	w.click("main button")
	w.has("[role=alert]", "")
	w.fill("#key", "key-operator")
	w.press("\r")
	w.has("h1", "Waiting")
	w.has(".who", "Key operator")
	w.click(".who button")
	w.has("h1", "Log in")
}
