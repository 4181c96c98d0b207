/** HTTP client of the commands: calls the daemon of the data folder, or another one by address and API key. */
import { setTimeout as pause } from 'node:timers/promises'
import { apiKeyVariable, daemonUrlVariable } from '#config/settings/environment.ts'
import { publicUrl, type Config } from '#config/settings/load.ts'
import { cleanText } from '../observability/clean-text.ts'
import type { DaemonChoice } from './command-line.ts'
import { exitCodes } from '../process/lifecycle.ts'
import { readOperatorFile, seekDaemon, type OperatorAccess } from '../process/operator-file.ts'
import { StartRefused } from '../process/start-refused.ts'

/** The origin of a daemon and the secret to call it with. */
export type CalledDaemon = Pick<OperatorAccess, 'origin' | 'token'>

/**
 * Returns the daemon of the data folder after it proved that it runs. Throws `StartRefused` if no daemon runs or if it belongs to another
 * user.
 */
export async function localDaemon({ dataDir }: Config): Promise<OperatorAccess> {
  const sought = await seekDaemon(dataDir)
  if (sought.state === 'running') return sought.access
  if (sought.state === 'silent') throw unanswered(sought.origin)
  if (sought.state === 'another')
    throw new StartRefused(
      `The process at ${sought.origin} is not the daemon of ${dataDir}. Start the daemon. If that process uses its port, stop it first.`,
      exitCodes.failed,
    )
  throw new StartRefused(`No daemon runs on ${dataDir}. Start it, or set POSTERN_DATA_DIR to its data folder.`, exitCodes.failed)
}

/**
 * Returns the daemon and its operator key. Without an address, it is the daemon of the data folder, which proves that it runs. If the
 * folder has no operator file and the public address is HTTPS, it is that address, which the certificate proves. Throws `StartRefused`.
 */
export async function operatedDaemon(config: Config, url: string | undefined): Promise<CalledDaemon> {
  const { operatorKey: token, dataDir } = config
  if (token === null)
    throw new StartRefused('POSTERN_OPERATOR_KEY is not set. Set it to the operator key of the daemon.', exitCodes.configuration)
  if (url !== undefined) return { origin: url, token }
  const address = publicUrl(config, config.http.listen)
  const isProved = address.startsWith('https:') && (await readOperatorFile(dataDir)) === undefined
  return { origin: isProved ? address : (await localDaemon(config)).origin, token }
}

/** The error if another server responds. */
export const notPostern = (origin: string): string => `The server at ${origin} is not Postern. Check the address.`

/** The error for a response without an error message. */
export const withoutMessage = (status: number): string => `The daemon responded with status ${status} and no message. Check its log.`

/** The error if the daemon's report is incomplete. */
export const brokenReport = (cause: unknown): StartRefused =>
  new StartRefused('The daemon stopped before its report was complete. Check the daemon, then run the command again.', exitCodes.failed, {
    cause,
  })

/** Reads a page of a list. Throws `StartRefused` if the answer is not such a page. */
export function pageIn<Row>(
  { origin }: CalledDaemon,
  answer: unknown,
): { readonly data: readonly Row[]; readonly next_cursor: string | null } {
  if (typeof answer === 'object' && answer !== null && 'data' in answer && Array.isArray(answer.data)) {
    const next = 'next_cursor' in answer ? answer.next_cursor : null
    if (next === null || typeof next === 'string') return { data: answer.data as readonly Row[], next_cursor: next }
  }
  throw new StartRefused(notPostern(origin), exitCodes.failed)
}

/** Returns the origin and the secret of the daemon that the options or variables select. Throws `StartRefused`. */
export async function chosenDaemon(config: Config, { url: given, key }: DaemonChoice, env: NodeJS.ProcessEnv): Promise<CalledDaemon> {
  const named = env[daemonUrlVariable]?.trim()
  const url = given ?? (named === '' ? undefined : named)
  const token = key === undefined ? keyIn(apiKeyVariable, env[apiKeyVariable]) : requireKey('--key', key)
  if (url === undefined) {
    const { origin, token: ownToken } = await localDaemon(config)
    return { origin, token: token ?? ownToken }
  }
  if (!/^https?:$/.test(URL.parse(url)?.protocol ?? ''))
    throw new StartRefused(`--url must be a URL such as http://127.0.0.1:8080; got ${JSON.stringify(url)}.`, exitCodes.usage)
  if (token === undefined) throw new StartRefused('--url needs an API key. Add --key, or set POSTERN_API_KEY.', exitCodes.usage)
  return { origin: url, token }
}

/** Reads a key from a variable. An empty variable counts as unset. */
const keyIn = (variable: string, text = ''): string | undefined => (text.trim() === '' ? undefined : requireKey(variable, text))

/**
 * Trims the key, because a key file may end with a line break. Throws `StartRefused` for characters that a header cannot contain (RFC 9110
 * §5.5).
 */
function requireKey(source: string, text: string): string {
  const key = text.trim()
  if (/^[\x21-\x7e]+$/.test(key)) return key
  const what = key === '' ? 'is empty' : 'contains spaces, line breaks or other characters that a key cannot contain'
  throw new StartRefused(`${source} ${what}. Use an API key such as svckey_….`, exitCodes.usage)
}

