/** Which captured messages somebody has opened in this browser; others are shown as unread. */
import { signal } from '@preact/signals'

const key = 'postern.read-captures'
/** The ones that were opened longest ago are unread again. */
const maxKept = 2000

function stored(): readonly string[] {
  try {
    const ids: unknown = JSON.parse(localStorage.getItem(key) ?? '[]')
    return Array.isArray(ids) ? ids.filter((id): id is string => typeof id === 'string') : []
  } catch {
    return []
  }
}

const read = signal<ReadonlySet<string>>(new Set(stored()))

export const isUnread = (id: string): boolean => !read.value.has(id)

export function markRead(id: string, isRead: boolean): void {
  if (read.value.has(id) === isRead) return
  const ids = [...read.value].filter((one) => one !== id)
  read.value = new Set(isRead ? [...ids, id].slice(-maxKept) : ids)
  try {
    localStorage.setItem(key, JSON.stringify([...read.value]))
  } catch {
    // a browser without storage forgets when the window closes
  }
}
