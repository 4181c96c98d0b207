/**
 * Read state of captured messages, stored in this browser by trace id. Messages before a cut-off count as read: one day before the first
 * visit, or the time of the last "mark all as read".
 */
import { signal } from '@preact/signals'

const key = 'postern.read-captures.2'
/** Maximum number of stored ids. The oldest ones are dropped. */
const maxKept = 2000
/** In a new browser, messages of the last day are unread. */
const earlierMs = 24 * 3_600_000

interface Seen {
  /** Earlier messages count as read. */
  readonly since: string
  readonly opened: readonly string[]
  /** Messages that the user marked as unread, with their inbox. */
  readonly kept: readonly (readonly [traceId: string, inboxId: string])[]
}

const seenSince = (ms: number): Seen => ({ since: new Date(ms).toISOString(), opened: [], kept: [] })

function stored(): Seen {
  try {
    const { since, opened, kept } = JSON.parse(localStorage.getItem(key) ?? '{}') as Partial<Seen>
    if (typeof since === 'string' && Array.isArray(opened) && Array.isArray(kept)) return { since, opened, kept }
  } catch {
    // the stored value is missing or not valid JSON
  }
  return seenSince(Date.now() - earlierMs)
}

const seen = signal(stored())
const openedIds = (): ReadonlySet<string> => new Set(seen.value.opened)

/** Earliest time of a message that can be unread. */
export const unreadSince = (): string => seen.value.since

export const isUnread = (traceId: string, capturedAt: string): boolean =>
  seen.value.kept.some(([id]) => id === traceId) ||
  (Date.parse(capturedAt) >= Date.parse(seen.value.since) && !seen.value.opened.includes(traceId))

/** Returns the number of unread messages: unopened `ids`, and messages marked as unread in this inbox or in any. */
export function countUnread(ids: readonly string[], inboxId?: string): number {
  const opened = openedIds()
  const kept = seen.value.kept.filter(([, inbox]) => inboxId === undefined || inbox === inboxId).map(([id]) => id)
  return new Set([...ids.filter((id) => !opened.has(id)), ...kept]).size
}

export function markRead(traceId: string, inboxId: string, isRead: boolean): void {
  const { since, opened, kept } = seen.value
  const others = opened.filter((id) => id !== traceId)
  const othersKept = kept.filter(([id]) => id !== traceId)
  keep({
    since,
    opened: isRead ? [...others, traceId].slice(-maxKept) : others,
    kept: isRead ? othersKept : [...othersKept, [traceId, inboxId] as const].slice(-maxKept),
  })
}

export const markAllRead = (): void => keep(seenSince(Date.now()))

function keep(next: Seen): void {
  seen.value = next
  try {
    localStorage.setItem(key, JSON.stringify(next))
  } catch {
    // without storage, the read state lasts until the window closes
  }
}
