/**
 * DNS lookups of addresses and published records, as interfaces. Every daemon has a separate resolver and cache, so that one daemon's
 * results never decide about another's connections.
 */
import { promises as dns } from 'node:dns'
import { isIP } from 'node:net'
import type { Clock } from '../clock.ts'
import { systemClock } from '../clock.ts'
import { RecentMap } from '../recent-map.ts'

/** Looks up the addresses of a host name. Returns an empty list if the name has no address of this family. */
export interface Resolver {
  /** Throws `ResolveError` if the lookup fails. */
  resolve4(name: string): Promise<readonly string[]>
  /** Throws `ResolveError` if the lookup fails. */
  resolve6(name: string): Promise<readonly string[]>
}

/** One MX record (RFC 5321 §5.1). */
export interface MailExchange {
  readonly exchange: string
  readonly priority: number
}

/** Looks up published records of a domain, following CNAME. Returns an empty list for a missing record. Does not cache. */
export interface RecordResolver {
  /** Returns each record as one text, with its strings joined without blanks (RFC 7208 §3.3). Throws `ResolveError` if the lookup fails. */
  resolveTxt(name: string): Promise<readonly string[]>
  /** Throws `ResolveError` if the lookup fails. */
  resolveMx(name: string): Promise<readonly MailExchange[]>
}

/** Queries only DNS, without following or caching. Results and errors are those of `dns.promises.resolve`. */
export type LookUp = (name: string, type: string) => Promise<readonly unknown[]>

/** `servers` as `address` or `address:port`; the system's servers if empty. */
export function systemLookUp(servers: readonly string[]): LookUp {
  const resolver = new dns.Resolver({ timeout: 2000, tries: 2 })
  if (servers.length > 0) resolver.setServers([...servers])
  return async (name, type) => [await resolver.resolve(name, type as 'A')].flat()
}

/** Why a lookup returned no address: the name has no address, no server responded in time, or the response was an error. */
export type ResolveProblem = 'not_found' | 'timeout' | 'failed'

/** A failed lookup. All failures may be temporary. */
export class ResolveError extends Error {
  override readonly name = 'ResolveError'
  readonly problem: ResolveProblem

  constructor(problem: ResolveProblem, message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause })
    this.problem = problem
  }
}

/** Error text if the name servers do not respond. */
export const nameServersSilent = 'The name servers did not respond, so the host name could not be resolved.'

export interface SystemResolverOptions {
  /** Name servers as `address` or `address:port`; the system's servers if empty. */
  readonly servers?: readonly string[]
  readonly clock?: Clock
  /** Milliseconds per lookup; default 5,000. */
  readonly deadlineMs?: number
}

interface Entry {
  readonly addresses: Promise<readonly string[]>
  expiresAt: number
}

const ttlMaxSeconds = 60
const maxEntries = 1000
/** Caches timeouts briefly, so that several steps of one request wait for silent name servers only once. */
const timeoutKeptMs = 1000

/** Queries DNS, and the host's own table for names unknown to DNS. Caches results for at most a minute. */
export class SystemResolver implements Resolver, RecordResolver {
  readonly #dns: dns.Resolver
  readonly #clock: Clock
  readonly #deadlineMs: number
  readonly #ownServers: boolean
  readonly #cache = new RecentMap<string, Entry>(maxEntries)

