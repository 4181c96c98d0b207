/**
 * Brute-force limits on SMTP AUTH: sliding windows of failures per user and per address (a /64 for IPv6). Hundreds of sites
 * can share an address, so an address that failed too often has to wait, but a right login from it is let in all the same:
 * passwords are 160 random bits, and what the limit spares is not their secrecy but the log.
 */
import { clientNetwork } from '../access/client-network.ts'
import type { Clock } from '../clock.ts'
import { Refusal } from '../refusals.ts'
import { Tries, type TryOptions } from './tries.ts'

export interface LoginLimits {
  readonly windowMs: number
  readonly failuresPerUser: number
  readonly failuresPerAddress: number
}

/** Failed logins of one user name from one address, lately. */
export interface FailedLogin {
  /** An IPv4 address, or the /64 of an IPv6 address. */
  readonly address: string
  /** As it was tried, cut to 64 characters. */
  readonly username: string
  readonly failures: number
  /** Milliseconds since the epoch. */
  readonly lastAt: number
  /** Why the last one has to wait. */
  readonly blocked: 'user' | 'address' | null
}

const defaultLoginLimits: LoginLimits = { windowMs: 15 * 60_000, failuresPerUser: 20, failuresPerAddress: 50 }
/** Rows of the list for the operator; the latest stay. */
const maxListed = 1000
const shownCharacters = 64

/** Addresses remembered for a user. */
const maxWelcome = 8
/** So long daemons that share a store remember them. */
const welcomeMs = 30 * 86_400_000

export class LoginGuard {
  readonly #clock: Clock
  readonly #limits: LoginLimits
  readonly #ofUser: Tries
  readonly #ofAddress: Tries
  /** Logins by user and address, of all daemons; undefined where there is one. */
  readonly #logins: Tries | undefined
  /** Where users last logged in from; only real users get in here, so they are few. */
  readonly #welcome = new Map<string, readonly string[]>()
  /** By address and user, the latest last. */
  readonly #listed = new Map<string, FailedLogin & { readonly monotonic: number }>()

  constructor(options: TryOptions, limits: LoginLimits = defaultLoginLimits) {
    const { windowMs, failuresPerUser, failuresPerAddress } = limits
    this.#clock = options.clock
    this.#limits = limits
    this.#ofUser = new Tries(options, 'failed logins by user', { windowMs, most: failuresPerUser })
    this.#ofAddress = new Tries(options, 'failed logins by address', { windowMs, most: failuresPerAddress })
    if (options.database.daemons.tries) this.#logins = new Tries(options, 'logins', { windowMs: welcomeMs, most: 1 })
  }

  /**
   * Throws `rate_limit_exceeded` when the user failed too often, unless the user has logged in from this address before. Returns how often
   * the user failed lately.
   */
  async check(username: string, address: string): Promise<number> {
    const { tries } = await this.#ofUser.look(userKey(username))
    if (tries < this.#limits.failuresPerUser || (await this.#isWelcome(username, clientNetwork(address)))) return tries
    this.#list(username, address, 'user')
    throw this.#tooMany()
  }

  async #isWelcome(username: string, network: string): Promise<boolean> {
    if (this.#welcome.get(username)?.includes(network)) return true
    const logins = await this.#logins?.look(loginKey(username, network))
    return logins !== undefined && logins.tries > 0
  }

  /** Counts a failure. Returns the answer to it: `unauthorized`, or `rate_limit_exceeded` where there were too many from the address. */
  async failed(username: string, address: string): Promise<Refusal> {
    const [fromAddress] = await Promise.all([
      this.#ofAddress.add(clientNetwork(address), { always: true }),
      this.#ofUser.add(userKey(username), { always: true }),
    ])
    const isCrowded = fromAddress.tries >= this.#limits.failuresPerAddress
    this.#list(username, address, isCrowded ? 'address' : null)
    if (isCrowded) return this.#tooMany()
    return new Refusal('unauthorized', 'Authentication failed; check the user name and password of the SMTP credential.')
  }

  /**
   * A success clears the user, not the address: one valid account must not pay for spraying others. From then on the user
   * can log in from there whatever others try elsewhere, so that a known user name is not enough to lock a site out. `failures`: what
   * `check` returned.
   */
  async succeeded(username: string, address: string, failures: number): Promise<void> {
    const network = clientNetwork(address)
    const isKnown = this.#welcome.get(username)?.includes(network)
    const others = (this.#welcome.get(username) ?? []).filter((known) => known !== network)
    this.#welcome.set(username, [network, ...others].slice(0, maxWelcome))
    if (!isKnown) await this.#logins?.add(loginKey(username, network), { always: true })
    if (failures > 0) await this.#ofUser.clear(userKey(username))
  }

  /** The failures of this window, the latest first; at most 1,000 pairs of address and user. */
  list(): FailedLogin[] {
    const since = this.#clock.monotonic() - this.#limits.windowMs
    return [...this.#listed.values()]
      .filter(({ monotonic }) => monotonic > since)
      .map(({ monotonic: _, ...row }) => row)
      .toReversed()
  }

  #tooMany(): Refusal {
    return new Refusal('rate_limit_exceeded', 'Too many failed logins; wait 15 minutes and try again.', {
      retryAfterSeconds: Math.ceil(this.#limits.windowMs / 1000),
    })
  }

  #list(username: string, address: string, blocked: FailedLogin['blocked']): void {
    const row = { address: clientNetwork(address), username: username.slice(0, shownCharacters) }
    const key = `${row.address} ${row.username}`
    const monotonic = this.#clock.monotonic()
    const before = this.#listed.get(key)
    const isRecent = before !== undefined && before.monotonic > monotonic - this.#limits.windowMs
    this.#listed.delete(key)
    this.#listed.set(key, { ...row, failures: (isRecent ? before.failures : 0) + 1, lastAt: this.#clock.now(), blocked, monotonic })
    const [oldest] = this.#listed.keys()
    if (this.#listed.size > maxListed && oldest !== undefined) this.#listed.delete(oldest)
  }
}

/** Names that are made up can be long; none that exists is. */
const userKey = (username: string): string => username.slice(0, 128)

const loginKey = (username: string, network: string): string => `${userKey(username)} ${network}`
