package providers

import (
	"bufio"
	"errors"
	"io"
	"strings"
)

// Limits of one reply. RFC 5321 section 4.5.3.1.5 gives a line 512 bytes; servers put more into texts for people.
const (
	maxReplyLine  = 2048 // bytes
	maxReplyLines = 100
)

// errReply is a reply that breaks the form of RFC 5321 section 4.2, or has no end.
const errReply = plainText("not a reply of SMTP")

// smtpReply is what a server says to one command.
type smtpReply struct {
	code     int      // 200 to 559; 0: there is none
	enhanced string   // RFC 3463, such as 5.1.1; "": none
	lines    []string // their texts, without code and line end
	raw      []byte
}

// class is the first digit, which alone says whether the server did what it was told.
func (r *smtpReply) class() int { return r.code / 100 }

// readReply reads one reply and no byte more. It is strict: whoever forgives a bare line feed or another code on a later
// line may take the middle of one reply for the start of the next, and so a refusal for a yes.
func readReply(r *bufio.Reader) (smtpReply, error) {
	var reply smtpReply
	for range maxReplyLines {
		line, err := r.ReadSlice('\n')
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			return smtpReply{}, errReply
		case err == io.EOF && (len(line) > 0 || reply.code != 0):
			return smtpReply{}, io.ErrUnexpectedEOF
		case err != nil:
			return smtpReply{}, err
		}
		code, text, more, ok := replyLine(string(line))
		if !ok || reply.code != 0 && reply.code != code {
			return smtpReply{}, errReply
		}
		reply.code, reply.raw, reply.lines = code, append(reply.raw, line...), append(reply.lines, text)
		if reply.enhanced == "" {
			reply.enhanced = enhancedCode(code, text)
		}
		if !more {
			return reply, nil
		}
	}
	return smtpReply{}, errReply
}

// replyLine takes a line apart: code, then a blank, or a hyphen where more lines follow, then text. The code may stand alone.
func replyLine(line string) (code int, text string, more, ok bool) {
	body, found := strings.CutSuffix(line, "\r\n")
	if !found || len(body) < 3 || strings.ContainsAny(body, "\r\n") {
		return 0, "", false, false
	}
	if body[0] < '2' || body[0] > '5' || body[1] < '0' || body[1] > '5' || body[2] < '0' || body[2] > '9' {
		return 0, "", false, false
	}
	code = int(body[0]-'0')*100 + int(body[1]-'0')*10 + int(body[2]-'0')
	if len(body) == 3 {
		return code, "", false, true
	}
	more = body[3] == '-'
	return code, body[4:], more, more || body[3] == ' '
}

// enhancedCode reads the class.subject.detail that a text may begin with (RFC 2034 section 4). Its class is the code's first
// digit; anything else is text.
func enhancedCode(code int, text string) string {
	word, _, _ := strings.Cut(text, " ")
	parts := strings.Split(word, ".")
	if len(parts) != 3 || len(parts[0]) != 1 || int(parts[0][0]-'0') != code/100 {
		return ""
	}
	for _, p := range parts[1:] {
		if len(p) < 1 || len(p) > 3 || strings.Trim(p, "0123456789") != "" {
			return ""
		}
	}
	return word
}
