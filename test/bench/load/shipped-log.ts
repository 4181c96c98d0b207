/** Logs of mail servers in the JSON of a log shipper, of any length, generated during the read. */
import type { LogSource } from '#ingest/logs/log.ts'

/** Lines of one message. */
export const perMessage = 5
const chunkLines = 500

/** The lines of one message through a queue of Postfix. */
function postfixMessage(n: number): readonly string[] {
  const id = `4cYt3r${n.toString(36).padStart(8, '0')}`
  const head = (service: string): string => `2026-08-21T10:15:03.120Z mx1 postfix/${service}[2101]: ${id}:`
  const sent =
    n % 10 === 0
      ? 'dsn=5.1.1, status=bounced (host mx.example.net[203.0.113.9] said: 550 5.1.1 No such user (in reply to RCPT TO command))'
      : 'dsn=2.0.0, status=sent (250 2.0.0 Ok: queued as 4cYt3rZ)'
  return [
    `${head('smtpd')} client=relay.example.com[198.51.100.20]`,
    `${head('cleanup')} message-id=<${n.toString(36)}@shop.example>`,
    `${head('qmgr')} from=<b1mzxw6ytb0j3tqnjv8k2d@bounce.example.com>, size=4711, nrcpt=1 (queue active)`,
    `${head('smtp')} to=<customer-${String(n)}@example.net>, relay=mx.example.net[203.0.113.9]:25, delay=1.2, delays=0.1/0.01/0.4/0.7, ${sent}`,
    `${head('qmgr')} removed`,
  ]
}

/** The lines of one message through a queue of Exim. */
function eximMessage(n: number): readonly string[] {
  const id = `1tHx5r-${n.toString(36).padStart(11, '0')}-2cDe`
  const head = `2026-08-21 12:15:03.120 +0200 [2101] ${id}`
  const host = 'R=dnslookup T=remote_smtp H=mx.example.net [203.0.113.9]:25 X=TLS1.3:TLS_AES_256_GCM_SHA384:256 CV=yes'
  const sent =
    n % 10 === 0
      ? `** customer-${String(n)}@example.net ${host}: SMTP error from remote mail server after RCPT TO:<customer-${String(n)}@example.net>: 550 5.1.1 No such user`
      : `=> customer-${String(n)}@example.net ${host} C="250 2.0.0 Ok: queued as 4cYt3rZ"`
  return [
    `2026-08-21 12:15:03.110 +0200 [2101] SMTP connection from [198.51.100.20] (TCP/IP connection count = 1)`,
    `${head} <= b1mzxw6ytb0j3tqnjv8k2d@bounce.example.com H=relay.example.com [198.51.100.20] P=esmtps S=4711 id=${n.toString(36)}@shop.example`,
    `${head} DKIM: d=example.com s=postern c=relaxed/relaxed a=rsa-sha256 b=2048 [verification succeeded]`,
    `${head} ${sent}`,
    `${head} Completed`,
  ]
}

/** Five lines of Stalwart: two deliveries, and three without feedback. */
function stalwartMessage(n: number): readonly string[] {
  const at = new Date(Date.UTC(2026, 7, 21) + n * 1000).toISOString().slice(0, 19)
  const keys = `queueId = ${String(264519374110425088n + BigInt(n))}, queueName = "remote", from = "b1mzxw6ytb0j3tqnjv8k2d@bounce.example.com", to = ["customer-${String(n)}@example.net"], size = 4711`
  const line = (type: string, rest: string): string => `${at}Z INFO What happened (${type}) ${keys}${rest}`
  const own = `, to = "customer-${String(n)}@example.net", hostname = "mx.example.net"`
  return [
    line('delivery.attempt-start', ''),
    line('delivery.connect', ', hostname = "mx.example.net"'),
    line('delivery.delivered', `${own}, code = 250, details = "2.0.0 Ok: queued as 4cYt3r", elapsed = 412ms`),
    line('delivery.dsn-success', `${own}, code = 250, details = "2.0.0 Ok: queued as 4cYt3r"`),
    line('delivery.completed', ', elapsed = 700ms'),
  ]
}

const messages: Readonly<Record<LogSource, (n: number) => readonly string[]>> = {
  ...{ postfix: postfixMessage, exim: eximMessage, stalwart: stalwartMessage },
}

/** The log as a shipper sends it, generated in pieces, starting with the message of this number. */
export async function* shippedLog(source: LogSource, lines: number, first = 0): AsyncGenerator<Uint8Array> {
  const message = messages[source]
  for (let n = first; n < first + lines / perMessage; n += chunkLines / perMessage) {
    const records: string[] = []
    for (let i = n; i < n + chunkLines / perMessage; i++)
      for (const text of message(i))
        records.push(JSON.stringify({ host: 'mx1', source_type: 'file', timestamp: '2026-08-21T10:15:03.120Z', message: text }))
    yield Buffer.from(`${records.join('\n')}\n`)
  }
}
