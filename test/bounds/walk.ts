/**
 * The walk: every operation and every mail command, attacked at its limits, and what that costs the daemon in processor time. A
 * cost beyond the bound is measured again, as the first of a kind also pays for code that is compiled or a thread that starts.
 */
import type { Attack } from './json-attacks.ts'
import type { MeasuredDaemon } from './daemon.ts'
import { hostileRequests, prepare, HostileClient, type Extent } from './requests.ts'
import { hostileSessions, openings, play } from './sessions.ts'
import { portOf } from '../support/daemon.ts'
import { makeDestination, makeLogin } from '../support/provision.ts'

/**
 * Milliseconds of processor time that a request may take: for itself, for each MiB of it, and for each record that it makes where it may
 * make very many out of few octets: what makes a record durable, with its index rows, does not depend on its length.
 */
export const bounds = { request: 250, mebibyte: 1000, record: 0.02, piece: 100 } as const

export interface Walked {
  readonly what: string
  readonly bytes: number
  readonly records: number
  /** Milliseconds of all threads, and of the main thread in one piece. */
  readonly all: number
  readonly piece: number
  readonly answer: string
}

export interface WalkOptions extends Extent {
  readonly sessionBytes: number
  /** Only what has this in its name. */
  readonly only?: string | undefined
  readonly onWalked?: (walked: Walked) => void
}

const mebi = 1024 * 1024
const triesMax = 3

export const allowed = ({ bytes, records }: Pick<Walked, 'bytes' | 'records'>): number =>
  bounds.request + (bytes / mebi) * bounds.mebibyte + records * bounds.record
export const isBeyond = (walked: Pick<Walked, 'bytes' | 'records' | 'all' | 'piece'>): boolean =>
  walked.all > allowed(walked) || walked.piece > bounds.piece

/** Walks everything; the environment of the daemon is `walkEnvironment`. */
export async function walk(measured: MeasuredDaemon, options: WalkOptions): Promise<readonly Walked[]> {
  const walked: Walked[] = []
  const take: Take = async (what, { bytes, records = 0 }, work) => {
    let best: Walked | undefined
    for (let tries = 0; tries < triesMax && (best === undefined || isBeyond(best)); tries++) {
      if (tries > 0) await measured.settled()
      const script = bytes()
      let answer = ''
      const { all, piece } = await measured.cost(async () => {
        const outcome = await work(script)
        answer = outcome.answer
        return outcome.isTaken
      })
      if (best === undefined || all + piece < best.all + best.piece) best = { what, bytes: script.length, records, all, piece, answer }
    }
    if (best) walked.push(best)
    if (best) options.onWalked?.(best)
  }
  const isWanted = (what: string): boolean => options.only === undefined || what.includes(options.only)
  await walkRequests(measured, options, isWanted, take)
  await walkSessions(measured, options, isWanted, take)
  return walked
}

interface Outcome {
  readonly answer: string
  /** Something was accepted, so that work follows. */
  readonly isTaken: boolean
}

type Take = (what: string, attack: Omit<Attack, 'title'>, work: (bytes: Buffer) => Promise<Outcome>) => Promise<void>

async function walkRequests(
  measured: MeasuredDaemon,
  options: WalkOptions,
  isWanted: (what: string) => boolean,
  take: Take,
): Promise<void> {
  using client = new HostileClient(measured.daemon.addresses.http)
  const ground = await prepare(measured, client)
  await measured.settled()
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
  const ports = { submission: portOf(addresses.submission[0]), mx: portOf(addresses.mx[0]) }
  for (const hostile of hostileSessions(openings(login, `postmaster@${inboundDomain}`), options.sessionBytes)) {
    const { door, title } = hostile
    const what = `${door}: ${title}`
    if (!isWanted(what)) continue
    await take(what, hostile, async (script) => ({ answer: (await play(ports[door], script)).slice(-150), isTaken: true }))
  }
}

const inboundDomain = 'in.example.ch'

/** What the daemon of a walk is started with: everything that can be served is, and no limit of an address stands before others. */
export const walkEnvironment = (operatorKey: string): Readonly<Record<string, string>> => ({
  POSTERN_OPERATOR_KEY: operatorKey,
  POSTERN_TRUST_PROXY: '127.0.0.1',
  POSTERN_INBOUND_DOMAIN: inboundDomain,
  POSTERN_SIGN_UP: 'open',
})
