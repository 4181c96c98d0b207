/**
 * Shares of the main thread at one level: credentials, addresses or organizations. Use fades within a window of time. While everything
 * fits there is no limit. Otherwise the heaviest accounts are cut to one level, so that light accounts keep what they use.
 */

export interface ShareRules {
  /** Use fades to a third within this time. An account that uses the whole thread has used as many milliseconds. */
  readonly windowMs: number
  /** Part of the thread that all accounts together may use; the rest is for deliveries and other work of the service. */
  readonly capacity: number
  /** Part of the thread that each account may always use. */
  readonly least: number
}

/** Accounts without use are forgotten after this many windows. */
const rememberedWindows = 10
const unusedMs = 0.1
/** Accounts above this use count while the thread is late, and are counted this often. */
const activeMs = 1
const countMs = 50

/** A sum whose parts fade. */
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
  readonly #accounts = new Map<string, Fading>()
  /** Accounts above `least`; few, as there is room for no more. */
  readonly #heavy = new Set<Fading>()
  readonly #total: Fading
  #sweptAt = -Infinity
  #active = 0
  #countedAt = -Infinity

  constructor(rules: ShareRules) {
    this.#rules = rules
    this.#total = new Fading(rules.windowMs)
  }

  /** Whether there is more than one account to share between. */
  get areShared(): boolean {
    return this.#accounts.size > 1
  }

  /** Counts a caller in, with or without use. */
  note(name: string, now: number): void {
    this.#account(name, now)
  }

  /** Adds use. Returns the part of it that is within `least`. */
  spend(name: string, ms: number, now: number): number {
    const account = this.#account(name, now)
    const least = this.#rules.least * this.#rules.windowMs
    const room = Math.max(0, least - account.at(now))
    account.add(ms, now)
    this.#total.add(ms, now)
    if (ms > room) this.#heavy.add(account)
    return Math.min(ms, room)
  }

  used(name: string, now: number): number {
    return this.#accounts.get(name)?.at(now) ?? 0
  }

  /** Milliseconds that an account may have used now. `lags`: the thread is late although accounts keep to their shares. */
  most(now: number, lags: boolean): number {
    const { windowMs, capacity } = this.#rules
    const room = capacity * windowMs
    if (lags) return this.#evenly(room, now)
    return this.areShared && this.#total.at(now) > room ? this.#level(room, now) : Infinity
  }

  /** The level to which the heaviest are cut, so that all fit: max-min fairness. */
  #level(room: number, now: number): number {
    const least = this.#rules.least * this.#rules.windowMs
    for (const account of this.#heavy) if (account.at(now) <= least) this.#heavy.delete(account)
    const uses = [...this.#heavy].map((account) => account.at(now)).toSorted((a, b) => a - b)
    let left = room - (this.#total.at(now) - uses.reduce((sum, use) => sum + use, 0))
    for (const [at, use] of uses.entries()) {
      const even = left / (uses.length - at)
      if (use > even) return Math.max(least, even)
      left -= use
    }
    return Infinity
  }

  #evenly(room: number, now: number): number {
    if (now - this.#countedAt >= countMs) {
      this.#countedAt = now
      this.#active = 0
      for (const account of this.#accounts.values()) if (account.at(now) > activeMs) this.#active++
    }
    return room / Math.max(1, this.#active)
  }

  #account(name: string, now: number): Fading {
    const known = this.#accounts.get(name)
    if (known) return known
    this.#sweep(now)
    const account = new Fading(this.#rules.windowMs)
    this.#accounts.set(name, account)
    return account
  }

  #sweep(now: number): void {
    if (now - this.#sweptAt < rememberedWindows * this.#rules.windowMs) return
    this.#sweptAt = now
    for (const [name, account] of this.#accounts) {
      if (account.at(now) > unusedMs) continue
      this.#accounts.delete(name)
      this.#heavy.delete(account)
    }
  }
}
