/** An unsubscribe as recorded by versions before 2026-11-22. */
import type { Database } from '#store/database.ts'
import type { Suppression } from '#core/feedback/suppression/suppression.ts'
import { startOfTime } from '../../support/fake-clock.ts'

export const earlierSuppression = (database: Database, email: string): Suppression => ({
  ...{
    id: database.newId('sup', startOfTime),
    email,
    reason: 'Unsubscribed by the link in the message 6d41956d-91eb-4012-b025-b8c84ed6430d.',
  },
  ...{ projectId: 'prj_1', source: 'unsubscribe', expiresAt: null, createdAt: startOfTime },
})
