/** Notification mails: the answers of submissions, field by field, as text and HTML. */
import { catalogIn } from '#config/catalogs/catalog-in.ts'
import type { ConfigCatalogs } from '#config/catalogs/config-catalogs.ts'
import { renderLine } from '../../templates/template-content.ts'
import { escapeHtml } from '../../templates/renderer.ts'
import { TemplateFault } from '../../templates/template-fault.ts'
import type { Answer, Definition, Field } from '../definition/definition.ts'
import { valueKinds } from '../definition/field-properties.ts'
import { inReadingOrder } from '../definition/layout.ts'
import type { Form } from '../form.ts'
import { referenceOf, type FormSubmission } from '../submissions/submission.ts'
import { namedAnswers } from '../uploads/submission-file.ts'
import { defaultSubject, type NotificationSettings } from './notification.ts'

/** A submission with the definition of its version. */
export interface Noticed {
  readonly submission: FormSubmission
  readonly definition: Definition
}

export interface NoticeFacts {
  readonly form: Form
  readonly settings: Pick<NotificationSettings, 'subjectTmpl' | 'includeAnswers'>
  /** Link that ends the notifications of this recipient. */
  readonly endUrl: string
}

export interface NoticeMail {
  readonly subject: string
  readonly text: string
  readonly html: string
}

/** Replaces the answers of masked fields. */
const mask = '••••••'
/** Maximum number of submissions shown in a digest; the others are only counted. */
const maxShown = 50
/** Maximum characters of one answer in a digest, and of all answers. */
const maxAnswer = 2000
const maxAnswers = 200_000

const texts = (): ConfigCatalogs['mails']['formNotice'] => catalogIn('mails', 'en').formNotice

interface ShownAnswer {
  readonly label: string
  readonly answer: string
}

/** Returns the mail about one submission. */
export function noticeMail(facts: NoticeFacts, noticed: Noticed): NoticeMail {
  const { form, settings } = facts
  const title = texts().title({ form: form.name })
  return written(facts, { subject: subjectOf(settings.subjectTmpl, form, noticed), title, parts: [partOf(settings, noticed)], more: 0 })
}

/** Returns the mail about several submissions, oldest first. `count` is the total number. */
export function digestMail(facts: NoticeFacts, all: readonly Noticed[], count: number): NoticeMail {
  const title = texts().digest({ count, form: facts.form.name })
  let room = maxAnswers
  const parts = all
    .slice(0, maxShown)
    .map((noticed) => shortened(partOf(facts.settings, noticed)))
    .filter(({ answers }, at) => {
      room -= answers.reduce((sum, { label, answer }) => sum + label.length + answer.length, 0)
      return room >= 0 || at === 0
    })
  return written(facts, { subject: title, title, parts, more: count - parts.length })
}

const shortened = (part: Part): Part => ({
  ...part,
  answers: part.answers.map(({ label, answer }) => ({
    label,
    answer: answer.length > maxAnswer ? `${answer.slice(0, maxAnswer).toWellFormed()}…` : answer,
  })),
})

/** Returns the subject. Uses the default subject if the template fails with these answers. */
function subjectOf(template: string, { name }: Form, { submission, definition }: Noticed): string {
  const answers = shownAnswers({ submission, definition })
  const fields = Object.fromEntries(answers.map(({ key, answer }) => [key, answer]))
  const variables = { form: { name }, fields, submission: { id: submission.id, reference: referenceOf(submission) } }
  try {
    const subject = renderLine(template === '' ? defaultSubject : template, variables).trim()
    if (subject !== '') return subject
  } catch (error) {
    if (!(error instanceof TemplateFault)) throw error
  }
  return renderLine(defaultSubject, variables)
}

interface Part {
  readonly answers: readonly ShownAnswer[]
  /** Time and reference of the submission. */
  readonly facts: string
}

