/** The event of an alert: the stored body of its delivery, sent as it is to webhooks, and translated for chats and mail. */
import * as z from 'zod'
import { findingText } from '../../findings/finding-text.ts'
import type { Finding, FindingParams } from '../../findings/finding.ts'
import { factsOf, findingGroups, findingKinds, severities } from '../../findings/kinds.ts'
import type { Message } from '../plan.ts'

const shared = {
  id: z.string(),
  kind: z.enum(findingKinds),
  severity: z.enum(severities),
  group: z.enum(findingGroups),
  subject: z.string().meta({ description: 'The affected object, such as a domain or the id of a destination.' }),
  project_id: z.string().nullable().meta({ description: 'Null for a finding of the whole organization.' }),
  organization: z
    .object({ id: z.string(), name: z.string() })
    .optional()
    .meta({ description: 'Only in alerts to the operator: the organization of the finding. Absent for a finding of the service.' }),
  title: z.string(),
  summary: z.string(),
  opened_at: z.string(),
}
const openShape = z.object({ ...shared, fix: z.string() }).meta({ id: 'AlertEventOpenFinding' })
const overShape = z.object({ ...shared, over_at: z.string() }).meta({ id: 'AlertEventEndedFinding' })

const dataShape = z
  .object({
    organization_id: z.string(),
    organization_name: z.string(),
    url: z.string().meta({ description: 'The page of the findings.' }),
    open: z.array(openShape).meta({ description: 'Findings that the channel was not told before, errors first, at most 10.' }),
    more_open: z.int().meta({ description: 'Number of further open findings.' }),
    over: z.array(overShape).meta({ description: 'Findings that ended, at most 10.' }),
    more_over: z.int(),
  })
  .meta({ id: 'AlertEventData' })

export const alertEventShape = z
  .object({
    ...{ id: z.string(), type: z.literal('alert'), created_at: z.string() },
    test: z.literal(true).optional().meta({ description: 'Present only in test alerts.' }),
    data: dataShape,
  })
  .meta({ id: 'AlertEvent' })

export type AlertEvent = z.infer<typeof alertEventShape>

export interface EventFacts {
  readonly id: string
  readonly at: number
  readonly organization: { readonly id: string; readonly name: string }
  readonly url: string
  readonly language: string
  /** For the operator: organizations of findings, by finding id. */
  readonly owners?: ReadonlyMap<string, { readonly id: string; readonly name: string }> | undefined
}

/** Writes the event of a message in the language of the channel. */
export function alertEvent({ id, at, organization, url, language, owners }: EventFacts, message: Message): AlertEvent {
  return {
    ...{ id, type: 'alert', created_at: isoTime(at) },
    data: {
      ...{ organization_id: organization.id, organization_name: cleanName(organization.name), url },
      open: message.open.map((finding) => ({ ...openOf(finding, language), ...ownerOf(finding, owners) })),
      more_open: message.more,
      over: message.over.map((finding) => ({ ...overOf(finding, language), ...ownerOf(finding, owners) })),
      more_over: message.moreOver,
    },
  }
}

/** Writes the event of a test: without findings. */
export const testEvent = (facts: EventFacts): AlertEvent => {
  const { id, type, created_at, data } = alertEvent(facts, { open: [], more: 0, over: [], moreOver: 0 })
  return { id, type, created_at, test: true, data }
}

function openOf(finding: Finding, language: string): AlertEvent['data']['open'][number] {
  const { fix, ...text } = textOf(finding, language)
  return { ...factsOfEvent(finding), ...text, opened_at: isoTime(finding.openedAt), fix }
}

function overOf(finding: Finding, language: string): AlertEvent['data']['over'][number] {
  const { fix: _, ...text } = textOf(finding, language)
  const { openedAt, overAt } = finding
  return { ...factsOfEvent(finding), ...text, opened_at: isoTime(openedAt), over_at: isoTime(overAt ?? openedAt) }
}

function ownerOf({ id }: Finding, owners: EventFacts['owners']): Pick<AlertEvent['data']['open'][number], 'organization'> {
  const owner = owners?.get(id)
  return owner ? { organization: { id: owner.id, name: cleanName(owner.name) } } : {}
}

const factsOfEvent = ({ id, kind, severity, subject, projectId }: Finding) => ({
  ...{ id, kind, severity, group: factsOf(kind).group, subject: cleanName(subject), project_id: projectId === '' ? null : projectId },
})

const textOf = ({ kind, params }: Finding, language: string) => findingText({ kind, params: cleanParams(params) }, language)

const cleanParams = (params: FindingParams): FindingParams =>
  Object.fromEntries(Object.entries(params).map(([name, value]) => [name, typeof value === 'string' ? cleanName(value) : value]))

const maxName = 60
/** Control characters, marks of writing direction, and characters without width. */
const unseen = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu

/** Returns a name that a tenant chose as one short line, because chats display it. */
export function cleanName(name: string): string {
  const characters = [...name.replaceAll(unseen, ' ').replaceAll(/ {2,}/g, ' ').trim()]
  return characters.length > maxName ? `${characters.slice(0, maxName - 1).join('')}…` : characters.join('')
}

const isoTime = (ms: number): string => new Date(ms).toISOString()
