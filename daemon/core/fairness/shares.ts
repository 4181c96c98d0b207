/**
 * Shares of the main thread at one level: credentials, addresses or organizations. Use decays over a time window. There is no limit while
 * total use is within the capacity. Otherwise the heaviest accounts are cut to a common level, so that light accounts keep their use.
 */

export interface ShareRules {
  /** Use decays to about a third within this time. An account with the whole thread has used this many milliseconds. */
  readonly windowMs: number
  /** Part of the thread for all accounts; the rest is for deliveries and other work of the service. */
  readonly capacity: number
  /** Part of the thread that each account of weight 1 may always use. */
  readonly least: number
}

interface Account {
  readonly use: Fading
  /** Share relative to an account of weight 1. */
  readonly weight: number
}

/** Accounts without use are removed after this many windows. */
const rememberedWindows = 10
const unusedMs = 0.1
/** While the thread is late, accounts above this use share the capacity; the count is updated at this interval. */
const activeMs = 1
const countMs = 50

/** A decaying sum. */
class Fading {
  readonly #windowMs: number
  #value = 0
  #at = 0

  constructor(windowMs: number) {
    this.#windowMs = windowMs
  }

  add(amount: number, now: number): void {
    this.#value = this.at(now) + amount
    this.#at = now
  }

  at(now: number): number {
    return this.#value === 0 ? 0 : this.#value * Math.exp((this.#at - now) / this.#windowMs)
  }
}

export class Shares {
  readonly #rules: ShareRules
  readonly #accounts = new Map<string, Account>()
  /** Accounts above `least`; few, because of the limited capacity. */
  readonly #heavy = new Set<Account>()
  readonly #total: Fading
  #sweptAt = -Infinity
  /** Total weight of active accounts. */
  #active = 0
  #countedAt = -Infinity

  constructor(rules: ShareRules) {
    this.#rules = rules
    this.#total = new Fading(rules.windowMs)
  }

  /** True if more than one account exists. */
  get areShared(): boolean {
    return this.#accounts.size > 1
  }

  /** Registers a caller, with or without use. */
  note(name: string, now: number, weight = 1): void {
    this.#account(name, now, weight)
  }

  /** Adds use. Returns the part within `least`. */
  spend(name: string, ms: number, now: number, weight = 1): number {
    const account = this.#account(name, now, weight)
    const room = Math.max(0, this.#leastOf(account) - account.use.at(now))
    account.use.add(ms, now)
    this.#total.add(ms, now)
    if (ms > room) this.#heavy.add(account)
    return Math.min(ms, room)
  }

  used(name: string, now: number): number {
    return this.#accounts.get(name)?.use.at(now) ?? 0
  }

  /** Returns the maximum use of an account in milliseconds. `lags`: the thread is late although all accounts stay within their shares. */
  most(name: string, now: number, lags: boolean): number {
    const { windowMs, capacity } = this.#rules
    const room = capacity * windowMs
    const weight = this.#accounts.get(name)?.weight ?? 1
    if (lags) return weight * this.#evenly(room, now)
    return this.areShared && this.#total.at(now) > room ? weight * this.#level(room, now) : Infinity
  }

  /** Returns the common level for weight 1 that fits total use into the capacity: max-min fairness. */
  #level(room: number, now: number): number {
    for (const account of this.#heavy) if (account.use.at(now) <= this.#leastOf(account)) this.#heavy.delete(account)
    const heavy = [...this.#heavy].map(({ use, weight }) => ({ use: use.at(now), weight }))
    heavy.sort((a, b) => a.use / a.weight - b.use / b.weight)
    let left = room - (this.#total.at(now) - heavy.reduce((sum, { use }) => sum + use, 0))
    let weights = heavy.reduce((sum, { weight }) => sum + weight, 0)
    for (const { use, weight } of heavy) {
      const even = left / weights
      if (use / weight > even) return Math.max(this.#rules.least * this.#rules.windowMs, even)
      left -= use
      weights -= weight
    }
    return Infinity
  }

  #leastOf({ weight }: Account): number {
    return weight * this.#rules.least * this.#rules.windowMs
  }

  #evenly(room: number, now: number): number {
    if (now - this.#countedAt >= countMs) {
      this.#countedAt = now
      this.#active = 0
      for (const { use, weight } of this.#accounts.values()) if (use.at(now) > activeMs) this.#active += weight
    }
    return room / Math.max(1, this.#active)
  }

  #account(name: string, now: number, weight: number): Account {
    const known = this.#accounts.get(name)
    if (known) return known
    this.#sweep(now)
    const account = { use: new Fading(this.#rules.windowMs), weight }
    this.#accounts.set(name, account)
    return account
  }

  #sweep(now: number): void {
    if (now - this.#sweptAt < rememberedWindows * this.#rules.windowMs) return
    this.#sweptAt = now
    for (const [name, account] of this.#accounts) {
      if (account.use.at(now) > unusedMs) continue
      this.#accounts.delete(name)
      this.#heavy.delete(account)
    }
  }
}
