/** Findings on the wire: problems that the service found. */
import * as z from 'zod'
import { findingParams, findingStates, type Finding } from '#core/findings/finding.ts'
import { findingText } from '#core/findings/finding-text.ts'
import { factsOf, findingGroups, severities } from '#core/findings/kinds.ts'
import { encoder } from '../fields/codec.ts'
import { timeInput, wireTime } from '../fields/time.ts'

const state = z.enum(findingStates)
const severity = z.enum(severities)
const group = z.enum(findingGroups)

const findingShape = z
  .object({
    id: z.string(),
    kind: z.string().meta({ description: 'The problem, such as `domain.dkim`. The meaning of a kind never changes; releases add kinds.' }),
    subject: z
      .string()
      .meta({ description: 'The affected resource, such as a domain or the id of a destination. Empty for the organization.' }),
    project_id: z.string().nullable().meta({ description: 'Null for a finding of the whole organization.' }),
    severity: severity.meta({
      description:
        '`error`: mail or events are lost, delayed or refused now. `warning`: this can happen, or receivers trust the mail less. `notice`: for information.',
    }),
    group,
    state: state.meta({ description: 'The service ends a finding when the problem is gone, and deletes it 30 days later.' }),
    title: z.string(),
    summary: z.string(),
    fix: z.string().meta({ description: 'What to do.' }),
    params: findingParams.meta({ description: 'Counts, times in milliseconds, names and codes that the texts show.' }),
    opened_at: wireTime,
    over_at: wireTime.nullable(),
    acknowledged: z
      .object({ by: z.string().meta({ description: 'Id of the user or key.' }), at: wireTime })
      .nullable()
      .meta({ description: 'Escalations of alerts skip acknowledged findings. Null again after the severity rose.' }),
    muted_until: wireTime
      .nullable()
      .meta({ description: 'Alerts do not tell the finding before this time. Null again after the severity rose.' }),
  })
  .meta({ id: 'Finding' })

const described = encoder(findingShape).from<ReturnType<typeof describe>>()

const describe = (finding: Finding) => ({
  ...finding,
  ...findingText(finding),
  ...{ projectId: finding.projectId || null, group: factsOf(finding.kind).group },
})

export const finding = described.via(describe)

export const findingFilter = {
  state: state.optional().meta({ description: 'Defaults to `open`.' }),
  severity: severity.optional(),
  group: group.optional(),
}

export const muteFinding = z.strictObject({
  until: timeInput.nullable().meta({ description: 'At most 30 days ahead. Null unmutes the finding.' }),
})
