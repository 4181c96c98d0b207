/** Findings while the database of the store does not answer: those of the checks that need no store, which are not stored. */
import type { Database } from '#store/database.ts'
import { pack } from '#store/tuple.ts'
import type { Clock } from '../clock.ts'
import { openKey } from '../findings/finding.ts'
import type { Check, Found } from './check.ts'
import { inOrder, inWords, type ReportedFinding } from './report.ts'

export interface WithoutStoreOptions {
  readonly database: Database
  readonly clock: Clock
  readonly checks: readonly Check[]
  readonly onError: (error: unknown, check?: string) => void
}

/** The database is examined if it does not answer within this time. */
const answerMs = 3000

/** Returns undefined if the database is available, also if it is slow. */
export async function findingsWithoutStore(options: WithoutStoreOptions, signal: AbortSignal): Promise<ReportedFinding[] | undefined> {
  const { database, checks, onError } = options
  if (database.daemons.isAlone || (await answers(options))) return undefined
  const look = { signal, isAsked: false, openAt: new Set<string>(), isStoreAway: true }
  const found = await Promise.all(
    checks
      .filter(({ needsNoStore }) => needsNoStore)
      .map((check) =>
        check.look(look).then(
          (examined) => examined.found,
          (error: unknown): readonly Found[] => {
            onError(error, check.name)
            return []
          },
        ),
      ),
  )
  const all = found.flat().map((one) => inWords(one))
  return all.some(({ id }) => id === 'database.away') ? inOrder(all) : undefined
}

/** Reads one key, which waits while the database is away. */
function answers({ database, clock }: WithoutStoreOptions): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>()
  const timer = clock.after(answerMs, () => resolve(false))
  database.kv.get(pack(openKey())).then(
    () => resolve(true),
    () => resolve(false),
  )
  return promise.finally(() => timer.cancel())
}
