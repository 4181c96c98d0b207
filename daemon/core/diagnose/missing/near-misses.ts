/** Finds similar addresses of sent messages: other plus tags, and typing errors. */
import { editDistance } from '#config/texts/edit-distance.ts'
import type { Database } from '#store/database.ts'
import type { Principal } from '../../access/principal/principal.ts'
import { foldEmail } from '../../feedback/suppression/suppression.ts'
import type { Trace } from '../../trace/trace.ts'
import { visitTraces } from '../search/trace-reads.ts'
import type { Window } from '../search/time-window.ts'

/** Maximum number of traces examined, latest first. */
export const maxNearScan = 2000
const maxFound = 5
const maxMistakes = 2
/** Minimum length of both addresses for two errors. In shorter addresses, two changes make a different address. */
const twoMistakesLengthMin = 12
/** Minimum length of differing local parts: `anna` and `hanna` are different people. */
const localLengthMin = 4

export interface NearMiss {
  readonly address: string
  /** The latest message to the address. */
  readonly trace: Trace
  /** Number of typing errors; 0 if only the plus tag differs. */
  readonly mistakes: number
}

/**
 * Returns the number of errors between two folded addresses. Returns undefined if they are equal, too different, or differ in both the
 * local part and the domain.
 */
export function nearness(wanted: string, other: string): number | undefined {
  if (wanted === other) return undefined
  const [a, b] = [halvesOf(wanted), halvesOf(other)]
  if (a.local === b.local && a.domain === b.domain) return 0
  const max = Math.min(wanted.length, other.length) < twoMistakesLengthMin ? 1 : maxMistakes
  if (a.local === b.local) return editDistance(a.domain, b.domain, max)
  const isShort = Math.min(a.local.length, b.local.length) < localLengthMin
  return a.domain === b.domain && !isShort ? editDistance(a.local, b.local, max) : undefined
}

/** Splits an address; drops its plus tag. */
function halvesOf(address: string): { readonly local: string; readonly domain: string } {
  const at = address.lastIndexOf('@')
  const tag = address.indexOf('+', 1)
  return { local: address.slice(0, tag > 0 && tag < at ? tag : at), domain: address.slice(at + 1) }
}

/** Returns the most similar addresses first. `isComplete` is false if the window has more traces than `maxNearScan`. */
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
