/** Diagnoses on the wire: why a message bounced, and why a message did not arrive. */
import * as z from 'zod'
import { refusalCategories } from '#config/mail/status-codes.ts'
import { missingVerdicts, type BounceDiagnosis, type Hypothesis, type MissingDiagnosis } from '#core/diagnose/search/diagnosis.ts'
import type { Related } from '#core/diagnose/search/related-refusals.ts'
import { bounceStages } from '#core/diagnose/search/refusal.ts'
import { traceStatuses } from '#core/trace/states.ts'
import { decodeEncodedWords } from '#ingest/mime/encoded-words.ts'
import { encoder, encoderOf } from '../fields/codec.ts'
import { wireTime } from '../fields/time.ts'

const relatedShape = z
  .object({
    same_recipient: z.int().meta({ description: 'Other messages to this recipient that failed in the last 30 days.' }),
    same_domain_last_24h: z.int().meta({ description: 'Other messages to its domain that failed.' }),
    same_reply_last_24h: z.int().meta({ description: 'Other messages that received the same reply, for any recipient.' }),
    complete: z.boolean().meta({ description: 'False if the search limit was reached; the counts may then be too low.' }),
  })
  .meta({ description: 'Shows whether the failure is an isolated case or part of a trend.' })

const bounceDiagnosisShape = z
  .object({
    found: z
      .boolean()
      .meta({ description: 'False without a matching message. All fields except plain_reason and next_actions are then null.' }),
    trace_id: z.uuidv4().nullable(),
    recipient: z.string().nullable(),
    bounced_at: wireTime.nullable(),
    stage: z
      .enum(bounceStages)
      .nullable()
      .meta({ description: 'The SMTP command that the server refused; after_acceptance: a report arrived later.' }),
    source: z.enum(['smtp', 'dsn', 'stalwart', 'mailenable', 'arf', 'postfix', 'exim']).nullable(),
    reply: z.object({ code: z.int().nullable(), enhanced: z.string().nullable(), text: z.string() }).nullable(),
    registry: z
      .object({ name: z.string(), rfc: z.string().nullable() })
      .nullable()
      .meta({ description: 'Meaning of the enhanced status code in the IANA registry.' }),
    category: z.enum([...refusalCategories, 'complaint']).nullable(),
    bounce: z.enum(['hard', 'soft', 'block']).nullable().meta({
      description: 'hard: the address is bad. soft: it may work later. block: the address is fine, the sender or the message was refused.',
    }),
    plain_reason: z.string().meta({ description: 'The party that can fix the cause, and why.' }),
    next_actions: z.array(z.string()),
    suppress: z
      .object({
        recommended: z.boolean(),
        done: z.boolean().meta({ description: 'Whether the recipient is suppressed now.' }),
        flag: z.boolean().meta({ description: 'Whether bounce_auto_suppress is enabled.' }),
        reason: z.string().nullable().meta({ description: 'Why a suppression is recommended although none was added; null otherwise.' }),
      })
      .nullable(),
    retry: z
      .object({
        useful: z.boolean().meta({ description: 'Whether sending again can succeed without a change.' }),
        when: z.string().nullable(),
      })
      .nullable(),
    provider: z.string().nullable(),
    provider_link: z
      .string()
      .nullable()
      .meta({ description: 'A URL in the reply. It was written by the operator of the receiving server.' }),
    related: relatedShape.nullable(),
    raw_report_available: z.boolean(),
  })
  .meta({ id: 'BounceDiagnosis' })

const sources = bounceDiagnosisShape.shape.source.unwrap().options

const related = encoder(relatedShape).from<Related>({ complete: ({ isComplete }) => isComplete })

const found = encoder(bounceDiagnosisShape).from<BounceDiagnosis>({
  found: () => true,
  source: (seen) => sources.find((source) => source === seen.source) ?? null,
  related: (seen) => related.encode(seen.related),
  raw_report_available: ({ isRawAvailable }) => isRawAvailable,
})

/** The diagnosis of an id without a message. */
export interface NothingFound {
  readonly plainReason: string
  readonly nextAction: string
}

export const bounceDiagnosis = encoderOf(bounceDiagnosisShape, (seen: BounceDiagnosis | NothingFound) =>
  'nextAction' in seen ? notFound(seen) : found.encode(seen),
)

const notFound = ({ plainReason, nextAction }: NothingFound): z.input<typeof bounceDiagnosisShape> => ({
  ...{ found: false, trace_id: null, recipient: null, bounced_at: null, stage: null, source: null, reply: null, registry: null },
  ...{ category: null, bounce: null, plain_reason: plainReason, next_actions: [nextAction], suppress: null, retry: null },
  ...{ provider: null, provider_link: null, related: null, raw_report_available: false },
})

const confidence = z.number().min(0).max(1)

const hypothesisShape = z.object({
  id: z.string().meta({ description: 'A stable name, such as `captured_sandbox_destination`.' }),
  rank: z.int(),
  confidence,
  explanation: z.string(),
  evidence: z.array(z.object({ kind: z.string(), trace_id: z.uuidv4().optional(), at: wireTime.optional(), detail: z.string() })),
  next_action: z.object({
    text: z.string(),
    tool: z.string().optional().meta({ description: 'An agent tool that performs the action.' }),
    arguments: z.record(z.string(), z.string()).optional(),
  }),
})

const traceShape = z.object({ trace_id: z.uuidv4(), status: z.enum(traceStatuses), subject: z.string(), created_at: wireTime })

const missingDiagnosisShape = z
  .object({
    recipient: z.string(),
    window: z.object({ from: wireTime, to: wireTime }),
    verdict: z.enum(missingVerdicts),
    confidence,
    summary: z.string(),
    hypotheses: z.array(hypothesisShape).meta({ description: 'The most probable hypothesis first.' }),
    traces: z.array(traceShape).meta({ description: 'The latest messages to the recipient, at most five.' }),
    checked: z.array(z.string()),
    not_checked: z.array(z.object({ what: z.string(), why: z.string() })),
  })
  .meta({ id: 'MissingDiagnosis' })

const rounded = ({ confidence: sure }: { readonly confidence: number }): number => Math.round(sure * 100) / 100

const hypothesis = encoder(hypothesisShape).from<Hypothesis & { readonly rank: number }>({ confidence: rounded })
const trace = encoder(traceShape).from<MissingDiagnosis['traces'][number]>({ subject: ({ subject }) => decodeEncodedWords(subject) })

export const missingDiagnosis = encoder(missingDiagnosisShape).from<MissingDiagnosis>({
  confidence: rounded,
  hypotheses: ({ hypotheses }) => hypotheses.map((one, i) => hypothesis.encode({ ...one, rank: i + 1 })),
  traces: ({ traces }) => traces.map(trace.encode),
})
