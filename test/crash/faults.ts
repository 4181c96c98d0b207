/** Faults of the smart host in a round. The seed of the round and the message determine each fault. */
import type { SinkAnswer, SinkScript } from '../support/smtp/sink-script.ts'
import { Seeded } from '../support/seeded.ts'
import { isRefusedForGood } from './ledger.ts'
import { markerOf } from './letters.ts'

export const faultNames = ['accept', 'hold', 'slow', 'defer', 'drop'] as const
export type FaultName = (typeof faultNames)[number]

/** Reply of the smart host to unknown recipients in every round. */
export const refuseForGood = (address: string): string | undefined =>
  isRefusedForGood(address) ? '550 5.1.1 no such user here' : undefined

/** The fault of a round. `ended` resolves at its end and releases delayed mail. */
export interface Fault {
  readonly name: FaultName
  readonly seed: string
  readonly ended: Promise<void>
  /** Called for each message whose connection the smart host closes after the final dot while the daemon runs. */
  readonly hangingUpOn: (content: Buffer) => void
}

/** Scripts the sink for one round. */
export function faultScript({ name, seed, ended, hangingUpOn }: Fault): SinkScript {
  const random = new Seeded(seed)
  const seen = new Set<string>()
  const firstTime = (what: string): boolean => !seen.has(what) && seen.add(what) !== undefined
  const recipient = (address: string): string | undefined => {
    const busy = name === 'defer' && random.chance(0.3) && firstTime(address)
    return refuseForGood(address) ?? (busy ? '450 4.2.1 mailbox busy, try again' : undefined)
  }
  const message = async (content: Buffer): Promise<SinkAnswer | undefined> => {
    const fresh = firstTime(markerOf(content) ?? '')
    if (name === 'hold') return ended.then((): SinkAnswer => ({ act: 'drop' }))
    if (name === 'slow') await new Promise((resolve) => setTimeout(resolve, random.between(0, 300)))
    if (name === 'defer' && fresh && random.chance(0.2)) return '451 4.3.0 cannot keep it now'
    if (name !== 'drop' || !fresh || !random.chance(0.2)) return undefined
    hangingUpOn(content)
    return { act: 'drop' }
  }
  return { recipient, message: (_from, _to, content) => message(content) }
}
