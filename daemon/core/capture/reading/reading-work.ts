/** Readings that are due, as writes that capture a message say it. See `Database.onWork`. */
import type { Change } from '#store/change.ts'
import type { Database } from '#store/database.ts'

const work = 'reading of captures'

/** Something in this project is unread once the change is durable. */
export const scheduleReading = (change: Change, organizationId: string, projectId: string): Change =>
  change.schedule(work, `${organizationId} ${projectId}`)

export interface UnreadProject {
  readonly organizationId: string
  readonly projectId: string
}

export const onUnread = (database: Database, listener: (projects: readonly UnreadProject[]) => void): void =>
  database.onWork(work, (places) => listener([...places].map(unreadProject)))

function unreadProject(place: string): UnreadProject {
  const [organizationId = '', projectId = ''] = place.split(' ')
  return { organizationId, projectId }
}
