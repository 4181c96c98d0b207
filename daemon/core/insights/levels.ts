/**
 * Where counts lie: events add to a row of their minute; rows of minutes are added up into quarters of an hour, those into hours, and
 * those into days. A row is of a project, or of the whole organization, and of what it is counted for.
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

const minuteMs = 60_000
const dayMs = 86_400_000

/** From the finest; each is added up from the one before. */
export const levels = [
  { name: 'insight.minute', ms: minuteMs, keepMs: 2 * dayMs },
  { name: 'insight.quarter', ms: 15 * minuteMs, keepMs: 8 * dayMs },
  { name: 'insight.hour', ms: 60 * minuteMs, keepMs: 92 * dayMs },
  { name: 'insight.day', ms: dayMs, keepMs: 731 * dayMs },
] as const satisfies readonly Level[]

/** In place of the id of a project: everything of the organization, beginning with quarters; in minutes what is of no project. */
export const wholeOrganization = ''

/** What a row counts: the project as a whole, its recipients' domains, or else one of the things that are counted apart, by id. */
export const ofProject = ''
export const ofDomains = '@'
/** How the ids begin of what is counted apart. */
export const apartPrefixes = {
  destination: 'dst_',
  webhook: 'whk_',
  template: 'tpl_',
  publishableKey: 'pk_',
  ingestSource: 'src_',
} as const
export type CountedThing = keyof typeof apartPrefixes
/** So many domains are kept apart in a minute, and in what minutes are added up to. */
export const maxDomains = { minute: 24, later: 100 } as const

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
/** Every level but the first, by name, is complete up to this time. */
export const rolledKey = globalKey('insight.rolled')

interface MinuteKeys {
  readonly organizationId: string
  readonly minute: number
  readonly bySubject: Map<string, Bytes>
}
const maxProjects = 4096
/** Every message asks for the same few keys, which change once a minute. */
const recent = new RecentMap<string, MinuteKeys>(maxProjects)

/** The row of this minute. */
export function minuteKey(organizationId: string, projectId: string, subject: string, nowMs: number): Bytes {
  const minute = nowMs - (nowMs % minuteMs)
  const owner = projectId === wholeOrganization ? organizationId : projectId
  let keys = recent.get(owner)
  if (keys?.minute !== minute || keys.organizationId !== organizationId)
    recent.set(owner, (keys = { organizationId, minute, bySubject: new Map() }))
  let key = keys.bySubject.get(subject)
  if (!key) keys.bySubject.set(subject, (key = pack(countsKey(levels[0], organizationId, projectId, minute, subject))))
  return key
}

/** What `verify` finds wrong with a row. */
export async function checkCounts([, name, , at]: readonly Element[], value: Bytes): Promise<string[]> {
  const level = levels.find((one) => one.name === name)
  if (!level || typeof at !== 'number' || at % level.ms !== 0) return ['it is of no step of its level']
  try {
    decodeCounts(value)
    return []
  } catch {
    return ['it holds no counts']
  }
}
