/** Questions of a form in rows of 12 columns, and steps as numbered sections. */
import type { Field } from '#core/forms/definition/definition.ts'
import type { FormPage, PlacedRow } from '#core/forms/definition/layout.ts'
import { html, type Html, type HtmlValue } from '../layout/html.ts'
import { cells, optionRows, stars } from './choices.ts'
import { controlOf, describedBy, idOf, tick } from './controls.ts'
import { isNeeded, isQuestion, usualValues, valueOf, type FormView } from './form-view.ts'
import { richText } from './rich-text.ts'

/** A visible step. Its number counts only steps with content. */
export interface Step {
  readonly number: number
  readonly page: FormPage
  readonly rows: readonly PlacedRow[]
  readonly title: string
}

export function steps(view: FormView, shown: readonly Step[]): Html {
  if (shown.length === 1) return html`${shown.map(({ rows }) => rows.map((row) => rowOf(view, row)))}`
  return html`${shown.map(({ number, page, rows, title }) => {
    const notes = view.conditions.of(`page:${page.number}`)
    return html`<section class="step" data-page="${page.number}" data-key="${page.start?.key}" aria-labelledby="step-${page.number}">
      <h2 id="step-${page.number}"><span class="disc" aria-hidden="true">${number}</span>${title}</h2>
      ${notes.said.map((text) => html`<p class="only">${text}</p>`)}${rows.map((row) => rowOf(view, row))}
      ${view.conditions.jumpsFrom(page.number).map((text) => html`<p class="skip-to">${text}</p>`)}
    </section>`
  })}`
}

/** Rows without an answer are rendered once and shared by all visitors. */
function rowOf(view: FormView, row: PlacedRow): Html {
  const isShared = row.every(({ field }) => isUnanswered(view, field))
  const make = (): Html => renderedRow(view, row)
  return isShared && view.pieces ? view.pieces.get(JSON.stringify(row.map(({ field: { key } }) => [key, view.values[key]])), make) : make()
}

function isUnanswered({ values, problems, filesSent }: FormView, field: Field): boolean {
  const { key } = field
  if (Object.hasOwn(problems, key) || filesSent.has(key)) return false
  const given = Object.hasOwn(values, key) ? (values[key] ?? []).join('\n') : ''
  return given === '' || given === usualValues(field)?.join('\n')
}

function renderedRow(view: FormView, row: PlacedRow): Html {
  const seen = row.filter(({ field }) => field.type !== 'hidden')
  const hidden = row.flatMap(({ field }) => (field.type === 'hidden' && field.source !== 'static' ? [field] : []))
  return html`${hidden.map(({ key }) => html`<input type="hidden" name="${key}" value="${valueOf(view, key)}" />`)}
  ${
    seen.length > 0 &&
    html`<div class="row">
      ${seen.map(({ field, span }) => html`<div class="cell s${span}" data-key="${field.key}">${fieldOf(view, field)}</div>`)}
    </div>`
  }`
}

function fieldOf(view: FormView, field: Field): Html {
  const { shown, needed, said } = view.conditions.of(field.key)
  const id = idOf(field.key)
  const isWrong = Object.hasOwn(view.problems, field.key)
  const only = said.length > 0 && html`<p class="only" id="${id}-if">${said.map((text, at) => html`${at > 0 && html`<br />`}${text}`)}</p>`
  const facts = html`data-field="${field.key}" ${needed.length > 0 && html`data-necessity`}`
  const classes = `field ${shown.length > 0 ? 'conditional' : ''} ${isWrong ? 'wrong' : ''}`
  if (!isQuestion(field)) return html`<div class="${classes}" ${facts}>${only}${still(field)}</div>`
  return html`<div class="${classes}" ${facts}>${only}${question(view, field)}</div>`
}

function question(view: FormView, field: Field): Html {
  const { type, key, label = '', label_hidden: isHidden, help } = field
  const id = idOf(key)
  const problem = Object.hasOwn(view.problems, key) ? view.problems[key] : undefined
  const around: HtmlValue = [
    help !== undefined && html`<p class="help" id="${id}-help">${lines(help)}</p>`,
    problem !== undefined && html`<p class="error" id="${id}-error"><i aria-hidden="true"></i>${problem}</p>`,
  ]
  const name = html`<span ${isHidden && html`class="unseen"`}>${label}</span>${necessity(view, field)}`
  if (type === 'checkbox') return html`${around}${tick(view, field)}`
  if (type === 'consent')
    return html`<p class="label">${name}</p>
      ${around}${tick(view, field)}`
  const single = controlOf(view, field)
  if (single && type === 'file_upload' && !view.form.uploads.enabled)
    return html`<p class="label">${name}</p>
      ${around}${single.control}`
  if (single) return html`<label class="label" for="${id}">${name}</label>${around}${single.control}${single.below}`
  const described = describedBy(view, field)
  const group = type === 'rating' && (field.style ?? 'star') === 'star' ? stars : type === 'rating' || type === 'scale' ? cells : optionRows
  return html`<fieldset ${described !== '' && html`aria-describedby="${described}"`}>
    <legend class="label">${name}</legend>
    ${around}${group(view, field)}
  </fieldset>`
}

/** Marks a field as required or optional, if it differs from most fields. */
function necessity({ texts, isMostlyNeeded, conditions }: FormView, field: Field): HtmlValue {
  if (isNeeded(field)) return !isMostlyNeeded && html` <span class="needed">${texts.needed}</span>`
  return isMostlyNeeded && conditions.of(field.key).needed.length === 0 && html` <span class="optional">${texts.optional}</span>`
}

const lines = (text: string): Html => html`${text.split('\n').map((line, at) => html`${at > 0 && html`<br />`}${line}`)}`

/** Returns a field without an answer: heading, text, divider or image. */
export function still({ type, text = '', level, src, alt = '', caption }: Field): Html {
  if (type === 'heading') return level === 3 ? html`<h3>${text}</h3>` : html`<h2>${text}</h2>`
  if (type === 'paragraph') return html`<div class="prose">${richText(text)}</div>`
  if (type === 'divider') return html`<hr />`
  if (type !== 'image') return html``
  return html`<figure>
    <img
      src="${src}"
      alt="${alt}"
      loading="lazy"
      referrerpolicy="no-referrer"
    />${caption !== undefined && html`<figcaption>${caption}</figcaption>`}
  </figure>`
}
