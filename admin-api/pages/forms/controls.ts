/** A native control for each type of field with a single answer. */
import { boundOf, isDateType } from '#core/forms/definition/dates.ts'
import type { Field, FieldType } from '#core/forms/definition/definition.ts'
import { maxText } from '#core/forms/definition/field-properties.ts'
import { html, type Html, type HtmlValue } from '../layout/html.ts'
import { isAlwaysAsked, isNeeded, valueOf, type FormView } from './form-view.ts'
import { richLine } from './rich-text.ts'
import { otherOf, otherValue } from './scripts/other-answers.ts'
import { sizeIn } from './scripts/sizes.ts'

export const idOf = (key: string): string => `f-${key}`

/** A control with the content below it. */
export interface Control {
  readonly control: Html
  readonly below?: HtmlValue
}

type Render = (view: FormView, field: Field, facts: Html) => Control

/** Returns the common attributes of controls: name, whether an answer is required, and descriptions. */
function factsOf(view: FormView, field: Field, id = idOf(field.key)): Html {
  const { key, autocomplete } = field
  const described = describedBy(view, field)
  return html`id="${id}" name="${key}" ${isNeeded(field) && isAlwaysAsked(view, field) && html`required`}
  ${autocomplete !== undefined && html`autocomplete="${autocomplete}"`} ${described !== '' && html`aria-describedby="${described}"`}
  ${Object.hasOwn(view.problems, key) && html`aria-invalid="true"`}`
}

export function describedBy(view: FormView, { key, type, help, unit, max_length: maxLength }: Field): string {
  const id = idOf(key)
  const hasNote = type === 'file_upload' ? view.form.uploads.enabled : type === 'textarea' && maxLength !== undefined
  const { said } = view.conditions.of(key)
  return [
    ...(said.length > 0 ? [`${id}-if`] : []),
    ...(help === undefined ? [] : [`${id}-help`]),
    ...(Object.hasOwn(view.problems, key) ? [`${id}-error`] : []),
    ...(unit === undefined ? [] : [`${id}-unit`]),
    ...(view.filesSent.has(key) ? [`${id}-again`] : []),
    ...(hasNote ? [noteOf(key)] : []),
  ].join(' ')
}

/** Returns the id of the note below a control. */
const noteOf = (key: string): string => `${idOf(key)}-note`

const placeholderOf = ({ placeholder }: Field): HtmlValue => placeholder !== undefined && html`placeholder="${placeholder}"`

const input =
  (type: string, more: Html = html``): Render =>
  (view, field, facts) => ({
    control: html`<input ${facts} type="${type}" value="${valueOf(view, field.key)}" ${more} ${placeholderOf(field)} />`,
  })

const text: Render = (view, field, facts) => input('text', html`maxlength="${field.max_length ?? maxText.text}"`)(view, field, facts)

const number: Render = (view, field, facts) => {
  const control = html`<input
    ${facts}
    type="text"
    inputmode="${field.integer && Number(field.min ?? -1) >= 0 ? 'numeric' : 'decimal'}"
    maxlength="30"
    value="${valueOf(view, field.key)}"
    ${placeholderOf(field)}
  />`
  if (field.unit === undefined) return { control }
  return { control: html`<span class="framed">${control}<span class="unit" id="${idOf(field.key)}-unit">${field.unit}</span></span>` }
}

const textarea: Render = (view, field, facts) => ({
  // browsers ignore the first line end in a textarea
  control: html`<textarea ${facts} rows="${field.rows ?? 5}" maxlength="${field.max_length ?? maxText.textarea}" ${placeholderOf(field)}>
${valueOf(view, field.key)}</textarea>`,
  below:
    field.max_length !== undefined && html`<p class="note" id="${noteOf(field.key)}">${view.texts.upTo({ count: field.max_length })}</p>`,
})

const dateInputs = { date: 'date', time: 'time', datetime: 'datetime-local' } as const

