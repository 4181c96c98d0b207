/** Fields whose answer is selected from several controls: options, points of a scale, stars. */
import type { Field } from '#core/forms/definition/definition.ts'
import { html, type Html, type HtmlValue } from '../layout/html.ts'
import { idOf, isOtherValue, otherInput } from './controls.ts'
import { isAlwaysAsked, isNeeded, valueOf, type FormView } from './form-view.ts'
import { otherValue } from './scripts/other-answers.ts'
import type { FormTexts } from './texts/texts-for.ts'

interface Mark {
  readonly type: 'radio' | 'checkbox'
  readonly value: string
  readonly isChosen: boolean
  readonly isDisabled?: boolean
}

/** The first control has the id of the field, which links to the field use. */
function mark(view: FormView, field: Field, at: number, { type, value, isChosen, isDisabled }: Mark): Html {
  const id = at === 0 ? idOf(field.key) : `${idOf(field.key)}-${at}`
  const isRequired = type === 'radio' && isNeeded(field) && isAlwaysAsked(view, field)
  return html`<input
    type="${type}"
    id="${id}"
    name="${field.key}"
    value="${value}"
    ${isChosen && html`checked`}
    ${isDisabled && html`disabled`}
    ${isRequired && html`required`}
  />`
}

/** Returns all options as rows that can be clicked anywhere. */
export function optionRows(view: FormView, field: Field): Html {
  const { options = [], key } = field
  const type = field.type === 'checkboxes' ? 'checkbox' : 'radio'
  const chosen = new Set(Object.hasOwn(view.values, key) ? view.values[key] : [])
  const [first = ''] = chosen
  const isOther = type === 'radio' && isOtherValue(field, first)
  const rows = options.map(({ value, label, disabled }, at) => {
    const [title, ...more] = label.split('\n')
    const isChosen = chosen.has(value)
    return html`<label class="option"
      >${mark(view, field, at, { type, value, isChosen, isDisabled: disabled === true })}<span
        >${title}${more.length > 0 && html`<small>${more.join(' ')}</small>`}</span
      ></label
    >`
  })
  const hint = choiceHint(view.texts, field.min_selected, field.max_selected)
  const other = html`<label class="option"
      >${mark(view, field, options.length, { type, value: otherValue, isChosen: isOther })}<span>${view.texts.other}</span></label
    >
    ${otherInput(view, field, isOther ? first : '')}`
  return html`${type === 'checkbox' && hint !== undefined && html`<p class="help">${hint}</p>`}
    <div class="options ${columnsOf(field)}">${rows}${field.allow_other && type === 'radio' && other}</div>`
}

/** Returns the hint on the number of options to choose. */
function choiceHint({ choices }: FormTexts, min: number | undefined, max: number | undefined): string | undefined {
  if (min !== undefined && max !== undefined) return choices.between({ min, max })
  if (min !== undefined) return choices.atLeast({ min })
  return max === undefined ? undefined : choices.upTo({ max })
}

const shortLabel = 22

/** Two or three columns if all labels are short. */
function columnsOf({ options = [], allow_other: hasOther }: Field): string {
  if (hasOther || options.length < 2 || options.some(({ label }) => label.length > shortLabel)) return ''
  return options.length === 3 && options.every(({ label }) => label.length <= shortLabel / 2)
    ? 'three'
    : options.length % 2 === 0
      ? 'two'
      : ''
}

/** A face whose mouth changes from sad to happy with `share`. */
const face = (share: number): Html =>
  html`<svg class="face" viewBox="0 0 32 32" aria-hidden="true" focusable="false" fill="none" stroke="currentColor" stroke-width="2">
    <circle cx="16" cy="16" r="13" />
    <path d="M11.5 11v3m9-3v3M10 ${23 - share * 3} Q 16 ${17 + share * 10} 22 ${23 - share * 3}" stroke-linecap="round" />
  </svg>`

/** Returns the points as cells of equal width, with the labels of both ends below. */
export function cells(view: FormView, field: Field): Html {
  const { max, labels, low_label: low, high_label: high, style, type } = field
  const [from, to] = [type === 'rating' ? 1 : Number(field.min ?? 0), Number(max)]
  const chosen = valueOf(view, field.key)
  const points = Array.from({ length: to - from + 1 }, (_, at) => from + at)
  const nameOf = (value: number): string | undefined => labels?.[value - from] ?? (value === from ? low : value === to ? high : undefined)
  return html`<div class="points of-${points.length}">
    <div class="cells">
      ${points.map((value, at) => {
        const name = nameOf(value)
        const shown = style === 'smiley' ? html`${face(at / Math.max(1, points.length - 1))}<b class="unseen">${value}</b>` : value
        return html`<label class="cell-option"
          >${mark(view, field, at, { type: 'radio', value: String(value), isChosen: chosen === String(value) })}<span
            >${shown}${name !== undefined && html`<b class="unseen">: ${name}</b>`}</span
          ></label
        >`
      })}
    </div>
    ${endsOf([from, nameOf(from)], [to, nameOf(to)], style !== 'smiley')}
  </div>`
}

type End = readonly [number, string | undefined]

/** Each label shows its number, since its position means nothing if the cells wrap. */
const endsOf = (low: End, high: End, hasNumbers: boolean): HtmlValue =>
  (low[1] !== undefined || high[1] !== undefined) &&
  html`<p class="ends" aria-hidden="true">
    ${[low, high].map(([value, label]) => html`<span>${label !== undefined && (hasNumbers ? `${value}: ${label}` : label)}</span>`)}
  </p>`

/** Returns a star for each point; all stars up to the selected one are filled. */
export function stars(view: FormView, field: Field): Html {
  const max = Number(field.max)
  const chosen = valueOf(view, field.key)
  return html`<div class="stars">
    ${Array.from({ length: max }, (_, at) => {
      const value = String(at + 1)
      const label = field.labels?.[at]
      return html`<label class="star"
        >${mark(view, field, at, { type: 'radio', value, isChosen: chosen === value })}<span
          ><b class="unseen">${view.texts.points({ value: at + 1, max })}${label !== undefined && `: ${label}`}</b></span
        ></label
      >`
    })}
  </div>`
}
