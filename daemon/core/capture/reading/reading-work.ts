/** Readings that are due, as writes that capture a message say it. See `Database.onWork`. */
import type { Change } from '#store/change.ts'
import type { Database } from '#store/database.ts'

export const readingWork = 'reading of captures'

/** Something in this project is unread once the change is durable. */
export const scheduleReading = (change: Change, { organizationId, projectId, isPassedOver }: UnreadProject): Change =>
  change.schedule(readingWork, `${organizationId} ${projectId}${isPassedOver ? ' passed over' : ''}`)

export interface UnreadProject {
  readonly organizationId: string
  readonly projectId: string
  /** It has a row of its own, as the mark of the project may be beyond it. */
  readonly isPassedOver: boolean
}

export const onUnread = (database: Database, listener: (projects: readonly UnreadProject[]) => void): void =>
  database.onWork(readingWork, (places) => listener([...places].map(unreadProject)))

function unreadProject(place: string): UnreadProject {
  const [organizationId = '', projectId = '', ...more] = place.split(' ')
  return { organizationId, projectId, isPassedOver: more.length > 0 }
}
