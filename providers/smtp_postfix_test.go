package providers

import (
	"crypto/x509"
	"encoding/pem"
	"flag"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// wire lets the tests run that start servers of others: make test-wire.
var wire = flag.Bool("wire", false, "run the tests against real servers of others")

// postfix is a mail server of its own, in a folder of its own, which passes everything on to a sink.
type postfix struct {
	startTLS, implicit string // addresses; the second knows AUTH LOGIN only
	log                string // path
}

// startPostfix starts one on free ports of loopback and stops it with the test.
func startPostfix(t *testing.T, sink string) postfix {
	t.Helper()
	if !*wire {
		t.Skip("SKIPPED: needs -wire (make test-wire)")
	}
	for _, program := range []string{"postfix", "saslpasswd2"} {
		if _, err := exec.LookPath(program); err != nil || os.Geteuid() != 0 {
			t.Skipf("SKIPPED: nothing was proven against a real mail server: it needs root and Debian's postfix and sasl2-bin (%v)", err)
		}
	}
	dir, err := os.MkdirTemp("", "mta") // short: paths of sockets have 108 bytes at most
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	p := postfix{startTLS: freeAddress(t), implicit: freeAddress(t), log: filepath.Join(dir, "log")}
	for _, sub := range []string{"", "conf", "spool", "data", "conf/sasl"} {
		mode := os.FileMode(0o755) // umask may be narrower than postfix likes
		path := filepath.Join(dir, sub)
		if err := os.MkdirAll(path, mode); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
	}
	writeCertificate(t, filepath.Join(dir, "conf", "cert.pem"))
	write := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, name), []byte(strings.ReplaceAll(text, "DIR", dir)), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write("conf/sasl/smtpd.conf", "pwcheck_method: auxprop\nauxprop_plugin: sasldb\nmech_list: PLAIN LOGIN\nsasldb_path: DIR/conf/sasl/db\n")
	write("conf/main.cf", fmt.Sprintf(mainCF, sink))
	write("conf/master.cf", fmt.Sprintf(masterCF, p.startTLS, p.implicit))
	password := exec.Command("saslpasswd2", "-c", "-p", "-f", filepath.Join(dir, "conf/sasl/db"), "-u", "mx.example.test", testMailUser)
	password.Stdin = strings.NewReader(testKey)
	run(t, password)
	if err := os.Chmod(filepath.Join(dir, "conf/sasl/db"), 0o644); err != nil {
		t.Fatal(err)
	}
	run(t, exec.Command("chown", "postfix", filepath.Join(dir, "data")))
	run(t, exec.Command("postfix", "-c", filepath.Join(dir, "conf"), "start"))
	t.Cleanup(func() {
		run(t, exec.Command("postfix", "-c", filepath.Join(dir, "conf"), "stop"))
		if t.Failed() {
			text, _ := os.ReadFile(p.log)
			t.Logf("the log of postfix:\n%s", text)
		}
	})
	return p
}

const mainCF = `compatibility_level = 3.6
queue_directory = DIR/spool
data_directory = DIR/data
maillog_file = DIR/log
maillog_file_prefixes = DIR
myhostname = mx.example.test
mydestination =
inet_interfaces = 127.0.0.1
inet_protocols = ipv4
relayhost = [127.0.0.1]:%s
alias_maps =
smtp_dns_support_level = disabled
smtputf8_enable = yes
message_size_limit = 200000
smtpd_tls_cert_file = DIR/conf/cert.pem
smtpd_tls_security_level = may
smtpd_tls_auth_only = yes
smtpd_sasl_auth_enable = yes
smtpd_sasl_local_domain = mx.example.test
smtpd_relay_restrictions = permit_sasl_authenticated, reject
smtpd_recipient_restrictions = check_recipient_access inline:{
  {gone@customer.example.test = 550 5.1.1 No such user},
  {later@customer.example.test = 450 4.2.1 Not now},
  {all@customer.example.test = 421 4.3.2 Closing} }
smtpd_sender_restrictions = check_sender_access inline:{{stranger@example.test = 553 5.7.1 Not yours}}
smtpd_delay_reject = no
`

const masterCF = `%s inet n - n - - smtpd
%s inet n - n - - smtpd -o smtpd_tls_wrappermode=yes -o { smtpd_sasl_mechanism_filter = !plain, static:rest }
postlog unix-dgram n - n - 1 postlogd
pickup unix n - n 60 1 pickup
cleanup unix n - n - 0 cleanup
qmgr unix n - n 300 1 qmgr
tlsmgr unix - - n 1000? 1 tlsmgr
rewrite unix - - n - - trivial-rewrite
bounce unix - - n - 0 bounce
defer unix - - n - 0 bounce
trace unix - - n - 0 bounce
verify unix - - n - 1 verify
flush unix n - n 1000? 0 flush
proxymap unix - - n - - proxymap
smtp unix - - n - - smtp
relay unix - - n - - smtp
showq unix n - n - - showq
error unix - - n - - error
retry unix - - n - - error
discard unix - - n - - discard
anvil unix - - n - 1 anvil
scache unix - - n - 1 scache
`

func run(t *testing.T, c *exec.Cmd) {
	t.Helper()
	if out, err := c.CombinedOutput(); err != nil {
		t.Errorf("%v: %v\n%s", c.Args, err, out)
	}
}

func freeAddress(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	return l.Addr().String()
}

func writeCertificate(t *testing.T, path string) {
	t.Helper()
	config, _ := testTLS()
	key, err := x509.MarshalPKCS8PrivateKey(config.Certificates[0].PrivateKey)
	if err != nil {
		t.Fatal(err)
	}
	text := append(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: key}),
		pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: config.Certificates[0].Certificate[0]})...)
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
}
