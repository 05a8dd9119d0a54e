// The peer: a notification worker on PostgreSQL as it is usually written for Node, behind HTTP. It claims by an
// insert that does nothing on conflict, hands the message to the provider, and records what came back.
// Environment: DATABASE_URL, PROVIDER (base URL), PORT, POOL (database connections).
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import pg from "pg";

const { DATABASE_URL, PROVIDER, PORT, POOL } = process.env;
const pool = new pg.Pool({ connectionString: DATABASE_URL, max: Number(POOL) });
const sendUrl = new URL("/v1/sms/batch/send", PROVIDER);
const sendHeaders = { authorization: "Bearer test", "content-type": "application/json" };

await pool.query(readFileSync("table.sql", "utf8"));
await pool.query("CHECKPOINT");

const CLAIM = `INSERT INTO notification_claim (dedupe_key, event_id, channel) VALUES ($1, $2, 'sms')
  ON CONFLICT (dedupe_key) DO NOTHING`;
const SENT = `UPDATE notification_claim SET state = 'sent', message_id = $2, confirmed_at = now(), attempts = attempts + 1
  WHERE dedupe_key = $1`;
const FAILED = `UPDATE notification_claim SET state = 'failed', attempts = attempts + 1 WHERE dedupe_key = $1`;

async function notify({ event_id, recipient, text }) {
  const dedupeKey = createHash("sha256").update([event_id, "sms", recipient].join("\0")).digest("hex").slice(0, 40);
  const { rowCount } = await pool.query(CLAIM, [dedupeKey, event_id]);
  if (rowCount === 0) return { skipped: true, dedupeKey };

  const body = JSON.stringify({ messages: [{ to: recipient, body: text, from: "AcmeShip" }], idempotency_key: dedupeKey });
  const answer = await fetch(sendUrl, { method: "POST", headers: sendHeaders, body });
  const envelope = await answer.json();
  if (!answer.ok) {
    await pool.query(FAILED, [dedupeKey]);
    throw new Error(`provider: ${answer.status}`);
  }
  const messageId = envelope.data.results[0]?.message_id ?? null;
  await pool.query(SENT, [dedupeKey, messageId]);
  return { skipped: false, state: "sent", messageId, dedupeKey };
}

function reply(res, status, value) {
  const text = JSON.stringify(value);
  res.writeHead(status, { "content-type": "application/json", "content-length": Buffer.byteLength(text) });
  res.end(text);
}

const server = createServer((req, res) => {
  let text = "";
  req.setEncoding("utf8");
  req.on("data", (part) => { text += part; });
  req.on("end", async () => {
    try {
      reply(res, 200, await notify(JSON.parse(text)));
    } catch (err) {
      reply(res, 500, { error: String(err) });
    }
  });
});

// All connections to the database stand before the first request.
await Promise.all(Array.from({ length: Number(POOL) }, () => pool.query("SELECT pg_sleep(0.1)")));
server.listen(Number(PORT), "127.0.0.1");
for (const signal of ["SIGINT", "SIGTERM"]) process.on(signal, () => process.exit(0));
