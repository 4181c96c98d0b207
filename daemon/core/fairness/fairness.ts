/**
 * Fair use of the main thread. Accounts time by credential (by address for anonymous callers), then by address, then by organization. Under
 * load the heaviest caller waits, and is refused after a timeout. A caller below its share is never refused.
 */
import type { Clock, Timer } from '../clock.ts'
import { Refusal } from '../refusals.ts'
import { Shares, type ShareRules } from './shares.ts'
import { noMeter, type Meter } from './thread-meter.ts'
import { nextTurn } from './turns.ts'
import { Work, type Level, type WorkFacts } from './work.ts'

export interface FairnessOptions {
  readonly clock: Clock
  readonly meter?: Pick<Meter, 'run' | 'resume' | 'settle'>
  /** Returns true if the event loop is late, for any reason. */
  readonly lags?: () => boolean
}

const rules: ShareRules = { windowMs: 1000, capacity: 0.7, least: 0.05 }
/**
 * Above this part of the thread, a caller has at most `aheadMs` of work in flight, and reads one piece of its messages per turn of the
 * event loop. Its bursts then do not delay others.
 */
const paced = 0.1
const aheadMs = 10
/** Maximum work in flight of any other caller, and of each group of callers, because all of it may be in memory. */
const mostAheadMs = 100
/** A work with a longer expected time begins in a separate turn of its caller, because many requests can arrive in one turn. */
const aloneMs = 5
/** Works without activity for this time wait for others, and no longer count as in flight. */
const restMs = 5000
/** Maximum wait of a caller beyond its share. A caller below it only waits for its own works. */
const waitMs = 2000
const lookMs = 20
const maxRetrySeconds = 30
/** Expected cost of a work of an unknown kind. */
const unknownMs = 1
/** Weight of the latest work in an average. */
const newest = 0.2
const maxNames = 10_000

/** Work of one caller that waits for its turn, in order of arrival. */
interface Queued {
  readonly work: Work
  readonly since: number
  /** Continues reading a message: cannot be refused, and is not a separate work. */
  readonly isReading: boolean
  readonly resolve: () => void
  readonly reject: (error: Refusal) => void
}

