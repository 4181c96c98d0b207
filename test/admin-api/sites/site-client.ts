/** A client of the site listener that acts as browsers and proxies do: the host selects the site. */
import { Agent, request, type IncomingHttpHeaders } from 'node:http'
import type { ExecutionContext } from 'ava'
import { startDaemon, type StartOptions } from '../../support/daemon/start-daemon.ts'
import { zipOf, type ZipEntry } from '../../support/web/zip-file.ts'

export const domain = 'sites.test'

export interface SiteReply {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly bytes: Buffer
  readonly text: string
}

export type Ask = (host: string, path: string, headers?: Readonly<Record<string, string>>, method?: string) => Promise<SiteReply>

/** Returns a client with one connection pool; `address` is `host:port`. */
export function asking(t: Pick<ExecutionContext, 'teardown'>, address: string, sockets = 64): Ask {
  const agent = new Agent({ keepAlive: true, maxSockets: sockets })
  t.teardown(() => agent.destroy())
  const [hostname, port] = address.split(':')
  return (host, path, headers = {}, method = 'GET') =>
    new Promise((resolve, reject) => {
      const sent = request({ agent, hostname, port, path, method, headers: { host, ...headers } }, (response) => {
        const chunks: Buffer[] = []
        response.on('data', (chunk: Buffer) => chunks.push(chunk))
        response.on('error', reject)
        response.on('end', () => {
          const bytes = Buffer.concat(chunks)
          resolve({ status: response.statusCode ?? 0, headers: response.headers, bytes, text: bytes.toString() })
        })
      })
      sent.on('error', reject)
      sent.end()
    })
}

export const siteSettings = { POSTERN_SITES_LISTEN: '127.0.0.1:0', POSTERN_SITES_DOMAIN: domain }

/** Starts a daemon that serves sites, with shortcuts for common steps. */
export async function startSites(t: Pick<ExecutionContext, 'teardown'>, options: StartOptions = {}) {
  const daemon = await startDaemon(t, { ...options, env: { ...siteSettings, ...options.env } })
  const { rest } = daemon
  return {
    daemon,
    rest,
    ask: asking(t, daemon.addresses.sites),
    async create(slug: string): Promise<string> {
      return String((await rest.must('POST', '/v1/sites', { slug }))['id'])
    },
    deploy: (site: string, entries: readonly ZipEntry[], query = '?activate=true') =>
      rest.call('POST', `/v1/sites/${site}/deploys${query}`, zipOf(entries), { 'content-type': 'application/zip' }),
  }
}