  constructor(options: SystemResolverOptions = {}) {
    this.#clock = options.clock ?? systemClock
    this.#deadlineMs = options.deadlineMs ?? 5_000
    this.#ownServers = (options.servers?.length ?? 0) > 0
    // two tries of half the deadline each, so that a query ends soon after its caller stopped waiting
    this.#dns = new dns.Resolver({ timeout: Math.ceil(this.#deadlineMs / 2), tries: 2 })
    if (this.#ownServers) this.#dns.setServers([...(options.servers ?? [])])
  }

  resolve4(name: string): Promise<readonly string[]> {
    return this.#cached(name, 4)
  }

  resolve6(name: string): Promise<readonly string[]> {
    return this.#cached(name, 6)
  }

  async resolveTxt(name: string): Promise<readonly string[]> {
    const records = await this.#records(name, () => this.#dns.resolveTxt(name))
    return records.map((strings) => strings.join(''))
  }

  async resolveMx(name: string): Promise<readonly MailExchange[]> {
    const records = await this.#records(name, () => this.#dns.resolveMx(name))
    return records.map(({ exchange, priority }) => ({ exchange, priority }))
  }

  #records<R>(name: string, ask: () => Promise<readonly R[]>): Promise<readonly R[]> {
    return this.#inTime(name, async () => {
      try {
        return await ask()
      } catch (error) {
        if (isAbsence(error)) return []
        throw error
      }
    })
  }

  #cached(name: string, family: 4 | 6): Promise<readonly string[]> {
    const key = `${family} ${name.toLowerCase()}`
    const known = this.#cache.get(key)
    if (known && known.expiresAt > this.#clock.monotonic()) return known.addresses
    const ask = () => this.#ask(name, family, (seconds) => this.#keep(entry, seconds))
    const entry: Entry = { addresses: this.#inTime(name, ask), expiresAt: Infinity }
    entry.addresses.catch((error: unknown) => {
      if (error instanceof ResolveError && error.problem === 'timeout') entry.expiresAt = this.#clock.monotonic() + timeoutKeptMs
      else this.#drop(key, entry)
    })
    this.#cache.set(key, entry)
    return entry.addresses
  }

  #keep(entry: Entry, seconds: number): void {
    entry.expiresAt = this.#clock.monotonic() + Math.min(seconds, ttlMaxSeconds) * 1000
  }

  #drop(key: string, entry: Entry): void {
    if (this.#cache.get(key) === entry) this.#cache.delete(key)
  }

  #inTime<R>(name: string, ask: () => Promise<readonly R[]>): Promise<readonly R[]> {
    return new Promise((resolve, reject) => {
      const late = () => reject(new ResolveError('timeout', `The DNS lookup of ${name} timed out.`))
      const timer = this.#clock.after(this.#deadlineMs, late)
      ask()
        .then(resolve, (error: unknown) => reject(asResolveError(name, error)))
        .finally(() => timer.cancel())
    })
  }

  async #ask(name: string, family: 4 | 6, keepFor: (seconds: number) => void): Promise<readonly string[]> {
    // Names of one label, such as localhost, are looked up in the host's table.
    if (!name.includes('.')) return this.#askHost(name, family, keepFor)
    try {
      const records = family === 4 ? await this.#dns.resolve4(name, { ttl: true }) : await this.#dns.resolve6(name, { ttl: true })
      keepFor(Math.min(...records.map((record) => record.ttl)))
      return records.map((record) => record.address)
    } catch (error) {
      // The host's table may have names that DNS lacks. With configured servers, the system's servers must not be queried.
      if (!this.#ownServers) return this.#askHost(name, family, keepFor)
      if (!isAbsence(error)) throw error
      keepFor(0)
      return []
    }
  }

  async #askHost(name: string, family: 4 | 6, keepFor: (seconds: number) => void): Promise<readonly string[]> {
    try {
      const found = await dns.lookup(name, { family, all: true })
      keepFor(ttlMaxSeconds)
      return found.map((entry) => entry.address)
    } catch (error) {
      if (!isAbsence(error)) throw error
      keepFor(0)
      return []
    }
  }
}

/**
 * Returns all addresses of a host, alternating between families with IPv6 first (RFC 8305 §4). A literal is its own address. Throws
 * `ResolveError` if no address exists.
 */
export async function addressesOf(resolver: Resolver, host: string): Promise<readonly string[]> {
  if (isIP(host) !== 0) return [host]
  const [four, six] = await Promise.allSettled([resolver.resolve4(host), resolver.resolve6(host)])
  const addresses = takeTurns(six.status === 'fulfilled' ? six.value : [], four.status === 'fulfilled' ? four.value : [])
  if (addresses.length > 0) return addresses
  const failed = [four, six].find((outcome) => outcome.status === 'rejected')
  if (failed) throw asResolveError(host, failed.reason)
  throw new ResolveError('not_found', `${host} has no address.`)
}

/** Returns all addresses of a host, possibly an empty list. Throws `ResolveError` if the lookup fails. */
export async function addressesOrNone(resolver: Resolver, host: string): Promise<readonly string[]> {
  try {
    return await addressesOf(resolver, host)
  } catch (error) {
    if (error instanceof ResolveError && error.problem === 'not_found') return []
    throw error
  }
}

/** Returns the current addresses; an empty list if the lookup fails, which may be temporary. */
export async function addressesIfAny(resolver: Resolver, host: string): Promise<readonly string[]> {
  try {
    return await addressesOf(resolver, host)
  } catch (error) {
    if (error instanceof ResolveError) return []
    throw error
  }
}

function takeTurns(first: readonly string[], second: readonly string[]): string[] {
  const longest = Math.max(first.length, second.length)
  return Array.from({ length: longest }, (_, index) => [first[index], second[index]])
    .flat()
    .filter((address) => address !== undefined)
}

function isAbsence(error: unknown): boolean {
  const code = codeOf(error)
  return code === 'ENOTFOUND' || code === 'ENODATA' || code === 'EAI_NODATA' || code === 'EAI_ADDRFAMILY'
}

function asResolveError(name: string, error: unknown): ResolveError {
  if (error instanceof ResolveError) return error
  const problem = codeOf(error) === 'ETIMEOUT' ? 'timeout' : 'failed'
  return new ResolveError(problem, `The DNS lookup of ${name} failed (${codeOf(error)}).`, error)
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : 'unknown'
}
