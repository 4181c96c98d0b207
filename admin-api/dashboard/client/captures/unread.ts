/**
 * Which captured messages somebody has opened in this browser, by their traces; others are unread, unless they are from before it showed
 * the dashboard first, or before all were marked as read.
 */
import { signal } from '@preact/signals'

const key = 'postern.read-captures.2'
/** Of those that were opened longest ago nothing is kept. */
const maxKept = 2000
/** A new browser shows what came in the last day as unread. */
const earlierMs = 24 * 3_600_000

interface Seen {
  /** What came before is read. */
  readonly since: string
  readonly opened: readonly string[]
  /** Those that were made unread again, with the inbox in which. */
  readonly kept: readonly (readonly [traceId: string, inboxId: string])[]
}

const seenSince = (ms: number): Seen => ({ since: new Date(ms).toISOString(), opened: [], kept: [] })

function stored(): Seen {
  try {
    const { since, opened, kept } = JSON.parse(localStorage.getItem(key) ?? '{}') as Partial<Seen>
    if (typeof since === 'string' && Array.isArray(opened) && Array.isArray(kept)) return { since, opened, kept }
  } catch {
    // nothing that can be read is kept
  }
  return seenSince(Date.now() - earlierMs)
}

const seen = signal(stored())
const openedIds = (): ReadonlySet<string> => new Set(seen.value.opened)

/** From when on messages can be unread. */
export const unreadSince = (): string => seen.value.since

export const isUnread = (traceId: string, capturedAt: string): boolean =>
  seen.value.kept.some(([id]) => id === traceId) ||
  (Date.parse(capturedAt) >= Date.parse(seen.value.since) && !seen.value.opened.includes(traceId))

/** How many of the messages since then are unread, with those that were made so in this inbox, or in any. */
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
    // a browser without storage forgets when the window closes
  }
}