/** Calls the daemon and returns a successful response. Throws `StartRefused` with the daemon's message. */
export async function callDaemon(
  { origin, token }: CalledDaemon,
  method: 'GET' | 'POST',
  path: string,
  body?: Readonly<Record<string, unknown>>,
): Promise<Response> {
  const response = await reachDaemon({ origin, token }, method, path, body)
  if (response.ok) return response
  throw refusedBy(response.status, await response.text())
}

/**
 * Sends a POST and returns the JSON of the response. Throws `StartRefused`, also if the response is not JSON. `file` is the name that
 * errors show for the sent document.
 */
export async function postToDaemon(
  daemon: CalledDaemon,
  path: string,
  body: Readonly<Record<string, unknown>>,
  file?: string,
): Promise<unknown> {
  return jsonOf(daemon, await reachDaemon(daemon, 'POST', path, body), file)
}

/** Sends a GET and returns the JSON of the response. Throws `StartRefused`. */
export const getFromDaemon = async (daemon: CalledDaemon, path: string): Promise<unknown> =>
  jsonOf(daemon, await reachDaemon(daemon, 'GET', path))

/** Sends a PUT with a stream. Throws `StartRefused`. */
export async function putToDaemon(daemon: CalledDaemon, path: string, octets: AsyncIterable<Uint8Array>): Promise<void> {
  const headers = { 'content-type': 'application/octet-stream' }
  const response = await reach(daemon, path, { method: 'PUT', headers, body: octets, duplex: 'half' })
  await jsonOf(daemon, response)
}

async function jsonOf(daemon: CalledDaemon, response: Response, file?: string): Promise<unknown> {
  const text = await response.text()
  if (!response.ok) throw refusedBy(response.status, text, withOption(file))
  try {
    return JSON.parse(text)
  } catch (error) {
    throw new StartRefused(notPostern(daemon.origin), exitCodes.failed, { cause: error })
  }
}

/** API fields with another name on the command line. */
const optionOf: Readonly<Record<string, string>> = {
  ...{
    scopes: '--scope',
    project_id: '--project',
    destination_id: '--destination',
    min_attempts: '--attempts',
    trace_ids: '--trace',
    name: 'NAME',
    service: '--from',
    from_row: '--from-row',
  },
}
const fieldsOfFile: ReadonlySet<string> = new Set(['document', 'body'])

/** Replaces the field at the start of an error message by the option or by the file. */
export const withOption =
  (file = 'FILE') =>
  (message: string): string =>
    message.replace(/^(?:filter\.)?([a-z_]+)(?:\[\d+\])?(?=: )/, (_, field: string) =>
      fieldsOfFile.has(field) ? file : (optionOf[field] ?? `--${field.replaceAll('_', '-')}`),
    )

/** Turns an error response into `StartRefused`. A message that names an option becomes a usage error. */
export function refusedBy(status: number, text: string, reword = (message: string): string => message): StartRefused {
  const { code, message } = errorIn(text)
  if (message === undefined) return new StartRefused(withoutMessage(status), exitCodes.failed)
  const said = reword(message)
  const isUsage = code === 'validation_failed' && /^(?:--|(?!FILE)[A-Z_]+: )/.test(said)
  return new StartRefused(cleanText(said), isUsage ? exitCodes.usage : exitCodes.failed)
}

interface AnsweredError {
  readonly code?: string
  readonly message?: string
}

function errorIn(text: string): AnsweredError {
  try {
    return (JSON.parse(text) as { readonly error?: AnsweredError }).error ?? {}
  } catch {
    return {}
  }
}

/** Sends a POST with a stream. Throws `StartRefused` if no response arrives. */
export const uploadToDaemon = (daemon: CalledDaemon, path: string, octets: AsyncIterable<Uint8Array>): Promise<Response> =>
  reach(daemon, path, { method: 'POST', headers: { 'content-type': 'application/octet-stream' }, body: octets, duplex: 'half' })

/** Sends a request and returns the response of any status. Throws `StartRefused` if no response arrives. */
export const reachDaemon = (
  daemon: CalledDaemon,
  method: string,
  path: string,
  body?: Readonly<Record<string, unknown>>,
): Promise<Response> =>
  reach(daemon, path, { method, ...(body && { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }) })

interface Sent {
  readonly method: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string | AsyncIterable<Uint8Array>
  readonly duplex?: 'half'
}

/** Number of tries while the daemon is overloaded. An overloaded daemon has processed no part of the request, so a retry is safe. */
const busyTries = 6

async function reach(daemon: CalledDaemon, path: string, sent: Sent): Promise<Response> {
  for (let tries = 1; ; tries++) {
    const response = await reachOnce(daemon, path, sent)
    const seconds = Number(response.headers.get('retry-after'))
    const isRepeatable = typeof sent.body !== 'object' && response.status === 503 && seconds >= 1 && seconds <= 10
    if (tries === busyTries || !isRepeatable || !/"overloaded"/.test(await response.clone().text())) return response
    await pause(seconds * 1000)
  }
}

async function reachOnce({ origin, token }: CalledDaemon, path: string, { headers = {}, ...sent }: Sent): Promise<Response> {
  const init = { ...sent, headers: { ...headers, authorization: `Bearer ${token}` } }
  try {
    return await fetch(origin.replace(/\/+$/, '') + path, init)
  } catch (error) {
    throw unanswered(origin, error)
  }
}

const unanswered = (origin: string, cause?: unknown): StartRefused =>
  new StartRefused(`No daemon responds at ${origin}. Start it with "postern serve", or check the address.`, exitCodes.failed, { cause })
