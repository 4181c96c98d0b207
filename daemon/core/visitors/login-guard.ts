/**
 * Brute-force limits on SMTP AUTH: sliding windows of failures per user and per address (a /64 for IPv6). Hundreds of sites
 * can share an address, so an address that failed too often has to wait, but a right login from it is let in all the same:
 * passwords are 160 random bits, and what the limit spares is not their secrecy but the log.
 */
import { clientNetwork } from '../access/client-network.ts'
import type { Clock } from '../clock.ts'
import { Refusal } from '../refusals.ts'
import { RecentTries } from './recent-tries.ts'

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

export class LoginGuard {
  readonly #clock: Clock
  readonly #limits: LoginLimits
  readonly #failures: RecentTries
  /** Where users last logged in from; only real users get in here, so they are few. */
  readonly #welcome = new Map<string, readonly string[]>()
  /** By address and user, the latest last. */
  readonly #listed = new Map<string, FailedLogin & { readonly monotonic: number }>()

  constructor(clock: Clock, limits: LoginLimits = defaultLoginLimits) {
    this.#clock = clock
    this.#limits = limits
    this.#failures = new RecentTries(clock, limits.windowMs)
  }

  /** Throws `rate_limit_exceeded` when the user failed too often, unless the user has logged in from this address before. */
  check(username: string, address: string): void {
    if (this.#failures.of(userKey(username)).length < this.#limits.failuresPerUser) return
    if (this.#welcome.get(username)?.includes(clientNetwork(address))) return
    this.#list(username, address, 'user')
    throw this.#tooMany()
  }

  /** Counts a failure. Returns the answer to it: `unauthorized`, or `rate_limit_exceeded` where there were too many from the address. */
  failed(username: string, address: string): Refusal {
    const { failuresPerUser, failuresPerAddress } = this.#limits
    const key = addressKey(address)
    const isCrowded = this.#failures.of(key).length >= failuresPerAddress
    this.#failures.add(userKey(username), failuresPerUser)
    this.#failures.add(key, failuresPerAddress)
    this.#list(username, address, isCrowded ? 'address' : null)
    if (isCrowded) return this.#tooMany()
    return new Refusal('unauthorized', 'Authentication failed; check the user name and password of the SMTP credential.')
  }

  /**
   * A success clears the user, not the address: one valid account must not pay for spraying others. From then on the user
   * can log in from there whatever others try elsewhere, so that a known user name is not enough to lock a site out.
   */
  succeeded(username: string, address: string): void {
    const network = clientNetwork(address)
    const others = (this.#welcome.get(username) ?? []).filter((known) => known !== network)
    this.#welcome.set(username, [network, ...others].slice(0, maxWelcome))
    this.#failures.clear(userKey(username))
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
const userKey = (username: string): string => `user ${username.slice(0, 128)}`

const addressKey = (address: string): string => `address ${clientNetwork(address)}`
