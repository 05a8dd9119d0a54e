package console

import "sync"

// How many streams may be open: each has a connection. A browser opens six at most to a service that it reaches by HTTP/1.1.
const (
	maxStreams   = 64
	keyStreams   = 32 // of one key, however many are logged in with it
	loginStreams = 12 // of one login
)

// streams counts the open ones, so that nobody has them all.
type streams struct {
	mu   sync.Mutex
	all  int
	open map[string]int // by login and by key
}

// enter takes a place for a login and its key, until leave is called. Without keys there is nobody to tell apart: both are "".
func (s *streams) enter(login, key string) (leave func(), ok bool) {
	login, key = "login "+login, "key "+key
	s.mu.Lock()
	defer s.mu.Unlock()
	named := key != "key "
	if s.all >= maxStreams || named && (s.open[key] >= keyStreams || s.open[login] >= loginStreams) {
		return nil, false
	}
	s.count(login, key, 1)
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.count(login, key, -1)
	}, true
}

// count adds to the counts; who has none left is forgotten.
func (s *streams) count(login, key string, n int) {
	s.all += n
	for _, name := range []string{login, key} {
		if s.open[name] += n; s.open[name] == 0 {
			delete(s.open, name)
		}
	}
}
