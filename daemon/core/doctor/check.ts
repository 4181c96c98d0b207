/** A check: a family of findings that is examined periodically. */
import type { Finding, Observed } from '../findings/finding.ts'
import { systemOrganizationId } from '../routing/policy/system-policy.ts'

/** What a check found, with the organization whose finding it is. */
export interface Found extends Observed {
  readonly organizationId: string
}

export interface Examined {
  readonly found: readonly Found[]
  /** Whether this look examined the finding, and may end it. Absent if it examined all findings of the check. */
  readonly coversFinding?: ((organizationId: string, finding: Finding) => boolean) | undefined
}

/** Circumstances of a look. */
export interface Look {
  /** Ends the look early; its result is then discarded. */
  readonly signal: AbortSignal
  /** A caller waits for the result. */
  readonly isAsked: boolean
  /** Organizations with open findings of this check. */
  readonly openAt: ReadonlySet<string>
  /** The database of the store does not answer, so reads of the store would wait. Only for checks that need no store. */
  readonly isStoreAway?: boolean
}

export interface Check {
  /** Stored with the findings. A look ends findings of this name that it does not find again. */
  readonly name: string
  /** Minimum interval between two automatic looks, in milliseconds. */
  readonly everyMs: number
  /**
   * `every`: each daemon looks. `one`: one daemon of those that share a store; another one if its caller asks.
   */
  readonly place: 'every' | 'one'
  /** The findings are known from the memory or the machine of this daemon, so other daemons end them only after it has left. */
  readonly isOwn?: true
  /** The check also runs while the database of the store does not answer. */
  readonly needsNoStore?: true
  look(look: Look): Promise<Examined>
}

/** Makes findings of the service. `subject` replaces an empty subject. */
export const ofService = (all: readonly Observed[], subject = ''): Examined => ({
  found: all.map((one) => ({ ...one, organizationId: systemOrganizationId, subject: one.subject === '' ? subject : one.subject })),
})

/** Runs `work` for each item, at most `atATime` concurrently. Ends early when the signal aborts. */
export async function eachOf<T>(
  items: AsyncIterable<T>,
  atATime: number,
  signal: AbortSignal,
  work: (item: T) => Promise<void>,
): Promise<void> {
  const running = new Set<Promise<void>>()
  const failures: unknown[] = []
  for await (const item of items) {
    if (signal.aborted || failures.length > 0) break
    const one: Promise<void> = work(item)
      .catch((error: unknown) => void failures.push(error))
      .finally(() => running.delete(one))
    running.add(one)
    if (running.size >= atATime) await Promise.race(running)
  }
  await Promise.all(running)
  if (failures.length > 0) throw failures[0]
}
