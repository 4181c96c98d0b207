/**
 * Remembers the processed reports of a source, with any result. Log shippers and webhooks repeat reports, and unmatched reports leave
 * no other row.
 */
import { decode, encode, type Change } from '#store/change.ts'
import type { Database } from '#store/database.ts'
import { pack, type Element } from '#store/tuple.ts'
import type { FeedbackEvent } from '../event.ts'
import type { FeedbackOrigin } from '../feedback-origin.ts'

/** An earlier occurrence of the same report. */
export interface SeenReport {
  readonly isSeen: true
  /** The message that the report matched immediately; otherwise null. */
  readonly traceId: string | null
  /** The report had proof, so a repetition adds nothing. */
  readonly isProved: boolean
}

/** The stored row of a report. Rows before 2026-12-01 contain only the trace id. */
type SeenRow = string | null | Pick<SeenReport, 'traceId' | 'isProved'>

/** Maximum time between repetitions of a report. */
const rememberedMs = 7 * 86_400_000

type ReportSource = Pick<FeedbackOrigin, 'organizationId' | 'sourceId'>

/** Returns the key of a report. Returns undefined at the bounce domain, where the reports of the trace identify repetitions. */
function seenKey({ organizationId, sourceId }: ReportSource, { key }: FeedbackEvent): readonly Element[] | undefined {
  return organizationId === null || sourceId === null ? undefined : [organizationId, 'feedback.key', sourceId, key]
}

/** Returns for each event whether it was processed earlier or is repeated in this batch. */
export async function seenReports(
  database: Database,
  owner: ReportSource,
  events: readonly FeedbackEvent[],
): Promise<readonly (SeenReport | undefined)[]> {
  const keys = events.map((event) => (event.type === 'ignored' ? undefined : seenKey(owner, event)))
  const asked = keys.filter((key) => key !== undefined)
  const rows = new Map((await database.kv.getMany(asked.map(pack))).map((row, i) => [asked[i], row]))
  const before = new Set<string>()
  return events.map(({ key }, i) => {
    const row = keys[i] && rows.get(keys[i])
    if (row) return toSeen(decode<SeenRow>(row.value))
    if (keys[i] === undefined) return undefined
    const isTwice = before.has(key)
    before.add(key)
    return isTwice ? toSeen(null) : undefined
  })
}

const toSeen = (row: SeenRow): SeenReport => ({
  isSeen: true,
  ...(typeof row === 'object' && row !== null ? row : { traceId: row, isProved: false }),
})

/** Whether the report has a clue that can prove its sender had the message: a return path or a token. */
export const bringsProof = ({ clues }: FeedbackEvent): boolean =>
  clues.returnPaths.length > 0 || clues.references.length > 0 || clues.envelopeIds.length > 0

export function rememberReport(
  change: Change,
  owner: ReportSource,
  event: FeedbackEvent,
  row: Pick<SeenReport, 'traceId' | 'isProved'>,
  nowMs: number,
): void {
  const key = seenKey(owner, event)
  if (key) change.set(key, encode(row satisfies SeenRow)).expire(nowMs + rememberedMs, key)
}
