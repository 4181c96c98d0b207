/** Notifies the background reader of new captures when their write is durable. See `Database.onWork`. */
import type { Change } from '#store/change.ts'
import type { Database } from '#store/database.ts'

export const readingWork = 'reading of captures'

/** Schedules a read of the project once the change is durable. */
export const scheduleReading = (change: Change, { organizationId, projectId, isPassedOver }: UnreadProject): Change =>
  change.schedule(readingWork, `${organizationId} ${projectId}${isPassedOver ? ' passed over' : ''}`)

export interface UnreadProject {
  readonly organizationId: string
  readonly projectId: string
  /** True if the capture has a pending row, because the mark of the project may be past it. */
  readonly isPassedOver: boolean
}

export const onUnread = (database: Database, listener: (projects: readonly UnreadProject[]) => void): void =>
  database.onWork(readingWork, (places) => listener([...places].map(unreadProject)))

function unreadProject(place: string): UnreadProject {
  const [organizationId = '', projectId = '', ...more] = place.split(' ')
  return { organizationId, projectId, isPassedOver: more.length > 0 }
}
