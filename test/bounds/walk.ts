/**
 * The walk: every operation and every mail command, attacked at its limits, and what that costs the daemon in processor time. A
 * cost beyond the bound is measured again, as the first of a kind also pays for code that is compiled or a thread that starts.
 */
import type { MeasuredDaemon } from './daemon.ts'
import { hostileRequests, prepare, HostileClient, type Extent } from './requests.ts'
import { hostileSessions, openings, play } from './sessions.ts'
import { portOf } from '../support/daemon.ts'
import { makeDestination, makeLogin } from '../support/provision.ts'

/** Milliseconds of processor time that a request may take: for itself, and for each MiB of it. */
export const bounds = { request: 250, mebibyte: 1000, piece: 100 } as const

export interface Walked {
  readonly what: string
  readonly bytes: number
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

export const allowed = (bytes: number): number => bounds.request + (bytes / mebi) * bounds.mebibyte
export const isBeyond = ({ bytes, all, piece }: Pick<Walked, 'bytes' | 'all' | 'piece'>): boolean =>
  all > allowed(bytes) || piece > bounds.piece

/** Walks everything; the environment of the daemon is `walkEnvironment`. */
export async function walk(measured: MeasuredDaemon, options: WalkOptions): Promise<readonly Walked[]> {
  const walked: Walked[] = []
  const take = async (what: string, bytes: Buffer, work: () => Promise<Outcome>): Promise<void> => {
    let best: Walked | undefined
    for (let tries = 0; tries < triesMax && (best === undefined || isBeyond(best)); tries++) {
      if (tries > 0) await measured.settled()
      let answer = ''
      const { all, piece } = await measured.cost(async () => {
        const outcome = await work()
        answer = outcome.answer
        return outcome.isTaken
      })
      if (best === undefined || all + piece < best.all + best.piece) best = { what, bytes: bytes.length, all, piece, answer }
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

type Take = (what: string, bytes: Buffer, work: () => Promise<Outcome>) => Promise<void>

async function walkRequests(
  measured: MeasuredDaemon,
  options: WalkOptions,
  isWanted: (what: string) => boolean,
  take: Take,
): Promise<void> {
  using client = new HostileClient(measured.daemon.addresses.http)
  const ground = await prepare(measured, client)
  await measured.settled()
  for (const { operation, title, method, path, headers, bytes } of hostileRequests(ground, options)) {
    const what = `${operation}: ${title}`
    if (!isWanted(what)) continue
    const body = bytes()
    await take(what, body, async () => {
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
  for (const { door, title, bytes } of hostileSessions(openings(login, `postmaster@${inboundDomain}`), options.sessionBytes)) {
    const what = `${door}: ${title}`
    if (!isWanted(what)) continue
    const script = bytes()
    await take(what, script, async () => ({ answer: (await play(ports[door], script)).slice(-150), isTaken: true }))
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
