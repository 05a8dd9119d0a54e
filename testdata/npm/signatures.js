// Reads a list of tasks from stdin and writes what the providers' libraries make of each, in the same order.
'use strict';
const { Webhook } = require('standardwebhooks');
const { EventWebhook } = require('@sendgrid/eventwebhook');
const { verifySignature } = require('@vonage/jwt');
const twilio = require('twilio/lib/webhooks/webhooks');

const does = {
  twilio: (t) => twilio.getExpectedTwilioSignature(t.secret, t.url, t.params || null, t.algorithm),
  twilio_valid: (t) => String(t.body
    ? twilio.validateRequestWithBody(t.secret, t.signature, t.url, t.body, t.algorithm)
    : twilio.validateRequest(t.secret, t.signature, t.url, t.params, t.algorithm)),
  standardwebhooks: (t) => new Webhook(t.secret).sign(t.id, new Date(t.timestamp * 1000), t.body),
  sendgrid_valid: (t) => {
    const check = new EventWebhook();
    return String(check.verifySignature(check.convertPublicKeyToECDSA(t.key), Buffer.from(t.body), t.signature, String(t.timestamp)));
  },
  vonage_valid: (t) => String(verifySignature(t.token, t.secret)),
};

let text = '';
process.stdin.on('data', (part) => { text += part; });
process.stdin.on('end', () => {
  process.stdout.write(JSON.stringify(JSON.parse(text).map((t) => does[t.does](t))));
});
