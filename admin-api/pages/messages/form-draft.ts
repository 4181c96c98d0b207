/**
 * The draft of a form as its hosted page, for the frame of its designer. It uses the same renderer and the same checks, without a script.
 * The draft is not stored; only the page of this service that sent it can show it.
 */
import * as z from 'zod'
import type { Clock } from '#core/clock.ts'
import { checkDefinition } from '#core/forms/definition/check-definition.ts'
import { definitionLimits, type Definition } from '#core/forms/definition/definition.ts'
import { evaluate, type Evaluation } from '#core/forms/definition/evaluate.ts'
import { referenceOf } from '#core/forms/submissions/submission.ts'
import { publicDefinition, thanksFor } from '#core/forms/definition/public-definition.ts'
import { localized } from '#core/forms/definition/translations.ts'
import type { PublicForm } from '#core/forms/submissions/public-forms.ts'
import { Refusal } from '#core/refusals.ts'
import { formBody, readForm } from '../../bodies/form-body.ts'
import { requireSameOrigin } from '../../credentials/same-origin.ts'
import { media, raw, type Answer } from '../../operation/answer.ts'
import { operation, type Operation } from '../../operation/operation.ts'
import { formPage, thanksPage, type PageFacts } from '../forms/form-page.ts'
import { formRefusalPage } from '../forms/form-refusal.ts'
import { viewOf, type FormView } from '../forms/form-view.ts'
import { initial, kept } from '../forms/form-pages.ts'
import { withOther } from '../forms/scripts/other-answers.ts'
import { sentence } from '../forms/scripts/sentences.ts'
import { themeSheet } from '../forms/theme-sheet.ts'

/** Largest definition with its answers, as browsers encode them. */
const maxDraftBytes = 2 * 1024 * 1024

/** Forbids scripts and framing by other sites. The designer can access the page in the frame, but the page cannot access the designer. */
const policy = [
  'sandbox allow-forms allow-same-origin',
  "default-src 'none'",
  "style-src 'self'",
  "img-src 'self' https:",
  "form-action 'self'",
  "base-uri 'none'",
  "frame-ancestors 'self'",
].join('; ')

const path = '/view/form'
const facts = { tags: ['pages'], scope: 'none', hiddenFromOpenApi: true, errorRenderer: formRefusalPage } as const

/** Fields of the designer in addition to the answers; no field of a form can have such a key. */
const names = { definition: '~definition', view: '~view', organization: '~organization', lang: '~lang' } as const

export const formDraftOperations = (ownOrigin: string, clock: Clock): readonly Operation[] => [
  operation({
    ...facts,
    ...{ method: 'POST', path, operationId: 'viewFormDraft', summary: 'Show the draft of a form, for the frame of its designer' },
    maxBodyBytes: maxDraftBytes,
    body: formBody,
    response: media('text/html'),
    async handle({ headers, body }) {
      requireSameOrigin(headers, ownOrigin)
      return framed(draftPage(await readForm(body), clock.now()))
    },
  }),
  operation({
    ...facts,
    ...{ method: 'GET', path: `${path}/theme.css`, operationId: 'viewFormDraftTheme', summary: 'Read the theme of a draft' },
    query: z.strictObject({ theme: z.string().max(4000) }),
    response: media('text/css'),
    handle({ query: { theme } }) {
      const { theme: checked } = definitionOf({ name: 'Theme', schema: anySchema, theme: parsed(theme) })
      return raw(themeSheet(checked).css, { contentType: 'text/css; charset=utf-8', headers: { 'cache-control': 'no-store' } })
    },
  }),
]

const anySchema = { version: 1, fields: [{ key: 'x', type: 'text', label: 'x' }] }

function parsed(json: string): unknown {
  try {
    return JSON.parse(json)
  } catch {
    return undefined
  }
}

function definitionOf(given: unknown): Definition {
  const { definition, errors } = checkDefinition(given)
  if (definition) return definition
  throw new Refusal('definition_invalid', 'This draft cannot be shown yet.', { details: { errors: errors.slice(0, 20) } })
}

