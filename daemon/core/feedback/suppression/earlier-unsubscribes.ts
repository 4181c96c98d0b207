/**
 * Unsubscribes from before 2026-11-22, stored on the suppression list with the source `unsubscribe`. They now mean an opt-out from every
 * list of the organization. `move-unsubscribes.ts` moves them in the background. Entries not moved yet, and entries with an expiry, are
 * read as opt-outs.
 */
import type { Database } from '#store/database.ts'
import { everyList, type OptOut } from './opt-out.ts'
import type { Suppression } from './suppression.ts'

export const isEarlierUnsubscribe = ({ source }: Pick<Suppression, 'source'>): boolean => source === 'unsubscribe'

/** Returns the opt-out that such an entry means. */
export const optOutOf = (database: Database, { email, projectId, createdAt }: Suppression): OptOut => ({
  id: database.newId('uns', createdAt),
  email,
  list: everyList,
  name: null,
  ownerId: null,
  projectId,
  traceId: null,
  createdAt,
})
