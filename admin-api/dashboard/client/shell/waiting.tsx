/** Reads the badge counts of the navigation on every screen: pending or broken items. */
import { useEffect } from 'preact/hooks'
import { useAll } from '../app/all.ts'
import { boot } from '../app/boot.ts'
import { everyMs, useChanges } from '../app/live.ts'
import { projectId } from '../app/location.ts'
import { badges, type Badge } from '../app/open.ts'
import { firstOf, useRead } from '../app/query.ts'
import { countUnread, unreadSince } from '../captures/unread.ts'
import { errorsByPath } from '../findings/finding-place.ts'
import { screenAt } from '../screens/screens.ts'

const lookMs = 30_000
/** Higher numbers end with a plus sign. */
const countedTo = 20

/** Renders nothing. Requires a role that may read mail. Mount a new instance for another organization. */
export function Waiting(): null {
  const project = projectId.value === undefined ? {} : { project: projectId.value }
  const open = { query: { ...project, state: 'open', severity: 'error' } } as const
  const errors = errorsByPath(useAll('/v1/findings', open, { every: lookMs }).rows)
  const waiting = firstOf(countedTo, { query: { ...project, status: 'queued' } } as const)
  const { data: scheduled = [], next_cursor: more = null } =
    useRead('/v1/messages/scheduled', waiting, { every: everyMs(lookMs) }).data ?? {}
  const { held = 0 } = useRead('/v1/queue/counts', { query: { ...project, held: true } }, { every: everyMs(lookMs) }).data ?? {}
  const captured = firstOf(countedTo, { query: { ...project, status: 'captured', since: unreadSince() } } as const)
  const captures = useRead('/v1/traces', captured, { every: everyMs(lookMs) })
  useChanges('captures', captures.reload)
  const fresh = countUnread((captures.data?.data ?? []).map(({ trace_id: id }) => id))
  const forms = useAll('/v1/forms', { query: project }, { every: everyMs(lookMs) })
  useChanges('form_submissions', forms.reload)
  const unread = forms.rows.reduce((sum, { submissions_new: fresh }) => sum + fresh, 0)
  const doctor = useRead('/operator/v1/doctor', boot.isOperator ? {} : undefined, { every: lookMs }).data?.findings ?? []
  const problems = doctor.filter(({ severity }) => severity === 'error').length
  useEffect(() => {
    badges.value = {
      ...brokenByScreen(errors),
      ...(problems > 0 && { '/operator': { count: problems, isBroken: true } }),
      '/captures': { count: fresh, hasMore: fresh >= countedTo },
      '/queue': { count: held, isBroken: true },
      '/queue/scheduled': { count: scheduled.length, hasMore: more !== null },
      '/forms/submissions': { count: unread, hasMore: !forms.isComplete },
    }
  }, [fresh, JSON.stringify([...errors]), held, problems, scheduled.length, more, unread])
  return null
}

/** Adds up errors whose addresses belong to the same screen. */
function brokenByScreen(errors: ReadonlyMap<string, number>): Readonly<Record<string, Badge>> {
  const counts = new Map<string, number>()
  for (const [path, count] of errors) {
    const at = screenAt(path)?.at
    if (at !== undefined) counts.set(at, (counts.get(at) ?? 0) + count)
  }
  return Object.fromEntries([...counts].map(([at, count]) => [at, { count, isBroken: true }]))
}
