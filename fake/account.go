package fake

import (
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"sync"
)

// PrivateKey is an RSA key in PEM (PKCS #8, RFC 5208), as an application signs its tokens with. It is made once in a process, so
// that no key stands in a file. It panics where there is no entropy.
var PrivateKey = sync.OnceValue(func() string {
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		panic(err)
	}
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		panic(err)
	}
	return string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der}))
})

// ServiceAccount is the key file of a Google service account with PrivateKey, whose tokens come from tokenURL.
func ServiceAccount(tokenURL string) string {
	text, err := json.Marshal(map[string]string{
		"type": "service_account", "project_id": "shop-1", "client_email": "push@shop-1.iam.example.test", "private_key_id": "k1",
		"private_key": PrivateKey(), "token_uri": tokenURL,
	})
	if err != nil {
		panic(err) // strings only
	}
	return string(text)
}
