/** Reads the badge counts of the navigation on every screen: pending or broken items. */
import { useEffect } from 'preact/hooks'
import { everyMs, useChanges } from '../app/live.ts'
import { projectId } from '../app/location.ts'
import { badges } from '../app/open.ts'
import { useRead } from '../app/query.ts'
import { countUnread, unreadSince } from '../captures/unread.ts'
import { errorsByScreen } from '../findings/finding-place.ts'
import { countQueue, listFindings, listForms, listScheduledSends, listTraces } from '../wire/operations.ts'

const lookMs = 30_000
const most = '200'
/** Higher numbers end with a plus sign. */
const countedTo = 20

/** Renders nothing. Requires a role that may read mail. Mount a new instance for another organization. */
export function Waiting(): null {
  const project = projectId.value === undefined ? {} : { project: projectId.value }
  const asked = { query: { ...project, limit: most } }
  const open = { query: { ...project, state: 'open', severity: 'error', limit: most } } as const
  const errors = errorsByScreen(useRead(listFindings, open, { every: lookMs }).data?.data ?? [])
  const waiting = { query: { ...project, status: 'queued', limit: String(countedTo) } } as const
  const { data: scheduled = [], next_cursor: more = null } = useRead(listScheduledSends, waiting, { every: everyMs(lookMs) }).data ?? {}
  const { held = 0 } = useRead(countQueue, { query: { ...project, held: 'true' } }, { every: everyMs(lookMs) }).data ?? {}
  const captured = { query: { ...project, status: 'captured', since: unreadSince(), limit: String(countedTo) } } as const
  const captures = useRead(listTraces, captured, { every: everyMs(lookMs) })
  useChanges('captures', captures.reload)
  const fresh = countUnread((captures.data?.data ?? []).map(({ trace_id: id }) => id))
  const forms = useRead(listForms, asked, { every: everyMs(lookMs) })
  useChanges('form_submissions', forms.reload)
  const unread = (forms.data?.data ?? []).reduce((sum, { submissions_new: fresh }) => sum + fresh, 0)
  useEffect(() => {
    badges.value = {
      ...Object.fromEntries([...errors].map(([screen, count]) => [screen, { count, isBroken: true }])),
      captures: { count: fresh, hasMore: fresh >= countedTo },
      queue: { count: held, isBroken: true },
      scheduled: { count: scheduled.length, hasMore: more !== null },
      submissions: { count: unread },
    }
  }, [fresh, JSON.stringify([...errors]), held, scheduled.length, more, unread])
  return null
}
