/** Published forms as pages under `/f/`: read, sent and thanked for, by the same core as the public API. */
import type { IncomingHttpHeaders } from 'node:http'
import * as z from 'zod'
import type { PublicForms } from '#core/forms/submissions/public-forms.ts'
import type { SubmitForms } from '#core/forms/submissions/submit.ts'
import type { FormThanks } from '#core/forms/submissions/thanks.ts'
import { captchaKey, fillTimeKey, isReservedKey, type Field } from '#core/forms/definition/definition.ts'
import { localePattern } from '#core/forms/definition/translations.ts'
import { Refusal, refusals } from '#core/refusals.ts'
import type { Clock } from '#core/clock.ts'
import { streamed } from '../../bodies/body-stream.ts'
import { maxSubmissionBytes, readSubmission, type SubmissionBody } from '../../bodies/submission-body.ts'
import { media, raw, type Answer } from '../../operation/answer.ts'
import { operation, type Operation } from '../../operation/operation.ts'
import { seeOther } from '../session/page-operation.ts'
import { otherOf, otherValue } from './controls.ts'
import { formAssets } from './form-assets.ts'
import { formPage, thanksPage, type PageFacts, type Return } from './form-page.ts'
import { formRefusalPage } from './form-refusal.ts'
import { viewOf, type FormView, type Values } from './form-view.ts'
import { themeSheet } from './theme-sheet.ts'

export interface HostedFormsCore {
  readonly forms: { readonly publicForms: PublicForms; readonly submit: SubmitForms; readonly thanks: FormThanks }
  /** Public address of forms. */
  readonly formsUrl: string
  readonly clock: Clock
}

const params = z.strictObject({ public_id: z.string().max(64) })
const facts = {
  scope: 'none',
  ...{ tags: ['pages'], hiddenFromOpenApi: true, query: z.looseObject({}) },
  ...{ errorRenderer: formRefusalPage, response: media('text/html') },
} as const
const forever = { 'cache-control': 'public, max-age=31536000, immutable', 'x-content-type-options': 'nosniff' } as const
const multipart = z.record(z.string(), z.string())

export function hostedFormOperations(core: HostedFormsCore): readonly Operation[] {
  const pages = new FormPages(core)
  return [
    operation({
      ...{
        ...facts,
        method: 'GET',
        path: '/f/{public_id}',
        operationId: 'readFormPage',
        summary: 'Read a published form as a page',
        params,
      },
      handle: ({ params: { public_id: publicId }, query, headers }) => pages.read(publicId, query, headers),
    }),
    operation({
      ...{ ...facts, method: 'POST', path: '/f/{public_id}', operationId: 'sendFormPage', summary: 'Send a form from its page', params },
      maxBodyBytes: maxSubmissionBytes,
      body: streamed({ 'multipart/form-data': multipart, 'application/x-www-form-urlencoded': multipart }),
      async handle({ params: { public_id: publicId }, query, headers, body, remoteAddress }) {
        return pages.send(publicId, query, { headers, remoteAddress, body: await readSubmission(body, headers['content-type'] ?? '') })
      },
    }),
    operation({
      ...{ ...facts, method: 'GET', path: '/f/{public_id}/thanks', operationId: 'readFormThanks', params },
      summary: 'Read what is said once a form was sent',
      handle: ({ params: { public_id: publicId }, query, headers }) => pages.thanks(publicId, query, headers),
    }),
    operation({
      ...{ ...facts, method: 'GET', path: '/f/{public_id}/{file}', operationId: 'getFormTheme', summary: 'Read the theme of a form' },
      params: params.extend({ file: z.string().max(64) }),
      handle: ({ params: { public_id: publicId, file } }) => pages.theme(publicId, file),
    }),
    operation({
      ...{ ...facts, method: 'GET', path: '/f/assets/{file}', operationId: 'getFormAsset', summary: 'Read what forms are drawn with' },
      params: z.strictObject({ file: z.string().max(64) }),
      handle({ params: { file } }) {
        const found = formAssets.get(`/f/assets/${file}`)
        if (!found) throw nothing()
        return raw(found.bytes, { contentType: found.contentType, headers: forever })
      },
    }),
  ]
}

