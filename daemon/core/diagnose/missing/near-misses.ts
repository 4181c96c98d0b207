/** Addresses that mail went to and that look like the one asked for: other plus tags, and typing mistakes. */
import { editDistance } from '#config/words/edit-distance.ts'
import type { Database } from '#store/database.ts'
import type { Principal } from '../../access/principal/principal.ts'
import { foldEmail } from '../../feedback/suppression/suppression.ts'
import type { Trace } from '../../trace/trace.ts'
import { visitTraces } from '../search/trace-reads.ts'
import type { Window } from '../search/time-window.ts'

/** So many traces of the window are looked at, the latest first. */
export const maxNearScan = 2000
const maxFound = 5
const maxMistakes = 2
/** In a shorter address two changes make another address and no mistake. */
const twoMistakesLengthMin = 12
/** Nor is a short local part that differs: anna and hanna are two people. */
const localLengthMin = 4

export interface NearMiss {
  readonly address: string
  /** The latest message to it. */
  readonly trace: Trace
  /** 0: only the plus tag differs. */
  readonly mistakes: number
}

/** How near another address is to the wanted one; undefined when the same or far, as with mistakes in both halves. Both folded. */
export function nearness(wanted: string, other: string): number | undefined {
  if (wanted === other) return undefined
  const [a, b] = [halvesOf(wanted), halvesOf(other)]
  if (a.local === b.local && a.domain === b.domain) return 0
  const max = Math.min(wanted.length, other.length) < twoMistakesLengthMin ? 1 : maxMistakes
  if (a.local === b.local) return editDistance(a.domain, b.domain, max)
  const isShort = Math.min(a.local.length, b.local.length) < localLengthMin
  return a.domain === b.domain && !isShort ? editDistance(a.local, b.local, max) : undefined
}

/** Without the plus tag. */
function halvesOf(address: string): { readonly local: string; readonly domain: string } {
  const at = address.lastIndexOf('@')
  const tag = address.indexOf('+', 1)
  return { local: address.slice(0, tag > 0 && tag < at ? tag : at), domain: address.slice(at + 1) }
}

/** The nearest first; whether all traces of the window were looked at. */
export async function findNearMisses(
  database: Database,
  principal: Principal,
  recipient: string,
  window: Window,
): Promise<{ readonly found: readonly NearMiss[]; readonly isComplete: boolean }> {
  const wanted = foldEmail(recipient)
  const far = new Set<string>()
  const found = new Map<string, NearMiss>()
  const isComplete = await visitTraces(database, principal, window, maxNearScan, (trace) => {
    for (const { address } of trace.recipients) {
      const folded = foldEmail(address)
      if (far.has(folded) || found.has(folded)) continue
      const mistakes = nearness(wanted, folded)
      if (mistakes === undefined) far.add(folded)
      else found.set(folded, { address, trace, mistakes })
    }
  })
  return { found: [...found.values()].toSorted((a, b) => a.mistakes - b.mistakes).slice(0, maxFound), isComplete }
}
