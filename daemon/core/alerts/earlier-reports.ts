/**
 * Reports of an earlier version to the operator, which this version takes over as marks of the findings, so that an upgrade repeats no
 * alert. The earlier version had no stored findings: the first look that reads the finding writes the mark.
 */
import { decode, type Change } from '#store/change.ts'
import type { Database } from '#store/database.ts'
import { globalKey } from '#store/record-kind.ts'
import { unpack, within, type Element } from '#store/tuple.ts'
import { nameOf, type Finding } from '../findings/finding.ts'
import type { Severity } from '../findings/kinds.ts'
import type { FindingAt } from './findings-to-tell.ts'

/** The earlier version reported each finding daily while it persisted. An older report belongs to a finding that has ended since. */
const recentMs = 2 * 86_400_000

/** A row of the earlier version. Its name has the kind and the subject. */
interface Reported {
  readonly finding: { readonly severity: Severity }
  /** Day of the last report (UTC), such as `2026-11-27`. */
  readonly day: string
  /** Day of the report that the finding is resolved. */
  readonly overOn?: string | undefined
}

export interface EarlierReports {
  /** New marks, by finding id. */
  readonly marks: ReadonlyMap<string, Finding['notified']>
  /** Rows to delete: old rows, and rows with a new mark. */
  readonly rows: readonly { readonly key: readonly Element[]; readonly version: bigint }[]
}

/** The earlier version named a finding about a key of a domain by the record of the key. */
const earlierNames = (finding: Finding): readonly string[] =>
  finding.kind === 'domain.dkim' ? [nameOf(finding), `domain.dkim ${finding.params['name']}`] : [nameOf(finding)]

const reportedKey = (...rest: readonly Element[]): readonly Element[] => globalKey('doctor.reported', ...rest)

/** Returns marks of these channels for open findings that the earlier version reported. */
export async function earlierReports(
  { kv }: Pick<Database, 'kv'>,
  found: readonly FindingAt[],
  channelIds: readonly string[],
  now: number,
): Promise<EarlierReports> {
  const marks = new Map<string, Finding['notified']>()
  const rows: EarlierReports['rows'][number][] = []
  for await (const { key, value, version } of kv.range(within(reportedKey()))) {
    const path = unpack(key)
    const { finding, day, overOn } = decode<Reported>(value)
    const at = Date.parse(day)
    const isCurrent = overOn === undefined && now - at < recentMs
    const name = String(path.at(-1))
    const open = isCurrent ? found.filter(({ record }) => record.state === 'open' && earlierNames(record).includes(name)) : []
    for (const { record } of open) {
      const added = channelIds.filter((id) => record.notified[id] === undefined)
      marks.set(record.id, Object.fromEntries(added.map((id) => [id, { at, severity: finding.severity }])))
    }
    if (open.length > 0 || !isCurrent) rows.push({ key: path, version })
  }
  return { marks, rows }
}

export function removeRows(change: Change, { rows }: EarlierReports): void {
  for (const { key, version } of rows) change.check(key, version).delete(key)
}
