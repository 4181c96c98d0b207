/** Steps of the setup that need a daemon: the domain with its keys, and a first captured mail. Starts a temporary daemon if none runs. */
import { EventEmitter } from 'node:events'
import { randomBytes } from 'node:crypto'
import { formatEndpoint } from '#config/settings/formats.ts'
import type { Config } from '#config/settings/load.ts'
import { createLogger } from '../../observability/logging.ts'
import { becomeOwnerOf, prepareDataFolder } from '../../process/data-folder.ts'
import { exitCodes, Lifecycle } from '../../process/lifecycle.ts'
import { runningDaemon } from '../../process/operator-file.ts'
import { StartRefused } from '../../process/start-refused.ts'
import { callDaemon, notPostern } from '../daemon-client.ts'
import type { ListedRecord } from './zone-file.ts'

interface Called {
  readonly origin: string
  readonly token: string
}

/** A daemon that answers. `wasRunning` is false for a temporary one. */
export interface UsedDaemon extends AsyncDisposable {
  readonly called: Called
  readonly wasRunning: boolean
}

/** Returns the running daemon of the data folder, or starts a temporary one on loopback. */
export async function useDaemon(config: Config, version: string): Promise<UsedDaemon> {
  const running = await runningDaemon(config.dataDir)
  if (running) return { called: running, wasRunning: true, [Symbol.asyncDispose]: async () => {} }
  await prepareDataFolder(config.dataDir)
  becomeOwnerOf(config.dataDir)
  const { open, start } = await import('../../start.ts')
  const log = createLogger('error', process.stderr)
  const fail = (code: number): never => process.exit(code)
  const lifecycle = new Lifecycle(log, config.shutdownSeconds, { events: new EventEmitter(), exit: fail })
  const token = randomBytes(32).toString('base64url')
  const quiet = { host: '127.0.0.1', port: 0 }
  const own: Config = {
    ...config,
    http: { ...config.http, listen: quiet, tlsListen: null },
    tls: { certificateFile: null, keyFile: null },
    acme: { ...config.acme, challenge: 'off' },
    submission: { ...config.submission, listen: [], implicitTlsListen: [] },
    mx: { ...config.mx, listen: [] },
  }
  try {
    const { part } = await open(own, log, lifecycle, { version, operatorToken: token })
    const { http } = await start(part, own, lifecycle)
    const origin = `http://${formatEndpoint(http)}`
    return { called: { origin, token }, wasRunning: false, [Symbol.asyncDispose]: () => lifecycle.stop() }
  } catch (error) {
    await lifecycle.stop()
    throw error
  }
}

interface ShownRecord {
  readonly purpose: string
  readonly type: string
  readonly name: string
  readonly expected: string
  readonly check: { readonly verdict: string } | null
}
interface ShownDomain {
  readonly id: string
  readonly domain: string
  readonly status: string
  readonly records: readonly ShownRecord[]
}

/** Registers the domain if necessary, and checks its records in DNS. */
export async function registeredDomain(
  daemon: Called,
  domain: string,
): Promise<{ readonly isNew: boolean; readonly status: string; readonly records: readonly ListedRecord[] }> {
  const known = (await rowsOf<ShownDomain>(daemon, '/v1/domains?limit=200')).find((one) => one.domain === domain)
  const { id } = known ?? (await json<ShownDomain>(daemon, 'POST', '/v1/domains', { domain }))
  const { status, records } = await json<ShownDomain>(daemon, 'POST', `/v1/domains/${id}/verify`)
  return {
    ...{ isNew: known === undefined, status },
    records: records.map(({ check, ...record }) => ({ ...record, verdict: check?.verdict ?? null })),
  }
}

export type FirstMail = { readonly traceId: string; readonly outcome: string; readonly isNew: boolean } | { readonly wouldBe: string }

/** Sends the first mail, which is captured, if it was not sent before. Sends nothing if mail of the domain would leave the machine. */
export async function firstMail(daemon: Called, domain: string, to: string): Promise<FirstMail> {
  const from = `setup@${domain}`
  const [sent] = await rowsOf<{ readonly trace_id: string; readonly outcome: string }>(
    daemon,
    `/v1/traces?limit=1&from=${encodeURIComponent(from)}`,
  )
  if (sent) return { traceId: sent.trace_id, outcome: sent.outcome, isNew: false }
  const { outcome } = await json<{ readonly outcome: string }>(daemon, 'POST', '/v1/routing/simulate', { from, to: [to] })
  if (!outcome.startsWith('captured')) return { wouldBe: outcome }
  const { trace_id: traceId, outcome: taken } = await json<{ readonly trace_id: string; readonly outcome: string }>(
    daemon,
    'POST',
    '/v1/messages',
    {
      ...{
        from,
        to,
        subject: 'Postern works',
        text: `This is the first mail of ${domain}. It was captured and did not leave the machine.\n`,
      },
    },
  )
  return { traceId, outcome: taken, isNew: true }
}

const rowsOf = async <T>(daemon: Called, path: string): Promise<readonly T[]> =>
  (await json<{ readonly data: readonly T[] }>(daemon, 'GET', path)).data

async function json<T>(daemon: Called, method: 'GET' | 'POST', path: string, body?: Readonly<Record<string, unknown>>): Promise<T> {
  const response = await callDaemon(daemon, method, path, body)
  try {
    return (await response.json()) as T
  } catch (error) {
    throw new StartRefused(notPostern(daemon.origin), exitCodes.failed, { cause: error })
  }
}
