/** One request or message, whose main-thread time is charged to its caller. */
import { clientNetwork } from '../access/client-network.ts'
import type { Principal } from '../access/principal/principal.ts'
import { isLoopbackAddress } from '../outbound/address-guard.ts'
import type { Charged } from './thread-meter.ts'

export type Level = 'credential' | 'address' | 'organization'

export interface WorkFacts {
  /** Of the client. */
  readonly address: string
  /** A proxy of this machine passed it on. Anonymous clients are charged apart from programs of this machine. */
  readonly isForwarded?: boolean | undefined
  /** Works of one kind cost about the same. */
  readonly kind: string
  /** It waits for something to happen, and needs the thread before and after. */
  readonly waits?: boolean | undefined
  /** It is answered whatever the load, and not charged. */
  readonly isFree?: boolean | undefined
}

/** Names of the accounts that the work is charged to. */
export interface Callers {
  readonly credential: string
  /** Undefined for connections from this machine, which are a proxy's or the operator's. */
  readonly address: string | undefined
  readonly organization: string | undefined
  /** Of the credential; see `anybodysWeight`. */
  readonly weight: number
}

/** A caller that anybody can be, without an account, has this part of the share of a credential: many of them are soon made. */
const anybodysWeight = 0.1
/** Name of all callers of that weight together. */
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

/** Reads what a caller sends, piece by piece. */
export type Reading = Pick<Work, 'run' | 'pace'>

export class Work implements Charged {
  readonly facts: WorkFacts
  readonly #accounts: Accounts
  #callers: Callers
  #spent = 0
  #expected = 0
  /** Spent before the caller was known. */
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

  /** Whose turns of the event loop it takes. */
  get caller(): string {
    return this.#callers.weight < 1 ? anybody : this.#callers.credential
  }

  /** Callers whose works wait for each other: those of an organization, and all that anybody can be. */
  get crowd(): string {
    return this.#callers.weight < 1 ? anybody : `organization ${this.#callers.organization}`
  }

  /** Milliseconds of the main thread so far. */
  get spent(): number {
    return this.#spent
  }

  /** Names the caller. A key that stands in a web page is everybody's: each of its addresses is a caller. */
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

  /** It got its turn; a refused work never does. */
  get hasBegun(): boolean {
    return this.#hasBegun
  }

  /** Runs `call`, and charges the caller for it and all that follows from it. */
  run<T>(call: () => T): T {
    return this.facts.isFree ? call() : this.#accounts.run(this, call)
  }

  /** Resolves as the promise does, and names the work again. For waits within `run` that are not for the store. */
  async after<T>(wait: T | Promise<T>): Promise<T> {
    try {
      return await wait
    } finally {
      this.#accounts.resume()
    }
  }

  /** As `after`, for a wait for the client or others: the caller may begin other works meanwhile. */
  async away<T>(wait: Promise<T>): Promise<T> {
    const expected = this.#expected
    this.#release(expected)
    const result = await this.after(wait)
    if (this.#hasBegun) this.expect(expected)
    return result
  }

  /** It waits for others: nothing of it is expected soon. */
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

  /** Resolves when the caller may go on; undefined when it may at once. Rejects with `rate_limit_exceeded`. The caller is final. */
  turn(): Promise<void> | undefined {
    this.#hasTurn = true
    if (this.facts.isFree) return undefined
    this.#assign()
    return this.#accounts.turn(this)
  }

  /**
   * Resolves when the caller may send its next piece of a message that has begun; undefined when it may at once. Never rejects: what a
   * caller beyond its share sends is read slowly. The caller is final.
   */
  pace(): Promise<void> | undefined {
    if (this.facts.isFree) return undefined
    this.#assign()
    return this.#accounts.pace(this)
  }

  /**
   * The reason why the work failed. A refusal takes time too, so a caller that sends nothing but wrong requests waits for its turn like any
   * other.
   */
  async failed(error: unknown): Promise<unknown> {
    if (this.#hasTurn) return error
    try {
      await this.turn()
      return error
    } catch (refusal) {
      return refusal
    }
  }

  /** Counts work that is about to begin. */
  expect(ms: number): void {
    this.#hasBegun = true
    this.#expected = ms
    this.#accounts.reserve(this, ms)
  }

  /** The answer is known. What follows from it is charged all the same. */
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
