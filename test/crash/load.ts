/** Clients of a crash test: they send until the daemon ends and record every reply. */
import { randomUUID } from 'node:crypto'
import type { Login } from '../support/daemon/provision.ts'
import type { RestClient } from '../support/daemon/rest.ts'
import type { Seeded } from '../support/seeded.ts'
import { LinkLost, SmtpClient, type Security } from '../support/smtp/smtp-client.ts'
import { traceIdOf } from '../support/smtp/smtp-replies.ts'
import type { Entry, Fate, Ledger } from './ledger.ts'
import { letterOf, textOf } from './letters.ts'

/** Sender domains. The routes of the test send one to the smart host and one to the inbox. */
export const domainOf: Readonly<Record<Fate, string>> = { relay: 'relay.test', capture: 'capture.test' }

export interface Load {
  readonly ledger: Ledger
  readonly random: Seeded
  readonly name: string
  /** Aborted before the daemon ends. */
  readonly over: AbortSignal
  /** Maximum messages of this client, so that the load is bounded on any machine. */
  readonly most: number
}

/** Access of an SMTP client. The destination of its login decides where mail goes. */
export interface SmtpDoor {
  readonly port: number
  readonly security: Security
  readonly login: Login
  readonly fate: Fate
}

/** Sends over successive SMTP sessions with random ends, so that the load includes logins. */
export async function smtpLoad(load: Load, door: SmtpDoor): Promise<void> {
  let sent = 0
  while (!load.over.aborted && sent < load.most) {
    const client = await openSession(door).catch(() => undefined)
    if (!client) return
    const until = Math.min(load.most, sent + load.random.between(1, 40))
    for (let open = true; open && sent < until && !load.over.aborted; sent++) {
      open = await sendOne(load, client, newEntry(load, 'smtp', sent, door.fate))
    }
    client.destroy()
  }
}

async function openSession({ port, security, login: { username, password } }: SmtpDoor): Promise<SmtpClient> {
  const client = await SmtpClient.connect({ port, security })
  const reply = await client.authenticate(username, password)
  if (reply.code !== 235) throw new Error(`AUTH answered ${String(reply.code)}`)
  return client
}

/** Sends one message in one of several ways. Returns false if the session is no longer usable. */
async function sendOne({ ledger, random }: Load, client: SmtpClient, entry: Entry): Promise<boolean> {
  const content = letterOf(entry, entry.from, entry.to)
  try {
    if (random.chance(0.03)) {
      ledger.settle(entry, 'refused')
      await client.abandon({ ...entry, content }, random.fraction())
      return false
    }
    const forged = random.chance(0.03)
    const answer = await client.send({ from: forged ? 'boss@forged.test' : entry.from, to: entry.to, content })
    if (answer.accepted) ledger.acknowledge(entry, traceIdOf(answer.reply))
    else ledger.settle(entry, 'refused')
    if (forged && answer.accepted) ledger.fault(`${entry.marker}: a sender outside the credential's domains was accepted`)
    return answer.reply.code !== 421
  } catch (error) {
    if (!(error instanceof LinkLost)) throw error
    ledger.settle(entry, error.afterDot ? 'unknown' : 'refused')
    return false
  }
}

/** Sends over REST. Most calls have an idempotency key, and some of those are repeated, also simultaneously. */
export async function restLoad(load: Load, rest: RestClient): Promise<void> {
  const { random, ledger } = load
  for (let sent = 0; sent < load.most && !load.over.aborted; sent++) {
    const entry = newEntry(load, 'rest', sent, random.chance(0.75) ? 'relay' : 'capture')
    const twice = entry.key !== undefined && random.chance(0.25)
    const calls = twice ? [post(ledger, rest, entry), post(ledger, rest, entry)] : [post(ledger, rest, entry)]
    const linked = await Promise.all(calls)
    if (entry.key !== undefined && random.chance(0.1)) linked.push(await post(ledger, rest, entry))
    if (linked.includes(false)) return
  }
}

/** Repeats calls with used keys, with and without an earlier response. There must be one copy and one trace. */
export async function repeatKeys({ ledger, random, over }: Load, rest: RestClient): Promise<void> {
  const keyed = [...ledger.entries.values()].filter(({ key, status }) => key !== undefined && (status === 'acked' || status === 'unknown'))
  const unknown = keyed.filter(({ status }) => status === 'unknown')
  const acked = keyed.filter(({ status }) => status === 'acked' && random.chance(20 / Math.max(20, keyed.length)))
  for (const entry of [...unknown, ...acked]) if (over.aborted || !(await post(ledger, rest, entry))) return
}

/** Makes one call and records it. Returns false if the connection failed. */
async function post(ledger: Ledger, rest: RestClient, entry: Entry): Promise<boolean> {
  const { from, to, marker: subject, key } = entry
  const body = { from, to, subject, text: textOf(entry), ...(key !== undefined && { idempotency_key: key }) }
  try {
    const { status, body: answer } = await rest.call('POST', '/v1/messages', body)
    if (status >= 200 && status < 300) ledger.acknowledge(entry, (answer as { trace_id?: string }).trace_id)
    else ledger.settle(entry, 'refused')
    return status < 500
  } catch {
    ledger.settle(entry, 'unknown')
    return false
  }
}

function newEntry({ ledger, random, name }: Load, door: 'smtp' | 'rest', number: number, fate: Fate): Entry {
  const marker = `mk-${name}-${String(number)}`
  return ledger.open({
    marker,
    size: pickSize(random),
    door,
    fate,
    from: `sender@${domainOf[fate]}`,
    to: pickRecipients(random, marker),
    ...(door === 'rest' && random.chance(0.7) && { key: randomUUID() }),
  })
}

/** Mostly small sizes, some near and some above 64 KiB, where the store changes the form of contents. */
function pickSize(random: Seeded): number {
  if (random.chance(0.75)) return random.between(0, 4096)
  return random.chance(0.7) ? random.between(8_000, 66_000) : random.between(66_000, 300_000)
}

function pickRecipients(random: Seeded, marker: string): string[] {
  const names = random.chance(0.8) ? ['one'] : ['one', 'two', 'three']
  if (random.chance(0.05)) names.push('refuse')
  return names.map((name) => `${name}.${marker}@inbox.test`)
}
