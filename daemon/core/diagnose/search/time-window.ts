/** The time window of a diagnosis, limited to the retention of traces. */
import type { Database } from '#store/database.ts'
import { pack } from '#store/tuple.ts'
import { billsOverage, limitsOf } from '../../plan/limits.ts'
import type { Organization } from '../../tenancy/organization.ts'
import { storedTracesCounter } from '../../tenancy/counters.ts'
import { walkTraces } from '../../trace/trace-walk.ts'

/** Times in milliseconds since the epoch; `from` is inclusive, `to` is exclusive. */
export interface Window {
  readonly from: number
  readonly to: number
}

const unitMs = { m: 60_000, h: 3_600_000, d: 86_400_000 } as const
const dayMs = unitMs.d
const form = 'must be a duration before now such as 90m, 24h or 7d, or an interval such as 2026-11-01T00:00:00Z/2026-11-02T00:00:00Z'

/** Parses `24h`, `7d`, `90m`, or `from/to` in RFC 3339; defaults to `24h`. Returns the error text for an invalid window. */
export function readWindow(text: string | undefined, nowMs: number): Window | string {
  const [, amount, unit] = /^(\d{1,4})([mhd])$/.exec(text ?? '24h') ?? []
  if (amount !== undefined)
    return Number(amount) > 0 ? { from: nowMs - Number(amount) * unitMs[unit as keyof typeof unitMs], to: nowMs } : form
  const [from, to, ...rest] = (text ?? '').split('/').map(readTime)
  if (from === undefined || to === undefined || rest.length > 0) return form
  if (from >= Math.min(to, nowMs)) return 'must start in the past and before its end'
  return { from, to: Math.min(to, nowMs) }
}

function readTime(text: string): number | undefined {
  const isTime = /^\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?(?:Z|[+-]\d\d:\d\d)$/.test(text)
  const ms = isTime ? Date.parse(text) : NaN
  return Number.isNaN(ms) ? undefined : ms
}

/** A window, and the reason if it is shorter than requested. */
export interface RetainedWindow extends Window {
  readonly cut: string | undefined
}

/** Returns the part of the window with stored traces. The result is empty (`from` equals `to`) if the whole window is older. */
export async function retainedWindow(
  database: Database,
  organization: Organization,
  window: Window,
  nowMs: number,
): Promise<RetainedWindow> {
  const { plan, id } = organization
  const { retentionDays, tracesStored } = limitsOf(organization)
  const since = retentionDays === undefined ? 0 : nowMs - retentionDays * dayMs
  const isFull =
    tracesStored !== undefined && !billsOverage(organization) && (await database.kv.counter(pack(storedTracesCounter(id)))) >= tracesStored
  const oldest = isFull ? await oldestTrace(database, id) : undefined
  const kept = Math.max(since, oldest ?? 0)
  if (kept <= window.from) return { ...window, cut: undefined }
  const from = Math.min(kept, window.to)
  const why = kept === since ? `keeps traces for ${retentionDays ?? 0} days` : `stores ${tracesStored ?? 0} traces`
  return { from, to: window.to, cut: `The plan ${plan} ${why}; traces before ${textOf(from)} were removed.` }
}

async function oldestTrace(database: Database, organizationId: string): Promise<number | undefined> {
  for await (const trace of walkTraces(database, { organizationId }, { ascending: true }, 1)) if (trace) return trace.createdAt
  return undefined
}

export const textOf = (ms: number): string => new Date(ms).toISOString()
