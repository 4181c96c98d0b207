/** Clients described by a metadata document on the web. The URL of the document is the client id, and no registration is required. */
import { clientNetwork } from '../../access/client-network.ts'
import type { Clock } from '../../clock.ts'
import { FetchFailed, type Fetch, type FetchedDocument } from '../../outbound/fetch.ts'
import { clientMetadata, readMetadata, type Client } from './client.ts'
import { OAuthError } from '../protocol/oauth-error.ts'
import { RecentMap } from '../../recent-map.ts'

export interface MetadataDocumentOptions {
  readonly fetch: Fetch
  readonly clock: Clock
}

interface CachedClient {
  readonly until: number
  readonly client: Promise<Client>
}

const limits = { deadlineMs: 5000, maxBytes: 10_240 } as const
const maxIdLength = 2048
const maxCached = 1000
/** Maximum number of concurrent fetches, because unauthenticated clients cause them. */
const maxFetches = 20
/** Maximum number of fetches that one client network can cause in a minute. */
const fetchesPerMinute = 20
const shortestMs = 30_000
const usualMs = 300_000
const longestMs = 86_400_000

/**
 * Returns whether a client id is the URL of a metadata document. It must be normalized https with a path, on port 443 or 8443, without user
 * name and fragment.
 */
export function isMetadataAddress(clientId: string): boolean {
  if (clientId.length > maxIdLength) return false
  const url = URL.parse(clientId)
  if (!url || url.protocol !== 'https:' || url.username !== '' || url.password !== '' || clientId.includes('#')) return false
  // the normalized form has no dot segments, upper-case host or default port
  return url.pathname !== '/' && url.href === clientId && (url.port === '' || url.port === '8443')
}

export class ClientMetadataDocuments {
  readonly #options: MetadataDocumentOptions
  readonly #cached = new RecentMap<string, CachedClient>(maxCached)
  #fetching = 0
  /** Number of fetches in the current minute, by client network. */
  #counted = { minute: NaN, fetches: new Map<string, number>() }

  constructor(options: MetadataDocumentOptions) {
    this.#options = options
  }

  /**
   * Returns the client that its document describes. Throws `invalid_client` with the reason. `remoteAddress` is the client address of the
   * request that causes the fetch.
   */
  find(clientId: string, remoteAddress: string): Promise<Client> {
    const now = this.#options.clock.now()
    const cached = this.#cached.get(clientId)
    if (cached && cached.until > now) return cached.client
    if (this.#fetching >= maxFetches || !this.#mayFetch(clientNetwork(remoteAddress), now))
      throw problem('cannot be fetched now; try again in a moment')
    const client = this.#fetch(clientId).then(({ document, until }) => {
      this.#cached.set(clientId, { until, client })
      return document
    })
    // concurrent requests share the same fetch; a failure is cached for a short time, otherwise it could be repeated without limit
    this.#cached.set(clientId, { until: now + shortestMs, client })
    client.catch(() => undefined)
    return client
  }

  #mayFetch(network: string, now: number): boolean {
    const minute = Math.floor(now / 60_000)
    if (minute !== this.#counted.minute) this.#counted = { minute, fetches: new Map() }
    const { fetches } = this.#counted
    const before = fetches.get(network) ?? 0
    fetches.set(network, before + 1)
    return before < fetchesPerMinute
  }

  async #fetch(clientId: string): Promise<{ readonly document: Client; readonly until: number }> {
    this.#fetching++
    try {
      const answer = await this.#options.fetch(clientId, limits)
      return { document: readDocument(clientId, answer), until: this.#options.clock.now() + freshMs(answer.headers['cache-control']) }
    } catch (error) {
      if (error instanceof FetchFailed) throw problem(`cannot be fetched: ${error.message}`)
      throw error
    } finally {
      this.#fetching--
    }
  }
}

function readDocument(clientId: string, { status, headers, text }: FetchedDocument): Client {
  if (status !== 200) throw problem(`returned status ${status} instead of 200`)
  if (!/^application\/(?:[\w.+-]+\+)?json\b/i.test(headers['content-type'] ?? '')) throw problem('is not of the type application/json')
  const parsed = clientMetadata.safeParse(parseJson(text))
  if (!parsed.success) throw problem(`has a wrong ${parsed.error.issues[0]?.path.join('.') || 'form'}`)
  const { data } = parsed
  if (data['client_id'] !== clientId) throw problem('contains a client_id that differs from its URL')
  if ((data.token_endpoint_auth_method ?? 'none') !== 'none') throw problem('requires a client authentication other than none')
  try {
    return { ...readMetadata(data), id: clientId, authentication: 'none', verifiedHost: new URL(clientId).host }
  } catch (error) {
    throw error instanceof OAuthError ? problem(`is not accepted: ${error.message}`) : error
  }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** RFC 9111 §5.2.2.1, limited to `shortestMs` and `longestMs`. */
function freshMs(cacheControl = ''): number {
  const seconds = /(?:^|[\s,])max-age=(\d{1,9})/i.exec(cacheControl)?.[1]
  const wanted = /\bno-(?:store|cache)\b/i.test(cacheControl) ? 0 : seconds === undefined ? usualMs : Number(seconds) * 1000
  return Math.min(Math.max(wanted, shortestMs), longestMs)
}

const problem = (what: string): OAuthError => new OAuthError('invalid_client', `The metadata document of the client ${what}.`)
