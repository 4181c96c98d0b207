/** What the servers of recipients in a mail test answer to RCPT (RFC 5321 §4.1.1.3). */
import { foldAddress } from '../addresses.ts'
import type { Clock } from '../clock.ts'
import { RecentMap } from '../recent-map.ts'
import { faultOf } from './fault.ts'

/** A reply of 400 or more, with its enhanced code (RFC 3463). */
export interface NegativeAnswer {
  readonly code: number
  readonly enhanced: string
  readonly text: string
}

/** Who is asked: our submission server by a program under test, or the recipients themselves by the delivery. */
export type AskedAt = 'submission' | 'delivery'

/** Addresses whose refusals are counted; the count of one that was seen long ago begins anew. */
const maxCounted = 10_000

const enhancedCodes: Readonly<Record<number, string>> = { 551: '5.1.6', 552: '5.2.2', 553: '5.1.3', 554: '5.7.1' }

export class TestRecipients {
  readonly #clock: Clock
  /** How often each address was refused since it was last taken. */
  readonly #refused = new RecentMap<string, number>(maxCounted)

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** Undefined when the recipient takes the mail. Resolves late for one that is slow. */
  async answer(address: string, askedAt: AskedAt): Promise<NegativeAnswer | undefined> {
    const fault = faultOf(address)
    if (fault?.kind === 'defer') return this.#defer(address, fault.amount)
    if (fault?.kind === 'slow') await this.#wait(fault.amount)
    if (fault?.kind === 'refuse' || (fault?.kind === 'bounce' && askedAt === 'submission')) return refusal(address, fault.amount)
    return undefined
  }

  #defer(address: string, times: number): NegativeAnswer | undefined {
    const key = foldAddress(address)
    const refused = (this.#refused.get(key) ?? 0) + 1
    if (refused > times) {
      this.#refused.delete(key)
      return undefined
    }
    this.#refused.set(key, refused)
    return { code: 451, enhanced: '4.7.1', text: `<${address}> is deferred for this mail test (${refused} of ${times}); try again.` }
  }

  #wait(seconds: number): Promise<void> {
    return new Promise((resolve) => void this.#clock.after(seconds * 1000, resolve))
  }
}

/** The refusal of a recipient for good. */
export const refusal = (address: string, code: number): NegativeAnswer => ({
  code,
  enhanced: enhancedCodes[code] ?? '5.1.1',
  text: `<${address}> is refused for this mail test.`,
})
