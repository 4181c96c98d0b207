/** Sends a test submission to the webhook of a form, and returns the receiver's response. */
import { randomUUID } from 'node:crypto'
import type { Database } from '#store/database.ts'
import type { Principal } from '../../access/principal/principal.ts'
import type { Core } from '../../core.ts'
import { Refusal } from '../../refusals.ts'
import type { TestDeliveries, TestResult } from '../../webhooks/endpoints/test-delivery.ts'
import { must } from '../../writes/transact.ts'
import { checkDefinition } from '../definition/check-definition.ts'
import type { Answer, Definition, Field, FieldType } from '../definition/definition.ts'
import { evaluate } from '../definition/evaluate.ts'
import { formDrafts, forms, formVersions, versionId, type Form } from '../form.ts'
import { eventOf, formTarget, type AnnouncedSubmission } from './form-webhook.ts'

export interface FormWebhookTestsOptions extends Core {
  readonly tests: Pick<TestDeliveries, 'send'>
}

export class FormWebhookTests {
  readonly #options: FormWebhookTestsOptions

  constructor(options: FormWebhookTestsOptions) {
    this.#options = options
  }

  /** Throws `not_found`, `conflict` without a webhook, and `rate_limit_exceeded` during another test. */
  async run(principal: Principal, formId: string, signal: AbortSignal): Promise<TestResult> {
    const { database, clock, tests } = this.#options
    const { record: form } = await must(database, forms, principal, formId)
    const target = await formTarget(database, principal, formId)
    if (!target) throw new Refusal('conflict', 'The form has no webhook; set webhook_url first.')
    const now = clock.now()
    const submission = sampleOf(database, await this.#definition(principal, form), form.version, now)
    const body = eventOf({ id: database.newId('evt', now), at: now }, form, submission, true)
    return tests.send(formId, target, { eventType: 'form_submission', body }, signal)
  }

  /** Returns the published definition, or the valid draft of a form that was never published. */
  async #definition({ organizationId }: Principal, { id, version }: Form): Promise<Definition | undefined> {
    const { database } = this.#options
    if (version > 0) return (await database.get(formVersions, { organizationId }, versionId(id, version)))?.record.definition
    return checkDefinition((await database.get(formDrafts, { organizationId }, id))?.record.definition).definition
  }
}

/** Returns a submission with example answers that are valid for the form. */
function sampleOf(database: Database, definition: Definition | undefined, version: number, now: number): AnnouncedSubmission {
  const fields = definition?.schema.fields ?? []
  const values = Object.fromEntries(fields.flatMap((field) => (field.type in samples ? [[field.key, samples[field.type]?.(field)]] : [])))
  const chosen = new Set(fields.filter(({ type }) => type === 'file_upload').map(({ key }) => key))
  const today = new Date(now).toISOString().slice(0, 10)
  const answers = definition ? evaluate(definition, { values, files: chosen, today, slackDays: 1 }).answers : {}
  const files = [...chosen]
    .filter((key) => Object.hasOwn(answers, key))
    .map((field) => ({ ...sampleFile, id: database.newId('fil', now), field }))
  return {
    ...{ id: `sub_${randomUUID().replaceAll('-', '')}`, version, createdAt: now, files },
    answers: { ...answers, ...Object.fromEntries(files.map(({ field, id }) => [field, id])) },
  }
}

const sampleFile = { name: 'sample.pdf', contentType: 'application/pdf', size: 12_345, status: 'clean' } as const

const first = ({ options = [] }: Field): string => options.find(({ disabled }) => disabled !== true)?.value ?? ''

const samples: Readonly<Partial<Record<FieldType, (field: Field) => Answer>>> = {
  text: () => 'Sample',
  textarea: () => 'An example message of a visitor.',
  email: () => 'visitor@example.com',
  phone: () => '+41 44 123 45 67',
  url: () => 'https://example.com/',
  number: ({ min = 1 }) => Number(min),
  date: () => '2030-12-24',
  time: () => '17:30',
  datetime: () => '2030-12-24T17:30',
  select: first,
  radio: first,
  checkbox: () => true,
  checkboxes: (field) => [first(field)],
  rating: ({ max = 5 }) => Number(max),
  scale: ({ max = 10 }) => Number(max),
  consent: () => true,
  hidden: () => 'sample',
}
