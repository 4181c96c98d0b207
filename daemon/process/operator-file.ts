/** File in the data folder that lets the command line find a running daemon and authenticate. Only the daemon's user can read it. */
import { randomBytes } from 'node:crypto'
import { rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { formatEndpoint } from '#config/settings/formats.ts'
import { proofOf, proofPath } from '#core/access/run-proof.ts'
import { exitCodes } from './lifecycle.ts'
import type { Listening } from './ready-file.ts'
import { StartRefused } from './start-refused.ts'
import { readOwn, Unreadable } from './unreadable.ts'

/** Access of the operator to a running daemon. */
export interface OperatorAccess {
  /** Scheme, host and port. */
  readonly origin: string
  readonly token: string
  readonly pid: number
  /** All addresses it listens on, as `host:port`. */
  readonly listening: readonly string[]
}

const answerMs = 5000

const operatorFile = (dataDir: string): string => join(dataDir, 'operator.json')

/** Writes the file atomically, so that readers never see a part of it. */
export async function writeOperatorFile(dataDir: string, listens: Listening, token: string): Promise<void> {
  const { http, https, acme, submission, submissions, mx, sites } = listens
  const listening = [http, ...https, ...acme, ...submission, ...submissions, ...mx, ...sites].map(formatEndpoint)
  const access: OperatorAccess = { origin: originOf(listens), token, pid: process.pid, listening }
  const unfinished = `${operatorFile(dataDir)}.tmp`
  await rm(unfinished, { force: true }) // the creator of an existing file could read the new content
  await writeFile(unfinished, `${JSON.stringify(access)}\n`, { mode: 0o600, flag: 'wx' })
  await rename(unfinished, operatorFile(dataDir))
}

/** Returns the origin of the HTTP listener for processes on the same machine. */
export function originOf({ http: { host, port } }: Pick<Listening, 'http'>): string {
  const reachable = host === '0.0.0.0' ? '127.0.0.1' : host === '::' ? '::1' : host
  return `http://${formatEndpoint({ host: reachable, port })}`
}

/** Returns undefined if the file says that no daemon runs. Throws `Unreadable`, and `StartRefused` for a damaged file. */
export async function readOperatorFile(dataDir: string): Promise<OperatorAccess | undefined> {
  const text = await readOwn(operatorFile(dataDir))
  return text === undefined ? undefined : accessIn(text, operatorFile(dataDir))
}

function accessIn(text: string, path: string): OperatorAccess {
  try {
    const value = JSON.parse(text) as Partial<OperatorAccess> | null
    const { origin, token, pid, listening } = value ?? {}
    if (typeof origin === 'string' && typeof token === 'string' && typeof pid === 'number' && Array.isArray(listening))
      return { origin, token, pid, listening }
  } catch {
    // refused below
  }
  throw new StartRefused(`${path} is damaged. Restart the daemon, which writes the file again.`, exitCodes.failed)
}

/** `silent`: no process answers at the address of the file. `another`: another process answers there. */
export type SoughtDaemon =
  | { readonly state: 'running'; readonly access: OperatorAccess }
  | { readonly state: 'silent' | 'another'; readonly origin: string }
  | { readonly state: 'none' }

/** Finds the running daemon. A killed daemon leaves its file, and another process may use its port. Throws like `readOperatorFile`. */
export async function seekDaemon(dataDir: string): Promise<SoughtDaemon> {
  const access = await readOperatorFile(dataDir)
  if (!access) return { state: 'none' }
  const isKnown = await knowsToken(access)
  if (isKnown === true) return { state: 'running', access }
  return { state: isKnown === undefined ? 'silent' : 'another', origin: access.origin }
}

/** Returns the running daemon of the data folder; undefined if the command should open the store itself. Throws `Unreadable`. */
export async function runningDaemon(dataDir: string): Promise<OperatorAccess | undefined> {
  const sought = await seekDaemon(dataDir).catch((error: unknown) => {
    if (error instanceof Unreadable || !(error instanceof StartRefused)) throw error
    return undefined // if the daemon runs, opening the store fails with an explanation
  })
  return sought?.state === 'running' ? sought.access : undefined
}

/** Whether the process at the address knows the token, without sending it; undefined without an answer. */
export async function knowsToken({ origin, token }: Pick<OperatorAccess, 'origin' | 'token'>): Promise<boolean | undefined> {
  const challenge = randomBytes(32).toString('base64url')
  const url = `${origin.replace(/\/+$/, '')}${proofPath}?challenge=${challenge}`
  const response = await fetch(url, { redirect: 'manual', signal: AbortSignal.timeout(answerMs) }).catch(() => undefined)
  if (!response || response.status === 503) return undefined // a proxy, or a daemon that is stopping
  const answer: unknown = await response.json().catch(() => undefined)
  return typeof answer === 'object' && answer !== null && 'proof' in answer && answer.proof === proofOf(token, challenge)
}

export const clearOperatorFile = (dataDir: string): Promise<void> => rm(operatorFile(dataDir), { force: true })
