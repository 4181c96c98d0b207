/**
 * Limits failed logins of SMTP AUTH in sliding windows, per user and per address (a /64 for IPv6). Hundreds of sites can share an address.
 * An address with too many failures must therefore wait, but a correct login from it still succeeds. Passwords have 160 random bits, so the
 * limit protects the log, not their secrecy.
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

/** Recent failed logins of one user name from one address. */
export interface FailedLogin {
  /** An IPv4 address, or the /64 of an IPv6 address. */
  readonly address: string
  /** User name of the attempt, truncated to 64 characters. */
  readonly username: string
  readonly failures: number
  /** Milliseconds since the epoch. */
  readonly lastAt: number
  /** The limit that refused the last attempt, if any. */
  readonly blocked: 'user' | 'address' | null
}

const defaultLoginLimits: LoginLimits = { windowMs: 15 * 60_000, failuresPerUser: 20, failuresPerAddress: 50 }
/** Maximum number of rows in the operator's list; the latest remain. */
const maxListed = 1000
const shownCharacters = 64

/** Maximum number of remembered addresses of a user. */
const maxWelcome = 8
/** Daemons that share a store remember addresses for this time. */
const welcomeMs = 30 * 86_400_000

export class LoginGuard {
  readonly #clock: Clock
  readonly #limits: LoginLimits
  readonly #ofUser: Tries
  readonly #ofAddress: Tries
  /** Logins by user and address at all daemons; undefined if there is only one daemon. */
  readonly #logins: Tries | undefined
  /** Addresses of recent successful logins by user. Only existing users are added, so their number is small. */
  readonly #welcome = new Map<string, readonly string[]>()
  /** By address and user, latest last. */
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
   * Throws `rate_limit_exceeded` if the user failed too often, unless the user has logged in from this address before. Returns the number
   * of recent failures of the user.
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

  /** Counts a failure. Returns the refusal: `unauthorized`, or `rate_limit_exceeded` after too many failures from the address. */
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
   * Records a success. Clears the failures of the user but not of the address, so that a valid account does not help attacks on others. The
   * user can then log in from this address despite failures elsewhere. A known user name is therefore insufficient to lock out a site.
   * `failures` is the result of `check`.
   */
  async succeeded(username: string, address: string, failures: number): Promise<void> {
    const network = clientNetwork(address)
    const isKnown = this.#welcome.get(username)?.includes(network)
    const others = (this.#welcome.get(username) ?? []).filter((known) => known !== network)
    this.#welcome.set(username, [network, ...others].slice(0, maxWelcome))
    if (!isKnown) await this.#logins?.add(loginKey(username, network), { always: true })
    if (failures > 0) await this.#ofUser.clear(userKey(username))
  }

  /** Returns the failures of the current window, latest first; at most 1,000 pairs of address and user. */
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

/** Truncates user names, because invented names can be long; existing names are shorter. */
const userKey = (username: string): string => username.slice(0, 128)

const loginKey = (username: string, network: string): string => `${userKey(username)} ${network}`