function partOf({ includeAnswers }: NoticeFacts['settings'], noticed: Noticed): Part {
  const { id, createdAt } = noticed.submission
  const at = new Date(createdAt).toISOString().slice(0, 16).replace('T', ' ')
  return { answers: includeAnswers ? shownAnswers(noticed) : [], facts: texts().facts({ at, reference: referenceOf({ id }), id }) }
}

/** Returns the answers with labels, in reading order. Invisible fields have no answer. */
function shownAnswers({ submission, definition }: Noticed): readonly (ShownAnswer & { readonly key: string })[] {
  const answers = namedAnswers(submission)
  return inReadingOrder(definition.schema).flatMap((field) => {
    const { key, label = field.key, email_mask: isMasked = false } = field
    const answer = Object.hasOwn(answers, key) ? answers[key] : undefined
    if (answer === undefined || valueKinds[field.type] === 'none') return []
    return [{ key, label, answer: isMasked ? mask : inWords(field, answer) }]
  })
}

function inWords({ options = [] }: Field, answer: Answer): string {
  const labelOf = (value: string): string => options.find((option) => option.value === value)?.label ?? value
  if (typeof answer === 'boolean') return answer ? texts().yes : texts().no
  if (typeof answer === 'object') return answer.map(labelOf).join(', ')
  return typeof answer === 'string' ? labelOf(answer) : String(answer)
}

interface Texts {
  readonly subject: string
  readonly title: string
  readonly parts: readonly Part[]
  /** Number of submissions that are not shown. */
  readonly more: number
}

function written({ form, endUrl }: NoticeFacts, { subject, title, parts, more }: Texts): NoticeMail {
  const rest = more === 0 ? [] : [texts().more({ count: more })]
  const why = texts().why({ form: form.name })
  const blocks = parts.map(({ answers, facts }) => [...answers.map(lineOf), facts].join('\n'))
  const text = [title, ...blocks, ...rest, `-- \n${why}\n${endUrl}`].join('\n\n')
  return { subject, text: `${text}\n`, html: htmlOf(title, [...parts.map(htmlPart), ...rest.map(paragraph)].join(''), why, endUrl) }
}

const lineOf = ({ label, answer }: ShownAnswer): string => (answer.includes('\n') ? `${label}:\n${answer}\n` : `${label}: ${answer}`)

const paragraph = (text: string): string => `<p style="margin:0 0 16px">${escapeHtml(text)}</p>`

function htmlPart({ answers, facts }: Part): string {
  const rows = answers.map(
    ({ label, answer }) =>
      `<p style="margin:0 0 2px;font-size:13px;color:#51606b">${escapeHtml(label)}</p>` +
      `<p style="margin:0 0 14px;white-space:pre-wrap;overflow-wrap:anywhere">${escapeHtml(answer)}</p>`,
  )
  const note = `<p style="margin:0 0 20px;padding:0 0 16px;border-bottom:1px solid #d8dfe3;font-size:13px;color:#51606b">${escapeHtml(facts)}</p>`
  return `${rows.join('')}${note}`
}

const htmlOf = (title: string, body: string, why: string, endUrl: string): string =>
  '<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><meta name="color-scheme" content="light">' +
  `<title>${escapeHtml(title)}</title></head><body style="margin:0;padding:24px;background:#f3f5f6">` +
  '<div style="max-width:560px;margin:0 auto;padding:32px;background:#ffffff;border-radius:12px;font:16px/1.5 system-ui,-apple-system,Segoe UI,Roboto,Arial,sans-serif;color:#14212b">' +
  `<h1 style="margin:0 0 20px;font-size:20px;line-height:1.3">${escapeHtml(title)}</h1>${body}` +
  `<p style="margin:0;font-size:13px;color:#51606b">${escapeHtml(why)} <a href="${escapeHtml(endUrl)}" style="color:#0f5f5c">${escapeHtml(endUrl)}</a></p></div></body></html>`
