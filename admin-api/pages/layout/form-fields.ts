/** Parts of forms: labelled fields, and problems at the top and at the field. */
import { html, type Html } from './html.ts'

/** A problem of a field, with a text that says the next step. */
export interface FieldFault {
  /** Name of the field in the form. */
  readonly field: string
  readonly message: string
}

export interface TextField {
  readonly name: string
  readonly label: string
  readonly type?: 'text' | 'email'
  readonly value?: string | undefined
  readonly hint?: string
  readonly autocomplete: string
  readonly maxLength: number
  readonly fault?: FieldFault | undefined
  readonly isOptional?: boolean
}

/** Returns a labelled text field. Screen readers read its hint and its problem with it. */
export function textField({ name, label, type = 'text', value = '', hint, autocomplete, maxLength, fault, isOptional }: TextField): Html {
  const mine = fault?.field === name ? fault : undefined
  const described = [...(hint === undefined ? [] : [`${name}-hint`]), ...(mine ? [`${name}-fault`] : [])].join(' ')
  return html`<div class="field">
    <label for="${name}">${label}</label>
    ${hint !== undefined && html`<p class="hint" id="${name}-hint">${hint}</p>`}
    ${mine && html`<p class="fault" id="${name}-fault">${mine.message}</p>`}
    <input
      id="${name}"
      name="${name}"
      type="${type}"
      value="${value}"
      maxlength="${maxLength}"
      autocomplete="${autocomplete}"
      ${!isOptional && html`required`}
      ${described !== '' && html`aria-describedby="${described}"`}
      ${mine && html`aria-invalid="true"`}
      ${type === 'email' && html`inputmode="email" autocapitalize="none" spellcheck="false"`}
    />
  </div>`
}

/** Returns the problem above the form, with a link to the field. */
export const faultSummary = (fault: FieldFault | undefined): Html | undefined =>
  fault && html`<div class="summary" role="alert"><a href="#${fault.field}">${fault.message}</a></div>`

/** Returns the notice of a completed action. Screen readers announce it without a change of focus. */
export const doneNotice = (message: string | undefined): Html | undefined =>
  message === undefined ? undefined : html`<p class="done" role="status">${message}</p>`

export interface Choice {
  readonly value: string
  readonly label: string
}

/** Returns a labelled selection; `id` distinguishes fields with the same name. */
export const selectField = (id: string, name: string, label: string, choices: readonly Choice[], chosen: string): Html =>
  html`<div class="field">
    <label for="${id}">${label}</label>
    <select id="${id}" name="${name}">
      ${choices.map((choice) => html`<option value="${choice.value}" ${choice.value === chosen && html`selected`}>${choice.label}</option>`)}
    </select>
  </div>`