const nothing = (): Refusal => new Refusal('not_found', 'There is no such file; read the page again.')

type Query = Readonly<Record<string, unknown>>

interface Sent {
  readonly headers: IncomingHttpHeaders
  readonly remoteAddress: string
  readonly body: SubmissionBody
}

class FormPages {
  readonly #core: HostedFormsCore

  constructor(core: HostedFormsCore) {
    this.#core = core
  }

  async read(publicId: string, query: Query, headers: IncomingHttpHeaders): Promise<Answer> {
    const form = await this.#core.forms.publicForms.show(publicId, languageOf(query, headers))
    return formPage(this.#view(form, { values: initial(form.schema.fields, query) }), this.#facts(query))
  }

  /** What is refused comes back as the form with everything that was filled in. */
  async send(publicId: string, query: Query, { headers, remoteAddress, body }: Sent): Promise<Answer> {
    const { publicForms, submit, thanks } = this.#core.forms
    const language = languageOf(query, headers)
    try {
      const { id } = await submit.submit(publicId, {
        ...{ values: withOther(body.values), files: body.files, remoteAddress, origin: this.#originOf(headers) },
        captchaToken: textOf(body.values[captchaKey]) ?? textOf(body.values['h-captcha-response']),
      })
      const search = new URLSearchParams({ s: thanks.seal(publicId, id), ...langOf(query) })
      return seeOther(`/f/${encodeURIComponent(publicId)}/thanks?${search.toString()}`)
    } catch (error) {
      if (!(error instanceof Refusal)) throw error
      const form = await publicForms.read(publicId, language, textOf(body.values[fillTimeKey]))
      const known = new Map(form.schema.fields.map((field) => [field.key, field]))
      const filled = { values: kept(withOther(body.values)), problems: {} }
      const words = this.#view(form, filled).words
      const problems = Object.fromEntries(
        Object.entries(problemsOf(error)).flatMap(([key, [first]]) => {
          const field = known.get(key)
          return field && first ? [[key, sentence(words, field, first)]] : []
        }),
      )
      return formPage(this.#view(form, { ...filled, problems }), this.#facts(query), returned(error))
    }
  }

  async thanks(publicId: string, query: Query, headers: IncomingHttpHeaders): Promise<Answer> {
    const { publicForms, thanks } = this.#core.forms
    const language = languageOf(query, headers)
    const found = await thanks.read(publicId, textOf(query['s']) ?? '', language)
    const form = await publicForms.read(publicId, language)
    return thanksPage(this.#view(form, { values: {} }), this.#facts(query), found)
  }

  /** A name of an older theme gets the present one, which is not to be kept under that name. */
  async theme(publicId: string, file: string): Promise<Answer> {
    const { theme } = await this.#core.forms.publicForms.read(publicId, undefined)
    const sheet = themeSheet(theme)
    if (!/^theme\.[0-9a-f]{16}\.css$/.test(file)) throw nothing()
    const headers = sheet.file === file ? forever : { ...forever, 'cache-control': 'no-store' }
    return raw(sheet.css, { contentType: 'text/css; charset=utf-8', headers })
  }

  #view(form: FormView['form'], filled: Parameters<typeof viewOf>[1]): FormView {
    return viewOf(form, filled, this.#core.clock.now())
  }

  #facts(query: Query): PageFacts {
    const search = new URLSearchParams(langOf(query)).toString()
    return { isSecure: this.#core.formsUrl.startsWith('https:'), search: search === '' ? '' : `?${search}` }
  }

  /** A page of the host that was asked is a page of this service, whatever name the host goes by. */
  #originOf({ origin, host }: IncomingHttpHeaders): string | undefined {
    const isOwn = host !== undefined && URL.parse(origin ?? '')?.host === host
    return isOwn ? new URL(this.#core.formsUrl).origin : origin
  }
}

const textOf = (value: unknown): string | undefined => {
  const first: unknown = Array.isArray(value) ? value[0] : value
  return typeof first === 'string' && first !== '' ? first : undefined
}

const langOf = ({ lang }: Query): Readonly<Record<string, string>> => {
  const wished = textOf(lang)
  return wished !== undefined && wished.length <= 35 && localePattern.test(wished) ? { lang: wished } : {}
}

/** The language of the address, else the first one of the browser. */
function languageOf(query: Query, { 'accept-language': accepted = '' }: IncomingHttpHeaders): string | undefined {
  const [first = ''] = accepted.slice(0, 35).split(/[,;]/)
  return langOf(query)['lang'] ?? langOf({ lang: first.trim() })['lang']
}

/** Defaults, and what the address says of fields that let it. */
export function initial(fields: readonly Field[], query: Query): Values {
  return Object.fromEntries(
    fields.flatMap(({ key, prefill, source, param, default: own }) => {
      const given = prefill ? textOf(query[key]) : source === 'url_param' && param !== undefined ? textOf(query[param]) : undefined
      const value = given?.slice(0, 1000) ?? own
      return value === undefined ? [] : [[key, Array.isArray(value) ? value.map(String) : [String(value)]]]
    }),
  )
}

/** The text beside an option that says "other" is the answer where that option is chosen. */
export function withOther(values: SubmissionBody['values']): SubmissionBody['values'] {
  const marked = otherOf('')
  const texts = Object.keys(values).filter((key) => key.endsWith(marked))
  if (texts.length === 0) return values
  const result = Object.fromEntries(Object.entries(values).filter(([key]) => !key.endsWith(marked)))
  for (const name of texts) {
    const key = name.slice(0, -marked.length)
    const chosen = textOf(result[key])
    if (chosen === otherValue || chosen === undefined) result[key] = textOf(values[name]) ?? ''
  }
  return result
}

export const kept = (values: SubmissionBody['values']): Values =>
  Object.fromEntries(
    Object.entries(values).flatMap(([key, value]) => {
      const texts = (Array.isArray(value) ? value : [value]).filter((each) => typeof each === 'string')
      return isReservedKey(key) || texts.length === 0 ? [] : [[key, texts]]
    }),
  )

interface Problem {
  readonly code: string
  readonly message: string
}

const problemsOf = ({ details }: Refusal): Readonly<Record<string, readonly Problem[]>> =>
  (details?.['fields'] ?? {}) as Readonly<Record<string, readonly Problem[]>>

const chosen = new Set<Field['type']>(['select', 'radio', 'checkboxes', 'rating', 'scale'])

/** The owner's own words first, then ours in the language of the form, then those of the check. */
export function sentence(words: FormView['words'], field: Field, { code, message }: Problem): string {
  const isMissing = code === 'required' || code === 'must_accept' || code === 'file_missing'
  if (isMissing && field.required_message !== undefined) return field.required_message
  const label = field.label ?? field.key
  const known = code === 'required' && chosen.has(field.type) ? 'unanswered' : code
  return words.problems[known]?.(field, label) ?? `${label}: ${message}`
}

const notices: Readonly<Record<string, NonNullable<Return['notice']>>> = {
  ...{ rate_limit_exceeded: 'rate', quota_exhausted: 'quota', origin_not_allowed: 'origin', file_uploads_unavailable: 'files' },
  ...{ captcha_required: 'captcha', captcha_failed: 'captcha', captcha_unavailable: 'captcha', captcha_not_configured: 'captcha' },
}

function returned(error: Refusal): Return {
  const isMalformed = error.code === 'malformed_submission'
  return {
    status: isMalformed ? 422 : refusals[error.code].http,
    notice: isMalformed ? 'expired' : (notices[error.code] ?? 'other'),
    retryAfterSeconds: error.retryAfterSeconds,
  }
}
