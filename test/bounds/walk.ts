/**
 * Attacks every operation and every mail command at its limits and measures the processor time of the daemon. A cost above the bound is
 * measured again, because the first request of a kind also compiles code or starts a thread. It is then compared with the current speed of
 * the machine.
 */
import type { MeasuredDaemon } from './daemon.ts'
import { pace } from './pace.ts'
import { hostileRequests, prepare, HostileClient, type Extent } from './requests.ts'
import { hostileSessions, openings, play, type HostileSession } from './sessions.ts'
import { makeTakers } from './takers.ts'
import { portOf } from '../support/daemon/daemon.ts'
import type { NameServer } from '../support/web/name-server.ts'
import { makeDestination, makeLogin } from '../support/daemon/provision.ts'

/**
 * Milliseconds of processor time for a request: `request` for itself, `mebibyte` for each MiB, and `record` for each record, because few
 * octets can create many records and making one durable does not depend on its length. `thread` is for mail processed on a separate thread,
 * including its start. `inflated` is for each MiB that a compressed body can inflate to, estimated from its length.
 */
export const bounds = { request: 250, mebibyte: 1000, inflated: 100, record: 0.02, thread: 300, piece: 100 } as const

export interface Walked {
  readonly what: string
  readonly bytes: number
  readonly inflated: number
  readonly records: number
  readonly threads: number
  /** Milliseconds of all threads, and of the longest run of the main thread. */
  readonly all: number
  readonly piece: number
  /** Slowdown of the machine: 2 means half of its usual speed. */
  readonly pace: number
  readonly answer: string
}

export interface WalkOptions extends Extent {
  readonly sessionBytes: number
  /** Selects attacks by name: the operation or command, a colon and the title. All by default. */
  readonly isWanted?: (what: string) => boolean
  readonly onWalked?: (walked: Walked) => void
}

const mebi = 1024 * 1024
const maxTries = 3

type Weight = Pick<Walked, 'bytes' | 'inflated' | 'records' | 'threads' | 'pace'>

export const allowed = ({ bytes, inflated, records, threads, pace: slower }: Weight): number =>
  slower *
  (bounds.request +
    (bytes / mebi) * bounds.mebibyte +
    (inflated / mebi) * bounds.inflated +
    records * bounds.record +
    threads * bounds.thread)
export const isBeyond = (walked: Weight & Pick<Walked, 'all' | 'piece'>): boolean =>
  walked.all > allowed(walked) || walked.piece > walked.pace * bounds.piece

/** Attacks everything. The environment of the daemon must be `walkEnvironment`. */
export async function walk(measured: MeasuredDaemon, options: WalkOptions): Promise<readonly Walked[]> {
  const walked: Walked[] = []
  const take: Take = async (what, { bytes, inflated = 0, records = 0, threads = 0 }, work) => {
    let best: Walked | undefined
    for (let tries = 0; tries < maxTries && (best === undefined || isBeyond(best)); tries++) {
      if (tries > 0) await measured.settled()
      const script = await bytes()
      const before = tries > 0 ? pace() : 1
      let answer = ''
      const { all, piece } = await measured.cost(async () => {
        const outcome = await work(script)
        answer = outcome.answer
        return outcome.isTaken
      })
      const slower = tries > 0 ? (before + pace()) / 2 : 1
      if (best === undefined || (all + piece) / slower < (best.all + best.piece) / best.pace)
        best = { what, bytes: script.length, inflated, records, threads, all, piece, pace: slower, answer }
    }
    if (best) walked.push(best)
    if (best) options.onWalked?.(best)
  }
  const { isWanted = () => true } = options
  await walkRequests(measured, options, isWanted, take)
  await walkSessions(measured, options, isWanted, take)
  return walked
}

interface Outcome {
  readonly answer: string
  /** True if something was accepted, so that work follows. */
  readonly isTaken: boolean
}

interface Measurable {
  readonly bytes: () => Buffer | Promise<Buffer>
  readonly inflated?: number
  readonly records?: number
  /** Threads that may start for it. */
  readonly threads?: number
}

type Take = (what: string, attack: Measurable, work: (bytes: Buffer) => Promise<Outcome>) => Promise<void>

async function walkRequests(
  measured: MeasuredDaemon,
  options: WalkOptions,
  isWanted: (what: string) => boolean,
  take: Take,
): Promise<void> {
  using client = new HostileClient(measured.daemon.addresses.http)
  const ground = await prepare(measured, client)
  await measured.settled()
  pace() // the first request also compiles code
  for (const hostile of hostileRequests(ground, options)) {
    const { operation, title, method, path, headers } = hostile
    const what = `${operation}: ${title}`
    if (!isWanted(what)) continue
    await take(what, hostile, async (body) => {
      const { status, text } = await client.send(method, path, headers, body)
      return { answer: `${status} ${text.slice(0, 120)}`, isTaken: status >= 200 && status < 300 && method !== 'GET' }
    })
  }
}

async function walkSessions(
  measured: MeasuredDaemon,
  options: WalkOptions,
  isWanted: (what: string) => boolean,
  take: Take,
): Promise<void> {
  const { addresses, rest } = measured.daemon
  const destination = await makeDestination(rest, { name: 'walk', port: 9, mode: 'sandbox' })
  const login = await makeLogin(rest, destination)
  await using behind = await makeTakers(measured.daemon, inboundDomain)
  const portTo = ({ door, security }: HostileSession): number =>
    portOf(door === 'mx' ? addresses.mx[0] : security === 'tls' ? addresses.submissions[0] : addresses.submission[0])
  const all = openings(login, `postmaster@${inboundDomain}`, behind.takers)
  for (const hostile of hostileSessions(all, options.sessionBytes)) {
    const { door, security, title, isMessage } = hostile
    const what = `${door}: ${title}`
    if (!isWanted(what)) continue
    await take(what, hostile, async (script) => {
      const answer = await play(portTo(hostile), security, script)
      if (isMessage && !/^354 /m.test(answer)) throw new Error(`${what}: it did not come as far as a message: ${answer}`)
      return { answer: answer.slice(-150), isTaken: true }
    })
  }
}

const inboundDomain = 'in.example.ch'

/** Settings of the attacked daemon: all features are on, and limits per address do not hide other limits. */
export const walkEnvironment = (operatorKey: string, names: NameServer): Readonly<Record<string, string>> => ({
  POSTERN_OPERATOR_KEY: operatorKey,
  POSTERN_TRUST_PROXY: '127.0.0.1',
  POSTERN_INBOUND_DOMAIN: inboundDomain,
  POSTERN_SIGN_UP: 'open',
  POSTERN_DNS_SERVERS: names.address,
  POSTERN_OUTBOUND_ALLOW: 'destinations=127.0.0.1/32;webhooks=127.0.0.1/32',
})
