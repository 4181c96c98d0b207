/** Pages, fragments and themes of published forms, and the handling of sent forms. */
import type { IncomingHttpHeaders } from 'node:http'
import type { Clock } from '#core/clock.ts'
import { captchaKey, fillTimeKey, isReservedKey, signatureKey, type Field } from '#core/forms/definition/definition.ts'
import { localePattern } from '#core/forms/definition/translations.ts'
import { requireAllowedOrigin, type PublicForm, type PublicForms } from '#core/forms/submissions/public-forms.ts'
import type { SubmitForms } from '#core/forms/submissions/submit.ts'
import type { FormThanks } from '#core/forms/submissions/thanks.ts'
import { signatureParam } from '#core/forms/submissions/signed-values.ts'
import { Refusal, refusals } from '#core/refusals.ts'
import type { BodyStream } from '../../bodies/body-stream.ts'
import { FilesOfPage, readSubmission, type SubmissionValues } from '../../bodies/submission-body.ts'
import { answer, raw, type Answer } from '../../operation/answer.ts'
import { seeOther } from '../session/page-operation.ts'
import type { ServiceLinks } from './form-frame.ts'
import { firstLanguage } from '../layout/first-language.ts'
import { notices } from './form-refusal.ts'
import { formPage, thanksPage, type PageFacts, type Return } from './form-page.ts'
import { usualValues, viewOf, type Filled, type FormView, type Values } from './form-view.ts'
import { KeptPieces } from './kept/pieces.ts'
import { RenderedForms } from './kept/rendered-forms.ts'
import { formFragment, thanksFragment } from './scripts/fragment.ts'
import { firstText, withOther } from './scripts/other-answers.ts'
import type { Fragment, SentForm } from './scripts/plan-types.ts'
import { sentence, type Problem } from './scripts/sentences.ts'
import { themeSheet } from './theme-sheet.ts'

export interface HostedFormsCore {
  readonly forms: { readonly publicForms: PublicForms; readonly submit: SubmitForms; readonly thanks: FormThanks }
  /** Public address of forms. */
  readonly formsUrl: string
  /** Links of the operator, shown below every form. */
  readonly links: ServiceLinks
  readonly clock: Clock
}

const forever = { 'cache-control': 'public, max-age=31536000, immutable', 'x-content-type-options': 'nosniff' } as const

export const nothing = (): Refusal => new Refusal('not_found', 'No file has this name. Reload the page.')

export type Query = Readonly<Record<string, unknown>>

export interface Sent {
  readonly headers: IncomingHttpHeaders
  readonly remoteAddress: string
  readonly body: BodyStream
}

/** A submission that returns to the visitor. */
interface Refused {
  readonly headers: IncomingHttpHeaders
  readonly values: SubmissionValues
  /** Keys of the files that arrived. */
  readonly filesSent: ReadonlySet<string>
  readonly error: Refusal
  readonly isScript: boolean
}

/** Problems of a submission: by field, and as a whole. */
interface Returned {
  readonly problems: Readonly<Record<string, Problem>>
  readonly again: Return
}

export class FormPages {
  readonly #core: HostedFormsCore
  readonly #rendered = new RenderedForms()
  readonly #pieces = new KeptPieces()

  constructor(core: HostedFormsCore) {
    this.#core = core
  }

