/**
 * Unsubscribes of before 2026-11-22 stand on the suppression list, with the source `unsubscribe`. From then on they mean what people had
 * clicked on: no more mail of any list of the organization. They are moved in the background (`move-unsubscribes.ts`); until then,
 * and where somebody had given them an end, they are read as such.
 */
import type { Database } from '#store/database.ts'
import { everyList, type OptOut } from './opt-out.ts'
import type { Suppression } from './suppression.ts'

export const isEarlierUnsubscribe = ({ source }: Pick<Suppression, 'source'>): boolean => source === 'unsubscribe'

/** What such an entry means. */
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
