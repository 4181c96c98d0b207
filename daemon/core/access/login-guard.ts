/** Brute-force limits on SMTP AUTH: sliding windows of failures per user and per address (a /64 for IPv6). */
import type { Clock } from '../clock.ts'
import { Refusal } from '../refusals.ts'
import { clientNetwork } from './client-network.ts'

export interface LoginLimits {
  readonly windowMs: number
  readonly failuresPerUser: number
  readonly failuresPerAddress: number
}

const defaultLoginLimits: LoginLimits = { windowMs: 15 * 60_000, failuresPerUser: 20, failuresPerAddress: 50 }
/** Beyond this many keys the oldest are forgotten, so that a flood cannot fill the memory. */
const keysMax = 50_000

/** Addresses remembered for a user. */
const welcomeMax = 8

export class LoginGuard {
  readonly #clock: Clock
  readonly #limits: LoginLimits
  // two generations, so that forgetting the oldest costs nothing
  #young = new Map<string, number[]>()
  #old = new Map<string, number[]>()
  /** Where users last logged in from; only real users get in here, so they are few. */
  readonly #welcome = new Map<string, readonly string[]>()

  constructor(clock: Clock, limits: LoginLimits = defaultLoginLimits) {
    this.#clock = clock
    this.#limits = limits
  }

  /** Throws `rate_limit_exceeded` when the user or the address failed too often. */
  check(username: string, address: string): void {
    const { failuresPerUser, failuresPerAddress } = this.#limits
    const userIsOpen =
      this.#recent(userKey(username)).length < failuresPerUser || (this.#welcome.get(username)?.includes(addressKey(address)) ?? false)
    if (userIsOpen && this.#recent(addressKey(address)).length < failuresPerAddress) return
    throw new Refusal('rate_limit_exceeded', 'Too many failed logins; wait a quarter of an hour and try again.', {
      retryAfterSeconds: Math.ceil(this.#limits.windowMs / 1000),
    })
  }

  failed(username: string, address: string): void {
    const { failuresPerUser, failuresPerAddress } = this.#limits
    this.#count(userKey(username), failuresPerUser)
    this.#count(addressKey(address), failuresPerAddress)
  }

  /**
   * A success clears the user, not the address: one valid account must not pay for spraying others. From then on the user
   * can log in from there whatever others try elsewhere, so that a known user name is not enough to lock a site out.
   */
  succeeded(username: string, address: string): void {
    const others = (this.#welcome.get(username) ?? []).filter((known) => known !== addressKey(address))
    this.#welcome.set(username, [addressKey(address), ...others].slice(0, welcomeMax))
    this.#young.delete(userKey(username))
    this.#old.delete(userKey(username))
  }

  /** Only the failures that matter for the limit are kept. */
  #count(key: string, limit: number): void {
    this.#young.set(key, [...this.#recent(key), this.#clock.monotonic()].slice(-limit))
    if (this.#young.size < keysMax / 2) return
    this.#old = this.#young
    this.#young = new Map()
  }

  #recent(key: string): number[] {
    const since = this.#clock.monotonic() - this.#limits.windowMs
    return (this.#young.get(key) ?? this.#old.get(key) ?? []).filter((at) => at > since)
  }
}

const userKey = (username: string): string => `user ${username}`

const addressKey = (address: string): string => `address ${clientNetwork(address)}`
