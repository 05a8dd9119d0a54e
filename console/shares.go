package console

import "sync"

// How many streams may be open: each has a connection. A browser opens six at most to a service that it reaches by HTTP/1.1.
const (
	maxStreams   = 64
	keyStreams   = 32 // of one key, however many are logged in with it
	loginStreams = 12 // of one login
)

// shares counts what is open, so that nobody has it all.
type shares struct {
	most, ofKey, ofLogin int // may be open

	mu   sync.Mutex
	all  int
	open map[string]int // by login and by key
}

func newShares(most, ofKey, ofLogin int) shares {
	return shares{most: most, ofKey: ofKey, ofLogin: ofLogin, open: map[string]int{}}
}

// enter takes a place for a login and its key, until leave is called. Without keys there is nobody to tell apart: both are "".
func (s *shares) enter(login, key string) (leave func(), ok bool) {
	login, key = "login "+login, "key "+key
	s.mu.Lock()
	defer s.mu.Unlock()
	named := key != "key "
	if s.all >= s.most || named && (s.open[key] >= s.ofKey || s.open[login] >= s.ofLogin) {
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
func (s *shares) count(login, key string, n int) {
	s.all += n
	for _, name := range []string{login, key} {
		if s.open[name] += n; s.open[name] == 0 {
			delete(s.open, name)
		}
	}
}