const date: Render = (view, field, facts) => {
  const { type, min, max } = field
  if (!isDateType(type)) return input('text')(view, field, facts)
  const bound = (value: Field['min'], slack: number): string | undefined =>
    typeof value === 'string' ? boundOf(type, value, view.today, value.startsWith('today') ? slack : 0) : undefined
  const [from, to] = [bound(min, -1), bound(max, 1)]
  return input(dateInputs[type], html`${from !== undefined && html`min="${from}"`} ${to !== undefined && html`max="${to}"`}`)(
    view,
    field,
    facts,
  )
}

const select: Render = (view, field, facts) => {
  const { key, options = [], allow_other: hasOther, placeholder } = field
  const value = valueOf(view, key)
  const isOther = isOtherValue(field, value)
  const chosen = isOther ? otherValue : value
  return {
    control: html`<span class="select"
      ><select ${facts}>
        <option value="">${placeholder ?? view.texts.choose}</option>
        ${options.map(
          (option) =>
            html`<option value="${option.value}" ${option.value === chosen && html`selected`} ${option.disabled && html`disabled`}>
              ${option.label}
            </option>`,
        )}
        ${hasOther && html`<option value="${otherValue}" ${isOther && html`selected`}>${view.texts.other}</option>`}
      </select></span
    >`,
    below: hasOther && otherInput(view, field, isOther ? value : ''),
  }
}

/** Returns the text field for an answer outside the options. */
export const otherInput = (view: FormView, { key, label = '' }: Field, value: string): Html =>
  html`<input
    class="other"
    type="text"
    name="${otherOf(key)}"
    value="${value}"
    maxlength="${maxText.text}"
    aria-label="${view.texts.otherText({ label })}"
    placeholder="${view.texts.other}"
  />`

export const isOtherValue = ({ allow_other: hasOther, options = [] }: Field, value: string): boolean =>
  hasOther === true && value !== '' && !options.some((option) => option.value === value)

const acceptOf = { png: 'image/png', jpeg: 'image/jpeg', gif: 'image/gif', webp: 'image/webp', pdf: 'application/pdf' } as const
type FileType = keyof typeof acceptOf
const typeNames: Readonly<Record<FileType, string>> = { png: 'PNG', jpeg: 'JPEG', gif: 'GIF', webp: 'WebP', pdf: 'PDF' }

const file: Render = (view, field, facts) => {
  const { enabled, maxBytes } = view.form.uploads
  if (!enabled) return { control: html`<p class="upload off">${view.texts.noFiles}</p>` }
  const types = (field.accept ?? Object.keys(acceptOf)) as readonly FileType[]
  const size = sizeIn(view.texts.lang, Math.min(field.max_bytes ?? maxBytes, maxBytes))
  return {
    control: html`<span class="upload"><input ${facts} type="file" accept="${types.map((type) => acceptOf[type]).join(',')}" /></span>`,
    below: html`${view.filesSent.has(field.key) && html`<p class="note" id="${idOf(field.key)}-again">${view.texts.fileAgain}</p>`}
      <p class="note" id="${noteOf(field.key)}">${view.texts.files({ types: types.map((type) => typeNames[type]).join(', '), size })}</p>`,
  }
}

const controls: Readonly<Partial<Record<FieldType, Render>>> = {
  ...{ text, textarea, number, date, time: date, datetime: date, select, file_upload: file },
  email: input('email', html`maxlength="254" dir="ltr" autocapitalize="none" spellcheck="false"`),
  phone: input('tel', html`maxlength="48" dir="ltr"`),
  url: input('url', html`maxlength="2048" dir="ltr" autocapitalize="none" spellcheck="false"`),
}

/** Returns undefined for types with several controls, and for types without an answer. */
export const controlOf = (view: FormView, field: Field): Control | undefined => controls[field.type]?.(view, field, factsOf(view, field))

/** Returns a single checkbox: a yes/no field, or consent to a text. */
export const tick = (view: FormView, field: Field): Html =>
  html`<label class="bare"
    ><input
      type="checkbox"
      value="true"
      ${factsOf(view, field)}
      ${['true', 'on'].includes(valueOf(view, field.key)) && html`checked`}
    /><span
      >${field.type === 'consent' ? richLine(field.text ?? '') : field.label}${field.version_label !== undefined && html` <small>${field.version_label}</small>`}</span
    ></label
  >`
