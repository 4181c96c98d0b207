/** A finding: a problem that Postern found, stored until 30 days after it ends. One record for each kind and subject. */
import { encode, type Change } from '#store/change.ts'
import type { Database } from '#store/database.ts'
import { defineRecord, globalKey, type Immutable, type Stored } from '#store/record-kind.ts'
import { pack, type Element } from '#store/tuple.ts'
import * as z from 'zod'
import { factsOf, findingKinds, severities, type FindingKind, type Severity } from './kinds.ts'

export const findingStates = ['open', 'over'] as const
export type FindingState = (typeof findingStates)[number]

/**
 * Values of the texts of a finding: counts, times in milliseconds, names that the tenant chose, and reply codes; together at most 2 KiB as
 * JSON. Names of times end in `At`. Never a mail address, a subject of a mail, the text of a server's reply or a secret, because alerts
 * show them in chats.
 */
export const findingParams = z.record(z.string(), z.union([z.string(), z.number()]))
export type FindingParams = Immutable<z.infer<typeof findingParams>>

const schema = z.strictObject({
  id: z.string(),
  kind: z.enum(findingKinds),
  /** The affected object, such as a domain or the id of a destination; empty for the organization or the service itself. */
  subject: z.string(),
  /** Empty for a finding of the whole organization. */
  projectId: z.string(),
  severity: z.enum(severities),
  params: findingParams,
  /** Name of the check that found it and that ends it. Empty if a write opened it. */
  check: z.string(),
  /** The daemon that knows of it from its memory; only this daemon ends it while it runs. */
  daemon: z.string().optional(),
  state: z.enum(findingStates),
  openedAt: z.int(),
  /** Time of the last change of state, severity or figures. */
  changedAt: z.int(),
  overAt: z.int().nullable(),
  /** A person knows of it. Rising severity removes this mark and the next one. */
  acknowledged: z.strictObject({ by: z.string(), at: z.int() }).nullable(),
  /** Alerts do not repeat it before this time. */
  mutedUntil: z.int().nullable(),
  /** By alert channel: time and severity of the message about the finding, and time of the message about its end. */
  notified: z.record(
    z.string(),
    z.strictObject({ at: z.int(), severity: z.enum(severities), overAt: z.int().optional(), returned: z.literal(true).optional() }),
  ),
})

export type Finding = Immutable<z.infer<typeof schema>>

/** For lists with the most severe finding last, because lists begin at the end. */
export const rankOf = (severity: Severity): number => severities.length - severities.indexOf(severity)

export const findings = defineRecord<Finding>({
  name: 'finding',
  schema,
  indexes: {
    listed: ({ state, severity, openedAt }) => [[state, rankOf(severity), openedAt]],
    check: ({ check, state }) => (state === 'open' ? [[check]] : []),
    ended: ({ overAt }) => (overAt === null ? [] : [[overAt]]),
  },
  unique: { subject: ({ kind, subject }) => [[kind, subject]] },
  projectOf: ({ projectId }) => (projectId === '' ? undefined : projectId),
})

/** A finding is removed this long after it ends. */
export const keptMs = 30 * 86_400_000

/** Key of the row of an open finding, for lists over all organizations; most severe first. */
export const openKey = (...rest: readonly Element[]): readonly Element[] => globalKey('finding.open', ...rest)

/** What lists over all organizations show of a finding without reading it. */
export interface OpenRow {
  readonly kind: FindingKind
  readonly severity: Severity
  readonly check: string
}

/** Key of the row that removes an ended finding at this time. */
export const endedKey = (...rest: readonly Element[]): readonly Element[] => globalKey('finding.ended', ...rest)

/** Key of the row beside a finding: among the open findings of all organizations, or for its removal. */
export const keyBeside = (organizationId: string, { id, severity, overAt }: Finding): readonly Element[] =>
  overAt === null ? openKey(severities.indexOf(severity), organizationId, id) : endedKey(overAt + keptMs, organizationId, id)

/** Whether channels that told the finding have not told its end, if it ended after this time. */
export const isEndToTell = ({ overAt, notified }: Finding, after: number): boolean =>
  overAt !== null && overAt > after && Object.values(notified).some((mark) => mark.overAt === undefined)

export function insertFinding(change: Change, organizationId: string, finding: Finding): void {
  change.insert(findings, organizationId, finding)
  addRow(change, organizationId, finding)
}

export function replaceFinding(change: Change, organizationId: string, stored: Stored<Finding>, next: Finding): void {
  change.replace(findings, organizationId, stored, next)
  moveRow(change, organizationId, stored.record, next)
}

/** Replaces an ended finding by a new one of the same kind and subject. */
export function supersedeFinding(change: Change, organizationId: string, stored: Stored<Finding>, next: Finding): void {
  change.supersede(findings, organizationId, stored, next)
  moveRow(change, organizationId, stored.record, next)
}

export function removeFinding(change: Change, organizationId: string, stored: Stored<Finding>): void {
  change.remove(findings, organizationId, stored).delete(keyBeside(organizationId, stored.record))
}

function moveRow(change: Change, organizationId: string, before: Finding, after: Finding): void {
  const isSame = before.id === after.id && before.severity === after.severity && before.overAt === after.overAt
  if (isSame) return
  change.delete(keyBeside(organizationId, before))
  addRow(change, organizationId, after)
}

function addRow(change: Change, organizationId: string, finding: Finding): void {
  const { kind, severity, check, overAt } = finding
  const row = encode({ kind, severity, check } satisfies OpenRow)
  change.set(keyBeside(organizationId, finding), overAt === null ? row : undefined)
}

/** Checks a row beside a finding for `postern verify`. */
export async function checkRowBeside(database: Database, key: readonly Element[]): Promise<string[]> {
  const [organizationId = '', id = ''] = key.slice(-2).map(String)
  const stored = await database.get(findings, { organizationId }, id)
  if (!stored) return [`the finding ${id} that it belongs to is missing`]
  const isRight = Buffer.compare(pack(keyBeside(organizationId, stored.record)), pack(key)) === 0
  return isRight ? [] : [`the finding ${id} is ${stored.record.state}, with another severity or time`]
}

/** Checks for `postern verify` that a finding has the row beside it. */
export async function checkFinding(database: Database, organizationId: string, finding: Finding): Promise<string[]> {
  return (await database.kv.get(pack(keyBeside(organizationId, finding)))) ? [] : ['its row among open or ended findings is missing']
}

/** What a check, or a write, found. Kind and subject identify the finding. */
export interface Observed {
  readonly kind: FindingKind
  readonly subject: string
  /** Empty for a finding of the whole organization. */
  readonly projectId: string
  /** Defaults to the severity of the kind. */
  readonly severity?: Severity | undefined
  readonly params: FindingParams
}

export const observed = (kind: FindingKind, subject: string, params: FindingParams = {}, projectId = ''): Observed => ({
  ...{ kind, subject, projectId, params },
})

export const severityOf = ({ kind, severity }: Pick<Observed, 'kind' | 'severity'>): Severity => severity ?? factsOf(kind).severity

/** Returns the name that identifies a finding while it persists. */
export const nameOf = ({ kind, subject }: Pick<Observed, 'kind' | 'subject'>): string => `${kind} ${subject}`
