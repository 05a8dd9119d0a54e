package providers

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"net"
	"syscall"

	"sendonce/ledger"
)

// plainError says in one line what went wrong, in words of our own: the texts of net, tls and http name hosts,
// addresses, URLs and bytes of the answer, and so recipients and secrets.
func plainError(phase ledger.Phase, err error) string {
	return map[ledger.Phase]string{
		ledger.NotWritten: "not sent: ",
		ledger.Written:    "no answer: ",
		ledger.Answered:   "answer cut: ",
	}[phase] + cause(err)
}

func cause(err error) string {
	var dns *net.DNSError
	var certificate *tls.CertificateVerificationError
	var record tls.RecordHeaderError
	var alert tls.AlertError
	var number syscall.Errno
	var network net.Error
	var plain plainText
	switch {
	case errors.As(err, &plain):
		return plain.Error()
	case errors.Is(err, errAddressRefused), errors.Is(err, errBadURL):
		return sentinelText(err)
	case errors.Is(err, context.Canceled):
		return "cancelled"
	case errors.Is(err, context.DeadlineExceeded):
		return "time-out"
	case errors.As(err, &dns):
		return dnsText(dns)
	case errors.As(err, &certificate):
		return certificateText(certificate)
	case errors.As(err, &record):
		return "TLS: the peer does not speak it"
	case errors.As(err, &alert):
		return alert.Error()
	case errors.As(err, &number):
		return number.Error()
	case errors.As(err, &network) && network.Timeout():
		return "time-out"
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return "connection closed"
	default:
		return "connection broken or answer unreadable"
	}
}

// plainText is an error in words of our own, which name nothing private.
type plainText string

func (t plainText) Error() string { return string(t) }

func sentinelText(err error) string {
	if errors.Is(err, errAddressRefused) {
		return errAddressRefused.Error()
	}
	return errBadURL.Error()
}

func dnsText(err *net.DNSError) string {
	switch {
	case err.IsNotFound:
		return "no such host"
	case err.IsTimeout:
		return "look-up of the host timed out"
	default:
		return "look-up of the host failed"
	}
}

func certificateText(err *tls.CertificateVerificationError) string {
	var authority x509.UnknownAuthorityError
	var host x509.HostnameError
	var invalid x509.CertificateInvalidError
	switch {
	case errors.As(err, &authority):
		return "TLS: certificate of an unknown authority"
	case errors.As(err, &host):
		return "TLS: certificate for another name"
	case errors.As(err, &invalid) && invalid.Reason == x509.Expired:
		return "TLS: certificate expired or not yet valid"
	default:
		return "TLS: certificate refused"
	}
}
