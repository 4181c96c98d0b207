/** How the command line finds and convinces a running daemon: a file in the data folder, which only its user can read. */
import { rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { formatEndpoint } from '#config/settings/formats.ts'
import type { Listening } from './ready-file.ts'
import { readOwn } from './unreadable.ts'

/** Where a running daemon takes orders of its operator. */
export interface OperatorAccess {
  /** Scheme, host and port. */
  readonly origin: string
  readonly token: string
  readonly pid: number
  /** Every address it listens on, as `host:port`. */
  readonly listening: readonly string[]
}

const answerMs = 5000

const operatorFile = (dataDir: string): string => join(dataDir, 'operator.json')

/** Writes the file beside its place and renames it, so that a reader never sees half of it. */
export async function writeOperatorFile(dataDir: string, listens: Listening, token: string): Promise<void> {
  const { http, https, acme, submission, submissions, mx, sites } = listens
  const { host, port } = http
  const reachable = host === '0.0.0.0' ? '127.0.0.1' : host === '::' ? '::1' : host
  const origin = `http://${formatEndpoint({ host: reachable, port })}`
  const listening = [http, ...https, ...acme, ...submission, ...submissions, ...mx, ...sites].map(formatEndpoint)
  const access: OperatorAccess = { origin, token, pid: process.pid, listening }
  const unfinished = `${operatorFile(dataDir)}.tmp`
  await rm(unfinished, { force: true }) // whoever made a file there could read it
  await writeFile(unfinished, `${JSON.stringify(access)}\n`, { mode: 0o600, flag: 'wx' })
  await rename(unfinished, operatorFile(dataDir))
}

/** Undefined when no daemon runs, according to the file. Throws `Unreadable` when it is another user's. */
export async function readOperatorFile(dataDir: string): Promise<OperatorAccess | undefined> {
  const text = await readOwn(operatorFile(dataDir))
  return text === undefined ? undefined : (JSON.parse(text) as OperatorAccess)
}

/** The daemon that the file names, when it answers. Throws `Unreadable`. */
export async function runningDaemon(dataDir: string): Promise<OperatorAccess | undefined> {
  const access = await readOperatorFile(dataDir)
  if (!access) return undefined
  const answer = await fetch(`${access.origin}/healthz`, { signal: AbortSignal.timeout(answerMs) }).catch(() => undefined)
  return answer?.ok === true ? access : undefined
}

export const clearOperatorFile = (dataDir: string): Promise<void> => rm(operatorFile(dataDir), { force: true })
