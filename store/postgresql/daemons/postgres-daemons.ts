/**
 * The daemons that share a database. On one connection, each daemon updates its beat, listens for notices and takes leases. A daemon that
 * missed its beats for seconds is removed and ends: its cached data is outdated, and it can write nothing.
 */
import { setTimeout as wait } from 'node:timers/promises'
import type { Client } from 'pg'
import { staleMs, type Daemons, type SharedWork } from '../../daemons/daemons.ts'
import type { SharedTries } from '../../daemons/tries.ts'
import { WorkTurns } from '../../daemons/work-turns.ts'
import { StoreFailure } from '../../kv.ts'
import { otherSession } from '../connections/session.ts'
import { isOfOtherSession } from '../failures.ts'
import type { Servers } from '../servers.ts'
import { doOthersHold, giveBackLease, holders, takeLeases } from './leases.ts'
import { beat, bury, depart, Fellows, join } from './membership.ts'
import { gapTopic, noticeOf, Outgoing, payloadsOf, toPayload, type Notice } from './notices.ts'
import { Answers, Questions } from './questions.ts'

const beatMs = 1000
/** A beat without a response for this time may be in transit to a dead server. */
const lostMs = 5000
/** Interval of checks for a promoted server while the current server still runs. */
const promotedMs = 10_000
/** Smaller differences to the time of the server are ignored. */
const smallestStepMs = 50
/** Some leases are free again. */
const leasesTopic = 'leases'
const arrivedTopic = 'arrived'
/** Wakes works to look for new items. */
const lookTopic = 'look'
/** Advisory lock during the start of a daemon; the name in bytes. */
const startLock = 0x7073_7274
/** The server releases the lock of a daemon that is silent for this time. */
const turnIdleMs = 10_000
/** Lease in addition to the lock. Its holder can write until it returns the lease or is removed, even if the server released the lock. */
const turnLease = 'start'
const turnPauseMs = 100
const lost = 'A daemon could not take over or give back its work.'

export class PostgresDaemons implements Daemons {
  readonly isAlone = false
  readonly tries: SharedTries
  readonly #servers: Servers
  readonly id: string
  readonly #onFailure: (error: StoreFailure) => void
  readonly #fellows: Fellows
  readonly #turns: WorkTurns
  readonly #outgoing = new Outgoing()
  readonly #listeners = new Map<string, ((items: readonly string[]) => void)[]>()
  readonly #gaps: (() => void)[] = []
  readonly #looks: (() => Promise<void>)[] = []
  readonly #acts = new Map<string, (items: readonly string[]) => Promise<unknown>>()
  readonly #questions = new Questions()
  readonly #answers = new Answers()
  #client: Client | undefined
  #connecting: Promise<Client> | undefined
  #channel = ''
  #currentUntil = 0
  #lookedForPromoted = 0
  /** The time of the server when the monotonic clock was 0, in milliseconds. */
  #epoch = 0
  #timer: NodeJS.Timeout | undefined
  #beating: Promise<void> | undefined
  #isAgain = false
  #sending: Promise<void> | undefined
  #burying: Promise<void> | undefined
  readonly #closing = Promise.withResolvers<void>()
  #isClosed = false

