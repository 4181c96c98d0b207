/**
 * Levels of stored counts: events are added to rows per minute. Minutes are rolled up into quarters of an hour, then hours, then days. Each
 * row belongs to a project or the whole organization, and to a subject.
 */
import { globalKey } from '#store/record-kind.ts'
import { decodeCounts } from '#store/tally.ts'
import { pack, type Element } from '#store/tuple.ts'
import type { Bytes } from '#store/kv.ts'
import { RecentMap } from '../recent-map.ts'

export interface Level {
  readonly name: string
  readonly ms: number
  readonly keepMs: number
}

/** The organization and the project of an event. */
export interface Place {
  readonly organizationId: string
  readonly projectId: string
}

const minuteMs = 60_000
const dayMs = 86_400_000

/** Ordered from the finest level; each level is rolled up from the previous one. */
export const levels = [
  { name: 'insight.minute', ms: minuteMs, keepMs: 2 * dayMs },
  { name: 'insight.quarter', ms: 15 * minuteMs, keepMs: 8 * dayMs },
  { name: 'insight.hour', ms: 60 * minuteMs, keepMs: 92 * dayMs },
  { name: 'insight.day', ms: dayMs, keepMs: 731 * dayMs },
] as const satisfies readonly Level[]
/** Messages of a UTC day by sender domain; not rolled up. */
export const senderDays: Level = { name: 'insight.sender', ms: dayMs, keepMs: 8 * dayMs }
export const allLevels: readonly Level[] = [...levels, senderDays]

/** Project id of rows for the whole organization. Minute rows with this id count only events without a project. */
export const wholeOrganization = ''

/** Subjects of rows: the whole project, its recipients' domains, or a separately counted subject by id. */
export const ofProject = ''
export const ofDomains = '@'
/** Id prefixes of separately counted subjects. */
export const apartPrefixes = {
  destination: 'dst_',
  webhook: 'whk_',
  template: 'tpl_',
  publishableKey: 'pk_',
  ingestSource: 'src_',
} as const
export type CountedThing = keyof typeof apartPrefixes
/** Maximum number of separate domains per minute, and per rolled-up row. */
export const maxDomains = { minute: 24, later: 100 } as const
/** Maximum number of sender domains of a project and day. */
export const maxSenders = 24

export const countsKey = (level: Level, organizationId: string, projectId: string, at: number, subject: string): readonly Element[] => [
  ...countsPrefix(level, organizationId, projectId),
  at,
  subject,
]
export const countsPrefix = (level: Level, organizationId: string, projectId: string): readonly Element[] => [
  organizationId,
  level.name,
  projectId,
]
/** Key of the completion times of all levels except the first, by name. */
export const rolledKey = globalKey('insight.rolled')

interface MinuteKeys {
  readonly organizationId: string
  readonly minute: number
  readonly bySubject: Map<string, Bytes>
  /** Key of the day's row of sender domains. */
  senders?: Bytes
}
const maxProjects = 4096
/** Cache of minute keys; every message needs the same few keys, which change once a minute. */
const recent = new RecentMap<string, MinuteKeys>(maxProjects)

/** Returns the key of the current minute's row. */
export function minuteKey(organizationId: string, projectId: string, subject: string, nowMs: number): Bytes {
  const { minute, bySubject } = keysOf(organizationId, projectId, nowMs)
  let key = bySubject.get(subject)
  if (!key) bySubject.set(subject, (key = pack(countsKey(levels[0], organizationId, projectId, minute, subject))))
  return key
}

/** Returns the key of the current day's row of sender domains. */
export function sendersKey(organizationId: string, projectId: string, nowMs: number): Bytes {
  const keys = keysOf(organizationId, projectId, nowMs)
  return (keys.senders ??= pack(countsKey(senderDays, organizationId, projectId, nowMs - (nowMs % dayMs), ofProject)))
}

function keysOf(organizationId: string, projectId: string, nowMs: number): MinuteKeys {
  const minute = nowMs - (nowMs % minuteMs)
  const owner = projectId === wholeOrganization ? organizationId : projectId
  let keys = recent.get(owner)
  if (keys?.minute !== minute || keys.organizationId !== organizationId)
    recent.set(owner, (keys = { organizationId, minute, bySubject: new Map() }))
  return keys
}

/** Checks a row for `postern verify`. */
export async function checkCounts([, name, , at]: readonly Element[], value: Bytes): Promise<string[]> {
  const level = allLevels.find((one) => one.name === name)
  if (!level || typeof at !== 'number' || at % level.ms !== 0) return ['it is of no step of its level']
  try {
    decodeCounts(value)
    return []
  } catch {
    return ['it holds no counts']
  }
}
