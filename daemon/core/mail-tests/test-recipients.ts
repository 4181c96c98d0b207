/** Simulated replies to RCPT in a mail test (RFC 5321 §4.1.1.3). */
import { foldAddress } from '../addresses.ts'
import type { Clock } from '../clock.ts'
import { RecentMap } from '../recent-map.ts'
import { faultOf } from './fault.ts'

/** A reply with a code of 400 or more, and its enhanced code (RFC 3463). */
export interface NegativeAnswer {
  readonly code: number
  readonly enhanced: string
  readonly text: string
}

/** The server that receives RCPT: our submission server, or the recipient's server during delivery. */
export type AskedAt = 'submission' | 'delivery'

/** Maximum number of addresses with a refusal count; counts of the oldest addresses are dropped. */
const maxCounted = 10_000

const enhancedCodes: Readonly<Record<number, string>> = { 551: '5.1.6', 552: '5.2.2', 553: '5.1.3', 554: '5.7.1' }

export class TestRecipients {
  readonly #clock: Clock
  /** Number of refusals per address since its last acceptance. */
  readonly #refused = new RecentMap<string, number>(maxCounted)

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** Returns undefined if the recipient accepts the mail. Resolves late for a slow recipient. */
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

/** Returns the permanent refusal of a recipient. */
export const refusal = (address: string, code: number): NegativeAnswer => ({
  code,
  enhanced: enhancedCodes[code] ?? '5.1.1',
  text: `<${address}> is refused for this mail test.`,
})