  private constructor(servers: Servers, id: string, tries: SharedTries, onFailure: (error: StoreFailure) => void) {
    this.#servers = servers
    this.tries = tries
    this.id = id
    this.#onFailure = onFailure
    this.#fellows = new Fellows(id)
    const leases = {
      take: async (names: readonly string[]) => takeLeases(await this.#connection(), id, names),
      giveBack: async (name: string) => {
        await this.#patiently((client) => giveBackLease(client, id, name))
        this.publish(leasesTopic, [name])
      },
    }
    this.#turns = new WorkTurns(id, leases, (error) => this.#fail(lost, error))
  }

  /** Joins the daemons at the store. `id`: the id of the writer. */
  static async join(servers: Servers, id: string, tries: SharedTries, onFailure: (error: StoreFailure) => void): Promise<PostgresDaemons> {
    const daemons = new PostgresDaemons(servers, id, tries, onFailure)
    const client = await daemons.#connection()
    await join(client, id)
    const began = performance.now()
    daemons.#setClock((await beat(client, id)) ?? Date.now(), began)
    daemons.#lookedForPromoted = began
    daemons.#currentUntil = performance.now() + staleMs
    daemons.#timer = setTimeout(() => daemons.#beatNow(), beatMs)
    return daemons
  }

  isRunning(id: string): boolean {
    return this.#fellows.has(id)
  }

  publish(topic: string, items: readonly string[]): void {
    if (this.#isClosed) return
    this.#outgoing.add(topic, items)
    this.#sending ??= this.#send()
  }

  async publishToAll(topic: string, items: readonly string[]): Promise<void> {
    if (this.#isClosed) return
    const { promise: isLate, resolve } = Promise.withResolvers<void>()
    const timer = setTimeout(resolve, staleMs) // daemons without an answer check the store before they act
    try {
      const client = await this.#connection()
      const others = await this.#others(client)
      if (others.length === 0) return
      using asked = this.#questions.ask(others)
      await this.#notify(client, withAnswer(payloadsOf({ from: this.id, topic, items }), asked.id))
      await Promise.race([asked.answered, isLate])
    } catch {
      await isLate // the connection was lost; all other daemons look at their next beat
    } finally {
      clearTimeout(timer)
    }
  }

  onAsked(topic: string, act: (items: readonly string[]) => Promise<unknown>): void {
    this.#acts.set(topic, act)
  }

  async askOthers(topic: string, items: readonly string[]): Promise<void> {
    const others = await this.#servers.patiently(async () => this.#others(await this.#connection()), () => false) // prettier-ignore
    if (others.length === 0) return
    await Promise.all(payloadsOf({ from: this.id, topic, items }).map((payload) => this.#askUntilAnswered(others, payload)))
  }

  /** Repeats the notice, because it is lost if the connection of either side ends. */
  async #askUntilAnswered(others: readonly string[], payload: string): Promise<void> {
    using asked = this.#questions.ask(others)
    const answered = asked.answered.then(() => true)
    for (let isOver = false; !isOver;) {
      if (this.#isClosed) throw new StoreFailure('The daemon stops before all others have answered.')
      await this.#connection()
        .then((client) => this.#notify(client, withAnswer([payload], asked.id)))
        .catch(() => undefined)
      isOver = await Promise.race([answered, wait(beatMs, false)])
    }
  }

  async #others(client: Client): Promise<readonly string[]> {
    const { rows } = await client.query<{ id: string }>('SELECT id FROM postern_daemons WHERE id <> $1', [this.id])
    return rows.map(({ id }) => id)
  }

  subscribe(topic: string, listener: (items: readonly string[]) => void): void {
    this.#listeners.set(topic, [...(this.#listeners.get(topic) ?? []), listener])
  }

  onGap(listener: () => void): void {
    this.#gaps.push(listener)
  }

  onBeat(look: () => Promise<void>): void {
    this.#looks.push(look)
  }

  isCurrent(): boolean {
    return performance.now() < this.#currentUntil
  }

  /** Returns the time of the database, advanced by the local monotonic clock. Changes of the local time of day have no effect. */
  now(): number {
    return Math.round(this.#epoch + performance.now())
  }

  async share(work: SharedWork): Promise<void> {
    this.#turns.add(work)
    this.#beatNow()
  }

  leave(name: string): Promise<void> {
    return this.#turns.leave(name)
  }

  holds(name: string): boolean {
    return this.#turns.holds(name)
  }

  placeOf(scheduled: string): 'here' | 'elsewhere' | 'everywhere' {
    return this.#turns.placeOf(scheduled)
  }

  wake(name: string, here: () => void): void {
    if (this.#turns.holds(name)) here()
    else this.publish(lookTopic, [name])
  }

  async doOthersWork(): Promise<boolean> {
    return this.#servers.patiently(async () => doOthersHold(await this.#connection(), this.id), () => this.#isClosed) // prettier-ignore
  }

  async inTurn<Result>(work: () => Promise<Result>): Promise<Result> {
    const client = await this.#servers.connect('postern start', turnIdleMs)
    let timer: NodeJS.Timeout | undefined
    try {
      await client.query('BEGIN')
      await client.query('SELECT pg_advisory_xact_lock($1)', [startLock])
      timer = setInterval(() => void client.query('SELECT 1').catch(() => undefined), beatMs)
      while (!(await this.#patiently((own) => this.#takeTurn(own)))) await wait(turnPauseMs)
      return await work()
    } finally {
      if (!this.#isClosed)
        await this.#patiently((own) => giveBackLease(own, this.id, turnLease)).catch((error: unknown) => this.#fail(lost, error))
      clearInterval(timer)
      await client.end()
    }
  }

  /** Returns whether this daemon holds the lease of a turn, which it keeps after the loss of the lock while it can write. */
  async #takeTurn(client: Client): Promise<boolean> {
    if (this.#isClosed) throw new StoreFailure('The daemon stops while it waits for its turn.')
    await takeLeases(client, this.id, [turnLease])
    return (await holders(client)).get(turnLease) === this.id
  }

  /** Removes this daemon, so that others take over at once. */
  async close(): Promise<void> {
    this.#isClosed = true
    this.#closing.resolve()
    clearTimeout(this.#timer)
    await this.#beating
    await this.#sending
    await this.#burying
    const client = this.#client
    this.#client = undefined
    if (!client) return
    await depart(client, this.id).catch(() => undefined)
    await this.#notify(client, payloadsOf({ from: this.id, topic: leasesTopic, items: [] })).catch(() => undefined)
    await client.end().catch(() => undefined)
  }

  /** Starts a beat now, or immediately after the current beat. */
  #beatNow(): void {
    if (this.#isClosed) return
    this.#isAgain = true
    this.#beating ??= this.#beatOn()
  }

  async #beatOn(): Promise<void> {
    clearTimeout(this.#timer)
    while (this.#isAgain && !this.#isClosed) {
      this.#isAgain = false
      const unanswered = setInterval(() => void this.#servers.breakOffLost(), lostMs)
      try {
        await this.#beat()
      } catch (error) {
        if (error instanceof StoreFailure) this.#onFailure(error)
        else if (isOfOtherSession(error)) this.#onFailure(otherSession(error))
        else this.#hangUp() // unreachable: the writes of the store decide when this is a failure
      } finally {
        clearInterval(unanswered)
      }
    }
    this.#beating = undefined
    if (!this.#isClosed) this.#timer = setTimeout(() => this.#beatNow(), beatMs)
  }

  async #beat(): Promise<void> {
    const began = performance.now()
    const client = await this.#connection()
    const time = await beat(client, this.id)
    if (time === undefined)
      throw new StoreFailure('Other daemons removed this daemon because it did not respond for seconds. Start it again.')
    this.#setClock(time, began)
    const { living, silent } = await this.#fellows.look(client, began)
    if (silent.size > 0) this.#burying ??= this.#bury(silent)
    if (!this.#outgoing.isEmpty) this.#sending ??= this.#send()
    this.#questions.living([...living, ...silent.keys()]) // a silent daemon may write until it is removed
    await Promise.race([Promise.all(this.#looks.map((look) => look())), this.#closing.promise]) // a stop does not wait for listeners
    if (this.#isClosed) return
    this.#currentUntil = began + staleMs
    if (began - this.#lookedForPromoted > promotedMs) {
      this.#lookedForPromoted = began
      void this.#servers.lookForPromoted()
    }
    await this.#turns.look(await holders(client), living)
  }

  /** Uses a separate connection, which may wait for a transaction of a silent daemon. Reports a gap for writes without a notice. */
  async #bury(silent: ReadonlyMap<string, string>): Promise<void> {
    try {
      const client = await this.#servers.connect('postern takes over')
      try {
        for (const [id, last] of silent) await bury(client, id, last)
      } finally {
        await client.end()
      }
      this.publish(gapTopic, [])
      this.#reportGap()
      this.#beatNow()
    } catch {
      // the next beat tries again
    } finally {
      this.#burying = undefined
    }
  }

  /** `time`: time of the server between `asked` and now. Differences within the round trip are ignored. */
  #setClock(time: number, asked: number): void {
    const epoch = time - (asked + performance.now()) / 2
    if (Math.abs(epoch - this.#epoch) > smallestStepMs) this.#epoch = epoch
  }

  /** Uses the own connection, and another one if it is lost. */
  #patiently<Result>(work: (client: Client) => Promise<Result>): Promise<Result> {
    const attempt = async (): Promise<Result> => {
      try {
        return await work(await this.#connection())
      } catch (error) {
        this.#hangUp()
        throw error
      }
    }
    return this.#servers.patiently(attempt, () => false)
  }

  /** All callers share one attempt to connect. */
  async #connection(): Promise<Client> {
    return this.#client ?? (await (this.#connecting ??= this.#connect().finally(() => (this.#connecting = undefined))))
  }

  async #connect(): Promise<Client> {
    const client = await this.#servers.connect('postern daemon')
    const { rows } = await client.query<{ channel: string }>("SELECT 'postern_' || md5(current_schema()) AS channel")
    this.#channel = rows[0]?.channel ?? ''
    client.on('notification', ({ payload }) => this.#receive(noticeOf(payload ?? '')))
    client.on('end', () => this.#client === client && this.#hangUp())
    await client.query(`LISTEN ${this.#channel}`)
    this.#client = client
    this.#reportGap() // earlier notices did not arrive
    return client
  }

  #hangUp(): void {
    const client = this.#client
    this.#client = undefined
    void client?.end().catch(() => undefined)
  }

  #receive(notice: Notice | undefined): void {
    if (!notice || notice.from === this.id) return
    const { from, topic, items, answer } = notice
    if (topic === gapTopic) this.#reportGap()
    else if (topic === lookTopic) this.#turns.wake(items)
    else if (topic === leasesTopic) this.#beatNow()
    else if (topic === arrivedTopic) for (const one of items) this.#questions.arrived(one, from)
    else for (const listener of this.#listeners.get(topic) ?? []) listener(items)
    if (answer === undefined) return
    const arrived = (): void => this.publish(arrivedTopic, [answer])
    const act = this.#acts.get(topic)
    if (!act) arrived()
    else this.#answers.give(answer, () => act(items), arrived).catch(() => undefined) // the other daemon asks again
  }

  #reportGap(): void {
    for (const listener of this.#gaps) listener()
    this.#turns.wake()
  }

  async #send(): Promise<void> {
    await new Promise(setImmediate) // notices of the same turn of the event loop go out together
    while (!this.#outgoing.isEmpty && !this.#isClosed) {
      const payloads = this.#outgoing.take(this.id)
      try {
        await this.#notify(await this.#connection(), payloads)
      } catch {
        this.#outgoing.add(gapTopic, []) // the next beat with a connection publishes it
        break
      }
    }
    this.#sending = undefined
  }

  async #notify(client: Client, payloads: readonly string[]): Promise<void> {
    await client.query({
      name: 'postern notify',
      text: 'SELECT pg_notify($1, payload) FROM unnest($2::text[]) AS notices(payload)',
      values: [this.#channel, payloads],
    })
  }

  #fail(message: string, cause: unknown): void {
    this.#onFailure(cause instanceof StoreFailure ? cause : new StoreFailure(message, { cause }))
  }
}

/** Requests an answer to the last payload. */
const withAnswer = (payloads: readonly string[], answer: string): string[] =>
  payloads.map((payload, i) => (i === payloads.length - 1 ? toPayload({ ...(JSON.parse(payload) as Notice), answer }) : payload))
