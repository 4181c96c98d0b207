/** Explains why a listener cannot use its address, and how to correct it. */
import { formatEndpoint, type Endpoint } from '#config/settings/formats.ts'
import type { Config } from '#config/settings/load.ts'
import { exitCodes } from './lifecycle.ts'
import { portHolder } from './port-holder.ts'
import { StartRefused } from './start-refused.ts'

/** An address of the daemon, and the variable of its setting. */
export interface Listener {
  readonly endpoint: Endpoint
  readonly variable: string
}

/** Returns all addresses that `serve` listens on. */
export function listenersOf({ http, submission, mx, acme, sites }: Config): Listener[] {
  const all: readonly [string, readonly Endpoint[]][] = [
    ['POSTERN_HTTP_LISTEN', [http.listen]],
    ['POSTERN_HTTPS_LISTEN', http.tlsListen === null ? [] : [http.tlsListen]],
    ['POSTERN_ACME_LISTEN', acme.challenge === 'http-01' ? acme.listen : []],
    ['POSTERN_SUBMISSION_LISTEN', submission.listen],
    ['POSTERN_SUBMISSIONS_LISTEN', submission.implicitTlsListen],
    ['POSTERN_MX_LISTEN', mx.listen],
    ['POSTERN_SITES_LISTEN', sites.listen === null ? [] : [sites.listen]],
  ]
  return all.flatMap(([variable, endpoints]) => endpoints.map((endpoint) => ({ endpoint, variable })))
}

/** Describes the error code of a failed `listen` in one sentence. */
export async function listenProblem({ endpoint, variable }: Listener, code: string): Promise<string> {
  const where = `${formatEndpoint(endpoint)} (${variable})`
  if (code === 'EADDRINUSE')
    return `${where} is in use by ${(await portHolder(endpoint.port)) ?? 'another process'}; stop it or set another address.`
  if (code === 'EACCES') return `${where} is not permitted; ports below 1024 need the capability CAP_NET_BIND_SERVICE.`
  return `${where} cannot be used (${code}); set an address of this machine.`
}

/** Runs a function that starts listeners. Converts a failed `listen` to a `StartRefused` with the address and the reason. */
export async function explainListen<T>(config: Config, listen: () => Promise<T>): Promise<T> {
  try {
    return await listen()
  } catch (error) {
    const { syscall, code, address, port } = error as NodeJS.ErrnoException & { readonly address?: string; readonly port?: number }
    const samePort = listenersOf(config).filter(({ endpoint }) => endpoint.port === port)
    const listener = samePort.find(({ endpoint }) => endpoint.host === address) ?? samePort[0]
    if (syscall !== 'listen' || code === undefined || !listener) throw error
    throw new StartRefused(await listenProblem(listener, code), exitCodes.failed, { cause: error })
  }
}