  async read(publicId: string, query: Query, headers: IncomingHttpHeaders): Promise<Answer> {
    const form = await this.#core.forms.publicForms.show(publicId, languageOf(query, headers))
    const facts = this.#facts(publicId, query)
    const make = async () => formPage(this.#view(form, await this.#filledBy(form, query)), facts)
    const name = isPlain(form, query) ? this.#nameOf(form, facts) : undefined
    return this.#rendered.page(name, form.fillTimeToken, make)
  }

  /** Returns the form or its thank-you page for the document of another site. */
  async fragment(publicId: string, query: Query, headers: IncomingHttpHeaders): Promise<Fragment> {
    const { publicForms, thanks } = this.#core.forms
    const language = languageOf(query, headers)
    const sealed = firstText(query['s'])
    const form = sealed === undefined ? await publicForms.show(publicId, language) : await publicForms.read(publicId, language)
    requireAllowedOrigin(form.allowedOrigins, this.#ownOrigin, this.#originOf(headers))
    const facts = { ...this.#facts(publicId, query), isFragment: true, embedding: { hasTitle: true, isTransparent: true } }
    if (sealed === undefined) {
      const make = async () => formFragment(this.#view(form, await this.#filledBy(form, query)), facts)
      return this.#rendered.fragment(isPlain(form, query) ? this.#nameOf(form, facts) : undefined, form.fillTimeToken, make)
    }
    return thanksFragment(this.#view(form, { values: {} }), facts, await thanks.read(publicId, sealed, language))
  }

  /** Accepts a submission. A refused submission returns the form with all answers, or the problems for a script. */
  async send(publicId: string, query: Query, { headers, remoteAddress, body }: Sent): Promise<Answer> {
    const { submit, thanks } = this.#core.forms
    const isScript = (headers.accept ?? '').startsWith('application/json')
    const from = { remoteAddress, origin: this.#originOf(headers) }
    await using uploads = submit.uploads(publicId, from)
    let values: SubmissionValues = {}
    try {
      const files = new FilesOfPage(uploads)
      values = await readSubmission(body, headers['content-type'] ?? '', files)
      if (files.refusal) throw files.refusal
      const captchaToken = firstText(values[captchaKey]) ?? firstText(values['h-captcha-response'])
      const { id } = await submit.submit(publicId, { ...from, values: withOther(values), uploads, captchaToken })
      const search = new URLSearchParams({ s: thanks.seal(publicId, id), ...keptOf(query) })
      const address = `/f/${encodeURIComponent(publicId)}/thanks?${search.toString()}`
      return isScript ? answer({ id, thanks: address } satisfies SentForm, { status: 201 }) : seeOther(address)
    } catch (error) {
      if (!(error instanceof Refusal)) throw error
      const filesSent = new Set(uploads.all.map(({ key }) => key))
      return await this.#sendBack(publicId, query, { headers, values, filesSent, error, isScript })
    }
  }

  async #sendBack(publicId: string, query: Query, { headers, values, filesSent, error, isScript }: Refused): Promise<Answer> {
    const form = await this.#core.forms.publicForms.read(publicId, languageOf(query, headers), firstText(values[fillTimeKey]))
    const filled = { values: kept(withOther(values)), problems: {}, signature: firstText(values[signatureKey]), filesSent }
    const { texts } = this.#view(form, filled)
    const { problems, again } = returned(error, form, texts)
    if (isScript) return answer(refused(error, form, problems, texts, again), { status: again.status, headers: retryAfter(again) })
    const sentences = Object.fromEntries(Object.entries(problems).map(([key, { message }]) => [key, message]))
    return formPage(this.#view(form, { ...filled, problems: sentences }), this.#facts(publicId, query), again)
  }

  async thanks(publicId: string, query: Query, headers: IncomingHttpHeaders): Promise<Answer> {
    const { publicForms, thanks } = this.#core.forms
    const language = languageOf(query, headers)
    const found = await thanks.read(publicId, firstText(query['s']) ?? '', language)
    const form = await publicForms.read(publicId, language)
    return thanksPage(this.#view(form, { values: {} }), this.#facts(publicId, query), found)
  }

  /** Returns the theme. `theme.css` and names of older themes return the current theme, without caching. */
  async theme(publicId: string, file: string): Promise<Answer> {
    const { theme } = await this.#core.forms.publicForms.read(publicId, undefined)
    const sheet = themeSheet(theme)
    if (!/^theme(?:\.[0-9a-f]{16})?\.css$/.test(file)) throw nothing()
    const headers = sheet.file === file ? forever : { ...forever, 'cache-control': 'no-store' }
    return raw(sheet.css, { contentType: 'text/css; charset=utf-8', headers })
  }

  /** Returns the default values and the values from the address. */
  async #filledBy(form: FormView['form'], query: Query): Promise<Filled> {
    const signature = firstText(query[signatureParam])
    const given = { ...initial(form.schema.fields, query), ...(signature !== undefined && { [signatureKey]: [signature] }) }
    const { [signatureKey]: _, ...values } = await this.#core.forms.publicForms.trusted(form.publicId, form, given)
    return { values: values as Values, signature }
  }

  get #ownOrigin(): string {
    return new URL(this.#core.formsUrl).origin
  }

  #view(form: FormView['form'], filled: Parameters<typeof viewOf>[1]): FormView {
    const nowMs = this.#core.clock.now()
    const { publicId, version, locale, uploads, allowedOrigins } = form
    const pieces = this.#pieces.of(JSON.stringify([publicId, version, locale, uploads, allowedOrigins, dayOf(nowMs)]))
    return { ...viewOf(form, filled, nowMs), pieces }
  }

  #facts(publicId: string, query: Query): PageFacts {
    const search = new URLSearchParams(keptOf(query)).toString()
    const isEmbedded = query['embed'] !== undefined
    const { links, formsUrl } = this.#core
    return {
      links: { ...links, reportUrl: links.reportUrl && reportAddress(links.reportUrl, `${formsUrl}/f/${publicId}`) },
      ...{ isSecure: this.#core.formsUrl.startsWith('https:'), search: search === '' ? '' : `?${search}`, isFragment: false },
      embedding: isEmbedded ? { hasTitle: query['title'] !== undefined, isTransparent: query['background'] === 'transparent' } : undefined,
    }
  }

  /** Returns everything that determines a page, other than the version and the token. */
  #nameOf(form: PublicForm, { search, embedding, links, isFragment }: PageFacts): string {
    const { publicId, version, locale, closed, organizationName, uploads, captcha, allowedOrigins } = form
    const today = dayOf(this.#core.clock.now())
    return JSON.stringify([
      publicId,
      version,
      locale,
      closed,
      organizationName,
      uploads,
      captcha,
      allowedOrigins,
      search,
      embedding,
      links,
      isFragment,
      today,
    ])
  }

  /** Returns the origin of the page. The host of the request always counts as this service. */
  #originOf({ origin, host }: IncomingHttpHeaders): string | undefined {
    const isOwn = host !== undefined && URL.parse(origin ?? '')?.host === host
    return isOwn ? this.#ownOrigin : origin
  }
}

const dayOf = (ms: number): number => Math.floor(ms / 86_400_000)

/** Returns whether the address changes neither answers nor language. Pages with such changes are not cached. */
function isPlain({ schema: { fields }, locale }: PublicForm, query: Query): boolean {
  const isFilled = query[signatureParam] !== undefined || fields.some((field) => filledIn(field, query) !== undefined)
  return !isFilled && (langOf(query)['lang'] ?? locale) === locale
}

/** Returns the report address with the name of the form. */
function reportAddress(report: string, form: string): string {
  if (!report.includes('://')) return `mailto:${report}?subject=${encodeURIComponent(form)}`
  const url = new URL(report)
  url.searchParams.set('form', form)
  return url.href
}

const langOf = ({ lang }: Query): Readonly<Record<string, string>> => {
  const wished = firstText(lang)
  return wished !== undefined && wished.length <= 35 && localePattern.test(wished) ? { lang: wished } : {}
}

/** Parameters that follow the visitor from page to page: language and embedding. */
const keptOf = (query: Query): Readonly<Record<string, string>> => ({
  ...langOf(query),
  ...(query['embed'] !== undefined && { embed: '1' }),
  ...(query['title'] !== undefined && { title: '1' }),
  ...(query['background'] === 'transparent' && { background: 'transparent' }),
})

/** Returns the language in the address, or the browser's first language. */
const languageOf = (query: Query, headers: IncomingHttpHeaders): string | undefined =>
  langOf(query)['lang'] ?? langOf({ lang: firstLanguage(headers) })['lang']

/** Returns default values and values from the address, for fields that allow prefilling. */
export function initial(fields: readonly Field[], query: Query): Values {
  return Object.fromEntries(
    fields.flatMap((field) => {
      const given = filledIn(field, query)
      const values = given === undefined ? usualValues(field) : [given.slice(0, 1000)]
      return values === undefined ? [] : [[field.key, values]]
    }),
  )
}

/** Returns the value of the address for a field that allows it. */
function filledIn({ key, prefill, source, param }: Field, query: Query): string | undefined {
  const name = prefill ? key : source === 'url_param' ? param : undefined
  return name === undefined ? undefined : firstText(query[name])
}

export const kept = (values: SubmissionValues): Values =>
  Object.fromEntries(
    Object.entries(values).flatMap(([key, value]) => {
      const texts = (Array.isArray(value) ? value : [value]).filter((each) => typeof each === 'string')
      return isReservedKey(key) || texts.length === 0 ? [] : [[key, texts]]
    }),
  )

const problemsOf = ({ details }: Refusal): Readonly<Record<string, readonly Problem[]>> =>
  (details?.['fields'] ?? {}) as Readonly<Record<string, readonly Problem[]>>

function returned(error: Refusal, { schema, isRenewed }: FormView['form'], texts: FormView['texts']): Returned {
  const known = new Map(schema.fields.map((field) => [field.key, field]))
  const problems = Object.entries(problemsOf(error)).flatMap(([key, [first]]) => {
    const field = known.get(key)
    return field && first ? [[key, { code: first.code, message: sentence(texts, field, first) }] as const] : []
  })
  const isMalformed = error.code === 'malformed_submission' || error.code === 'file_too_large'
  return {
    problems: Object.fromEntries(problems),
    again: {
      status: isMalformed ? 422 : refusals[error.code].http,
      notice: isMalformed ? (isRenewed ? 'changed' : 'expired') : (notices[error.code] ?? 'other'),
      retryAfterSeconds: error.retryAfterSeconds,
    },
  }
}

/** Returns the problems in the error envelope, with sentences for the visitor. */
function refused(
  { code, details }: Refusal,
  { version, isRenewed }: FormView['form'],
  problems: Returned['problems'],
  texts: FormView['texts'],
  again: Return,
): SentForm {
  const count = Object.keys(problems).length
  const message = count > 0 ? texts.errorTitle({ count }) : texts.retry[again.notice ?? 'other']
  const fields = Object.fromEntries(Object.entries(problems).map(([key, problem]) => [key, [problem] as const]))
  const token = details?.['fill_time_token']
  return {
    error: {
      code,
      message,
      details: { fields, ...(typeof token === 'string' && { fill_time_token: token, ...(isRenewed && { version }) }) },
    },
  }
}

const retryAfter = ({ retryAfterSeconds }: Return): Readonly<Record<string, string>> =>
  retryAfterSeconds === undefined ? {} : { 'retry-after': String(Math.ceil(retryAfterSeconds)) }
