/** One request or message, with its main-thread time charged to its caller. */
import { clientNetwork } from '../access/client-network.ts'
import type { Principal } from '../access/principal/principal.ts'
import { isLoopbackAddress } from '../outbound/address-guard.ts'
import type { Charged } from './thread-meter.ts'

export type Level = 'credential' | 'address' | 'organization'

export interface WorkFacts {
  /** Address of the client. */
  readonly address: string
  /** Forwarded by a proxy on this machine. Anonymous clients are charged separately from local programs. */
  readonly isForwarded?: boolean | undefined
  /** Works of one kind cost about the same. */
  readonly kind: string
  /** Waits for an event, and needs the thread before and after the wait. */
  readonly waits?: boolean | undefined
  /** Always answered under load, and not charged. */
  readonly isFree?: boolean | undefined
}

/** Accounts that the work is charged to. */
export interface Callers {
  readonly credential: string
  /** Undefined for connections from this machine, which belong to a proxy or the operator. */
  readonly address: string | undefined
  readonly organization: string | undefined
  /** Weight of the credential; see `anybodysWeight`. */
  readonly weight: number
}

/** Share of an unauthenticated caller, relative to a credential, because such callers are easily created in large numbers. */
const anybodysWeight = 0.1
/** Name for all callers with that weight. */
export const anybody = 'anybody'

/** Accounts of all works. */
interface Accounts {
  run<T>(work: Work, call: () => T): T
  resume(): void
  spend(work: Work, ms: number): void
  turn(work: Work): Promise<void> | undefined
  pace(work: Work): Promise<void> | undefined
  reserve(work: Work, ms: number): void
  ended(work: Work): void
}

/** Reads a caller's data piece by piece. */
export type Reading = Pick<Work, 'run' | 'pace'>

export class Work implements Charged {
  readonly facts: WorkFacts
  readonly #accounts: Accounts
  #callers: Callers
  #spent = 0
  #expected = 0
  /** Time used before `belongsTo` and `turn` determined the caller. */
  #unassigned = 0
  #isAssigned = false
  #hasTurn = false
  #hasBegun = false

  constructor(facts: WorkFacts, accounts: Accounts) {
    this.facts = facts
    this.#accounts = accounts
    const address = clientNetwork(facts.address)
    const isOwn = isLoopbackAddress(facts.address)
    this.#callers = {
      credential: `anonymous ${facts.isForwarded ? 'client of a proxy at ' : ''}${address}`,
      address: isOwn ? undefined : address,
      organization: undefined,
      weight: anybodysWeight,
    }
  }

  get callers(): Callers {
    return this.#callers
  }

  /** Name of the caller for turns of the event loop. */
  get caller(): string {
    return this.#callers.weight < 1 ? anybody : this.#callers.credential
  }

  /** Name of the group of callers whose works wait for each other: an organization, or all unauthenticated callers. */
  get crowd(): string {
    return this.#callers.weight < 1 ? anybody : `organization ${this.#callers.organization}`
  }

  /** Milliseconds of main-thread time used. */
  get spent(): number {
    return this.#spent
  }

  /** Sets the caller. A publishable key is public, so each of its client addresses is a separate caller. */
  belongsTo({
    credentialId,
    organizationId,
    publishableToken,
    holder,
  }: Pick<Principal, 'credentialId' | 'organizationId' | 'publishableToken' | 'holder'>): void {
    const { address } = this.#callers
    const credential = publishableToken === undefined ? credentialId : `${credentialId} ${clientNetwork(this.facts.address)}`
    const isAnybodys = publishableToken !== undefined || holder?.kind === 'anonymous'
    this.#callers = { credential, address, organization: organizationId, weight: isAnybodys ? anybodysWeight : 1 }
  }

  /** True once the work has had its turn; never for a refused work. */
  get hasBegun(): boolean {
    return this.#hasBegun
  }

  /** Runs `call`, and charges the caller for it and for its asynchronous consequences. */
  run<T>(call: () => T): T {
    return this.facts.isFree ? call() : this.#accounts.run(this, call)
  }

  /** Resolves like the promise, and then marks the work as current. For waits within `run` that are not for the store. */
  async after<T>(wait: T | Promise<T>): Promise<T> {
    try {
      return await wait
    } finally {
      this.#accounts.resume()
    }
  }

  /** Like `after`, for a wait for the client or others, during which the caller may begin other works. */
  async away<T>(wait: Promise<T>): Promise<T> {
    const expected = this.#expected
    this.#release(expected)
    const result = await this.after(wait)
    if (this.#hasBegun) this.expect(expected)
    return result
  }

  /** Marks the work as waiting for others, with no expected cost. */
  rest(): void {
    this.#release(this.#expected)
  }

  spend(ms: number): void {
    this.#spent += ms
    if (!this.#isAssigned) {
      this.#unassigned += ms
      return
    }
    this.#accounts.spend(this, ms)
    this.#release(Math.min(ms, this.#expected))
  }

  /**
   * Resolves when the work may continue; returns undefined if it may continue immediately. Rejects with `rate_limit_exceeded`. The caller
   * must not change afterwards.
   */
  turn(): Promise<void> | undefined {
    this.#hasTurn = true
    if (this.facts.isFree) return undefined
    this.#assign()
    return this.#accounts.turn(this)
  }

  /**
   * Resolves when the caller may send the next piece of a message; undefined if immediately. Never rejects: data of a caller beyond its
   * share is read slowly. The caller must not change afterwards.
   */
  pace(): Promise<void> | undefined {
    if (this.facts.isFree) return undefined
    this.#assign()
    return this.#accounts.pace(this)
  }

  /** Returns the error of a failed work. Refusals cost time too, so a caller with only invalid requests waits for its turn like others. */
  async failed(error: unknown): Promise<unknown> {
    if (this.#hasTurn) return error
    try {
      await this.turn()
      return error
    } catch (refusal) {
      return refusal
    }
  }

  /** Reserves the expected cost of a work that is about to begin. */
  expect(ms: number): void {
    this.#hasBegun = true
    this.#expected = ms
    this.#accounts.reserve(this, ms)
  }

  /** Ends the work when its result is ready. Later consequences are still charged. */
  end(): void {
    if (this.facts.isFree) return
    this.#assign()
    this.#release(this.#expected)
    this.#accounts.ended(this)
  }

  #assign(): void {
    if (this.#isAssigned) return
    this.#isAssigned = true
    this.#accounts.spend(this, this.#unassigned)
  }

  #release(ms: number): void {
    this.#expected -= ms
    if (ms > 0) this.#accounts.reserve(this, -ms)
  }
}
