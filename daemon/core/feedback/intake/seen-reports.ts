/**
 * Which reports of a source were taken already, whatever came of them: log shippers and webhooks report the same again, and those
 * that fit no message have no other row by which they are known.
 */
import { decode, encode, type Change } from '#store/change.ts'
import type { Database } from '#store/database.ts'
import { pack, type Element } from '#store/tuple.ts'
import type { FeedbackEvent } from '../event.ts'
import type { FeedbackOrigin } from '../feedback-origin.ts'

/** A report that came before. */
export interface SeenReport {
  readonly isSeen: true
  /** The message that it fitted at once; null for others. */
  readonly traceId: string | null
  /** It came with proof, so that the same report tells nothing more. */
  readonly isProved: boolean
}

/** The row of a report. Rows of before 2026-12-01 have the id of the trace alone. */
type SeenRow = string | null | Pick<SeenReport, 'traceId' | 'isProved'>

/** As long as a source may report the same again. */
const rememberedMs = 7 * 86_400_000

type ReportSource = Pick<FeedbackOrigin, 'organizationId' | 'sourceId'>

/** Undefined at the bounce domain: there the message itself knows its reports. */
function seenKey({ organizationId, sourceId }: ReportSource, { key }: FeedbackEvent): readonly Element[] | undefined {
  return organizationId === null || sourceId === null ? undefined : [organizationId, 'feedback.key', sourceId, key]
}

/** For each event whether it is known, or was reported before among these. */
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

/** The report has what may prove that its sender had the message: a return path or a token. */
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
