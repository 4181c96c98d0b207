/** Limits notices per SMTP credential or API key: 20 per hour and 100 per day. */
import { Refusal } from '../refusals.ts'
import type { NoticeSource } from '../tenancy/notice-counters.ts'
import type { WindowLimit } from '../visitors/stored-windows.ts'

export const noticesPerHour = 20
export const noticesPerDay = 100

const hourMs = 3_600_000

/** Returns sliding windows for `openWindows`. */
export function noticeWindows({ organizationId, submittedBy }: NoticeSource): readonly WindowLimit[] {
  const windowOf = (name: string, limit: number, sliceMs: number, slices: number): WindowLimit => ({
    shape: { sliceMs, slices },
    key: [organizationId, 'counter', 'notices', submittedBy, name],
    limit,
    refusal: (retryAfterSeconds) =>
      new Refusal('rate_limit_exceeded', `The limit of ${limit} notices per ${name} is reached.`, { retryAfterSeconds }),
  })
  return [windowOf('hour', noticesPerHour, hourMs / 12, 12), windowOf('day', noticesPerDay, hourMs, 24)]
}