export class Fairness {
  readonly #clock: Clock
  readonly #meter: Pick<Meter, 'run' | 'resume' | 'settle'>
  readonly #lags: () => boolean
  readonly #shares: Readonly<Record<Level, Shares>> = {
    credential: new Shares(rules),
    address: new Shares(rules),
    organization: new Shares(rules),
  }
  /** Expected milliseconds of work in flight, by credential and by group. */
  readonly #ahead = new Map<string, number>()
  /** Start or last activity of each work in flight, by credential. */
  readonly #inFlight = new Map<string, Map<Work, number>>()
  /** Average milliseconds of a work, by credential and by kind. */
  readonly #averages = new Map<string, number>()
  readonly #queues = new Map<string, Queued[]>()
  #timer: Timer | undefined

  constructor({ clock, meter = noMeter, lags = () => false }: FairnessOptions) {
    this.#clock = clock
    this.#meter = meter
    this.#lags = lags
  }

  /** Begins a request or a message. Its caller is anonymous until set. */
  begin(facts: WorkFacts): Work {
    return new Work(facts, {
      run: (work, call) => this.#meter.run(work, call),
      resume: () => this.#meter.resume(),
      spend: (work, ms) => this.#spend(work, ms),
      turn: (work) => this.#turn(work),
      pace: (work) => this.#pace(work),
      reserve: (work, ms) => this.#reserve(work, ms),
      ended: (work) => this.#ended(work),
    })
  }

  /** Charges only use within the share to the next level, so that a heavy account does not burden others on that level. */
  #spend(work: Work, ms: number): void {
    const { credential, address, organization, weight } = work.callers
    const now = this.#clock.monotonic()
    const inFlight = this.#inFlight.get(credential)
    if (inFlight?.has(work)) inFlight.set(work, now)
    const light = this.#shares.credential.spend(credential, ms, now, weight)
    const lightThere = address === undefined ? light : this.#shares.address.spend(address, light, now)
    if (organization !== undefined) this.#shares.organization.spend(organization, lightThere, now)
  }

  #reserve({ callers: { credential }, crowd }: Work, ms: number): void {
    for (const name of [credential, crowd]) {
      const ahead = (this.#ahead.get(name) ?? 0) + ms
      if (ahead > 0.001) this.#ahead.set(name, ahead)
      else this.#ahead.delete(name)
    }
  }

  #turn(work: Work): Promise<void> | undefined {
    const now = this.#clock.monotonic()
    const { credential, weight } = work.callers
    this.#shares.credential.note(credential, now, weight)
    if (this.#queues.has(credential) || this.#beyond(work, now) !== undefined || this.#isAhead(work, now))
      return this.#wait(work, now, false).then(() => this.#begin(work))
    this.#start(work, now)
    return this.#begin(work)
  }

  #begin(work: Work): Promise<void> | undefined {
    return this.#expected(work) > aloneMs ? nextTurn(work.caller) : undefined
  }

  #pace(work: Work): Promise<void> | undefined {
    const now = this.#clock.monotonic()
    const { credential, weight } = work.callers
    this.#shares.credential.note(credential, now, weight)
    if (this.#beyond(work, now) !== undefined) return this.#wait(work, now, true).then(() => nextTurn(credential))
    return this.#isPaced(credential, now) ? nextTurn(credential) : undefined
  }

  #wait(work: Work, now: number, isReading: boolean): Promise<void> {
    const { credential } = work.callers
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    const queued = { work, since: now, isReading, resolve, reject }
    const queue = this.#queues.get(credential)
    if (queue) queue.push(queued)
    else this.#queues.set(credential, [queued])
    if (!this.#timer) this.#timer = this.#clock.after(lookMs, () => this.#look())
    return promise
  }

  /** Returns the level with a share that the caller exceeds. */
  #beyond(work: Work, now: number): Level | undefined {
    const { credential, address, organization } = work.callers
    const shares = this.#shares
    if (this.#used(credential, now) > shares.credential.most(credential, now, this.#lags())) return 'credential'
    if (isOver(shares.address, address, now)) return 'address'
    return isOver(shares.organization, organization, now) ? 'organization' : undefined
  }

  /** Time used and reserved. */
  #used(credential: string, now: number): number {
    return this.#shares.credential.used(credential, now) + (this.#ahead.get(credential) ?? 0)
  }

  #isPaced(credential: string, now: number): boolean {
    return this.#used(credential, now) > paced * rules.windowMs && this.#shares.credential.areShared
  }

  /** Returns true if the caller or its group has enough work in flight. Small works do not wait for large works of their organization. */
  #isAhead(work: Work, now: number): boolean {
    const { credential, weight } = work.callers
    const expected = this.#expected(work)
    const isMore = (name: string, most: number): boolean => {
      const ahead = this.#ahead.get(name) ?? 0
      return ahead > 0 && ahead + expected > most
    }
    if (isMore(credential, this.#isPaced(credential, now) ? aheadMs : mostAheadMs)) return true
    return (weight < 1 || expected > aheadMs) && isMore(work.crowd, mostAheadMs)
  }

  #start(work: Work, now: number): void {
    if (work.facts.waits) return
    work.expect(this.#expected(work))
    const { credential } = work.callers
    const inFlight = this.#inFlight.get(credential)
    if (inFlight) inFlight.set(work, now)
    else this.#inFlight.set(credential, new Map([[work, now]]))
  }

  #expected({ callers: { credential }, facts: { kind } }: Work): number {
    return this.#averages.get(credential) ?? this.#averages.get(kind) ?? unknownMs
  }

  /** Includes the time used in the current turn of the event loop. */
  #ended(work: Work): void {
    this.#meter.settle()
    const { credential } = work.callers
    if (work.hasBegun) for (const name of [credential, work.facts.kind]) this.#average(name, work.spent)
    const inFlight = this.#inFlight.get(credential)
    if (inFlight?.delete(work) && inFlight.size === 0) this.#inFlight.delete(credential)
    if (this.#queues.has(credential)) this.#serve(credential, this.#clock.monotonic())
  }

  #average(name: string, spent: number): void {
    const before = this.#averages.get(name)
    if (before === undefined && this.#averages.size >= maxNames) this.#averages.clear()
    this.#averages.set(name, before === undefined ? spent : before + newest * (spent - before))
  }

  #look(): void {
    this.#timer = undefined
    const now = this.#clock.monotonic()
    for (const credential of [...this.#queues.keys()]) this.#serve(credential, now)
    if (this.#queues.size > 0) this.#timer = this.#clock.after(lookMs, () => this.#look())
  }

  /** Starts permitted works, and refuses works that have waited too long. */
  #serve(credential: string, now: number): void {
    const queue = this.#queues.get(credential) ?? []
    for (const [work, at] of this.#inFlight.get(credential) ?? []) if (now - at >= restMs) work.rest()
    let done = 0
    for (const { work, since, isReading, resolve, reject } of queue) {
      const level = this.#beyond(work, now)
      if (level === undefined ? !isReading && this.#isAhead(work, now) : now - since < waitMs) break
      done++
      if (level !== undefined && !isReading) {
        reject(this.#refusal(level, work, now))
        continue
      }
      if (!isReading) this.#start(work, now)
      resolve()
    }
    queue.splice(0, done)
    this.#queues.delete(credential)
    if (queue.length > 0) this.#queues.set(credential, queue) // after the other queues of its group
  }

  #refusal(level: Level, { callers }: Work, now: number): Refusal {
    const name = callers[level] ?? ''
    const used = this.#shares[level].used(name, now)
    const most = this.#shares[level].most(name, now, level === 'credential' && this.#lags())
    const seconds = used > most ? (Math.log(used / most) * rules.windowMs) / 1000 : 0
    const retryAfterSeconds = Math.min(maxRetrySeconds, Math.max(1, Math.ceil(seconds)))
    const message = `The service is busy, and ${names[level]} uses more than its share of it; send fewer requests at a time, and try again in ${retryAfterSeconds} s.`
    return new Refusal('rate_limit_exceeded', message, { retryAfterSeconds, details: { share_of: level } })
  }
}

const isOver = (shares: Shares, name: string | undefined, now: number): boolean =>
  name !== undefined && shares.used(name, now) > shares.most(name, now, false)

const names: Readonly<Record<Level, string>> = {
  credential: 'this key or client',
  address: 'your address',
  organization: 'your organization',
}