const framed = ({ body, contentType, status, headers }: Answer): Answer =>
  raw(typeof body === 'string' ? body.replaceAll(/<script\b[^>]*><\/script>/g, '') : body, {
    contentType,
    ...(status !== undefined && { status }),
    headers: { ...headers, 'content-security-policy': policy, 'referrer-policy': 'no-referrer', 'x-robots-tag': 'noindex, nofollow' },
  })

/**
 * Views: `form` is the initial form, `errors` an empty submission, `thanks` the page after sending. `try` evaluates the answers and shows
 * the result.
 */
function draftPage(given: URLSearchParams, nowMs: number): Answer {
  const source = given.get(names.definition) ?? ''
  const definition = localized(definitionOf(parsed(source)), given.get(names.lang) ?? undefined)
  const organizationName = given.get(names.organization) ?? ''
  const form = asPublished(definition, organizationName)
  const page = pageFacts(definition, {
    ...{ [names.definition]: source, [names.view]: 'try', [names.organization]: organizationName },
    [names.lang]: given.get(names.lang) ?? '',
  })
  const view = given.get(names.view)
  const values = answersIn(given)
  if (view === 'form' || view === null) return formPage(viewOf(form, { values: initial(form.schema.fields, {}) }, nowMs), page)
  const evaluation = evaluate(definition, { ...{ values, files: filesIn(definition, values) }, today: dayOf(nowMs), slackDays: 1 })
  const isGood = Object.keys(evaluation.problems).length === 0
  if (view === 'thanks' || (view === 'try' && isGood))
    return thanksPage(viewOf(form, { values: {} }, nowMs), page, thanksOf(evaluation, definition, nowMs))
  const shown = viewOf(form, { values: kept(values) }, nowMs)
  return formPage({ ...shown, problems: problemsOf(shown, evaluation) }, page, isGood ? undefined : { status: 200 })
}

const dayOf = (nowMs: number): string => new Date(nowMs).toISOString().slice(0, 10)

const asPublished = (definition: Definition, organizationName: string): PublicForm => ({
  ...publicDefinition(definition),
  ...{
    organizationName,
    allowedOrigins: [],
    publicId: 'draft',
    version: 0,
    languages: [],
    honeypotKey: '_mnx_hp',
    captcha: null,
    closed: false,
    isRenewed: false,
  },
  fillTimeToken: '',
  uploads: { enabled: true, maxFiles: definitionLimits.files, maxBytes: definitionLimits.fileBytes },
})

const pageFacts = ({ theme }: Definition, carried: Readonly<Record<string, string>>): PageFacts => ({
  ...{ isSecure: false, search: '' },
  draft: { theme: `${path}/theme.css?${new URLSearchParams({ theme: JSON.stringify(theme) }).toString()}`, action: path, carried },
})

const ownNames: ReadonlySet<string> = new Set(Object.values(names))

function answersIn(given: URLSearchParams): Readonly<Record<string, unknown>> {
  const keys = [...new Set(given.keys())].filter((key) => !ownNames.has(key))
  return withOther(
    Object.fromEntries(
      keys.map((key) => {
        const all = given.getAll(key)
        return [key, all.length > 1 ? all : all[0]]
      }),
    ),
  )
}

/** A browser without file upload sends the file names. */
const filesIn = ({ schema }: Definition, values: Readonly<Record<string, unknown>>): ReadonlySet<string> =>
  new Set(schema.fields.filter(({ key, type }) => type === 'file_upload' && Boolean(values[key])).map(({ key }) => key))

function problemsOf({ form, texts }: FormView, { problems }: Evaluation): FormView['problems'] {
  const known = new Map(form.schema.fields.map((field) => [field.key, field]))
  return Object.fromEntries(
    Object.entries(problems).flatMap(([key, [first]]) => {
      const field = known.get(key)
      return field && first ? [[key, sentence(texts, field, first)]] : []
    }),
  )
}

const thanksOf = ({ answers }: Evaluation, definition: Definition, nowMs: number) => ({
  ...thanksFor(definition, answers),
  ...{ reference: referenceOf({ id: '00000000' }), receivedAt: nowMs, maskedEmail: undefined, areFilesPending: false },
})
