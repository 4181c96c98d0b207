/** Properties of each field type, and the check of each property. */
import {
  boolean,
  integer,
  listOf,
  matching,
  number,
  object,
  oneOf,
  text,
  webAddress,
  type Check,
  type Findings,
  type JsonObject,
} from './checks.ts'
import { isDateBound, isDateType, type DateType } from './dates.ts'
import { definitionLimits, maxText, type FieldType } from './definition.ts'
import { matcherOf, maxPattern, PatternFault, presets } from './pattern.ts'

export { maxText, valueKinds, type ValueKind } from './definition.ts'

/** Autocomplete names of the HTML standard for personal data. */
const autocomplete = oneOf(
  ...['on', 'off', 'name', 'honorific-prefix', 'given-name', 'additional-name', 'family-name', 'honorific-suffix', 'nickname', 'username'],
  ...['organization-title', 'organization', 'street-address', 'address-line1', 'address-line2', 'address-line3', 'address-level1'],
  ...['address-level2', 'address-level3', 'address-level4', 'country', 'country-name', 'postal-code', 'language', 'bday', 'bday-day'],
  ...['bday-month', 'bday-year', 'sex', 'url', 'photo', 'tel', 'tel-national', 'email', 'impp'],
)

const pattern: Check = (value, path, found) => {
  if (typeof value !== 'string') return found.report(path, 'invalid_type', 'must be text')
  if (value === '' || value.length > maxPattern)
    return found.report(path, 'pattern_invalid', `must have from 1 to ${maxPattern} characters`)
  try {
    matcherOf(value)
  } catch (error) {
    if (!(error instanceof PatternFault)) throw error
    found.report(path, 'pattern_invalid', error.message)
  }
}

const domain = matching(/^(?=.{1,253}$)[a-z0-9_-]{1,63}(?:\.[a-z0-9_-]{1,63})+$/, 'a domain in small letters, such as example.ch')
const label = text(200, { min: 1 })
const option = object({ value: text(200, { min: 1 }), label: text(200, { min: 1, lines: true }), disabled: boolean }, ['value', 'label'])
const options = (max: number): Check => listOf(option, max, 1)
const dateBound =
  (type: DateType): Check =>
  (value, path, found) => {
    if (typeof value === 'string' && isDateBound(type, value)) return
    const example = { date: '2026-12-24 or today+14d', time: '17:30', datetime: '2026-12-24T17:30 or today' }[type]
    found.report(path, 'invalid_date', `must be such as ${example}`)
  }

/** Properties of every field with an answer. */
const answered: Readonly<Record<string, Check>> = {
  ...{ label, label_hidden: boolean, help: text(500, { lines: true }), required: boolean, required_message: text(200) },
  ...{ width: oneOf('full', 'half', 'third', 'two_thirds'), prefill: boolean, email_mask: boolean },
}
const typed = { ...answered, placeholder: text(200), autocomplete }
const lengths = (max: number) => ({ min_length: integer(0, max), max_length: integer(1, max) })
const dates = (type: DateType) => ({ ...answered, autocomplete, default: dateBound(type), min: dateBound(type), max: dateBound(type) })
const choice = (max: number) => ({ ...answered, options: options(max), allow_other: boolean, default: text(1000) })
const shown = { width: oneOf('full', 'half', 'third', 'two_thirds') }
const prose = text(4000, { min: 1, lines: true })

const properties: Readonly<Record<FieldType, Readonly<Record<string, Check>>>> = {
  text: { ...typed, ...lengths(maxText.text), pattern, preset: oneOf(...Object.keys(presets)), default: text(maxText.text) },
  textarea: { ...typed, ...lengths(maxText.textarea), rows: integer(2, 40), default: text(maxText.textarea, { lines: true }) },
  email: { ...typed, allow_domains: listOf(domain, 100, 1), deny_domains: listOf(domain, 100, 1), default: text(254) },
  phone: { ...typed, default_country: matching(/^[A-Z]{2}$/, 'a country of two letters, such as CH'), default: text(32) },
  url: { ...typed, https_only: boolean, default: text(2048) },
  number: { ...typed, min: number, max: number, step: number, integer: boolean, unit: text(20), default: number },
  date: dates('date'),
  time: dates('time'),
  datetime: dates('datetime'),
  select: { ...choice(definitionLimits.selectOptions), placeholder: text(200), autocomplete },
  radio: choice(definitionLimits.options),
  checkbox: { ...answered, must_be_true: boolean, default: boolean },
  checkboxes: {
    ...{ ...answered, options: options(definitionLimits.options), default: listOf(text(200), definitionLimits.options) },
    ...{ min_selected: integer(0, definitionLimits.options), max_selected: integer(1, definitionLimits.options) },
  },
  rating: {
    ...{ ...answered, max: integer(3, 10), style: oneOf('star', 'number', 'smiley'), labels: listOf(text(60), 10) },
    default: integer(1, 10),
  },
  scale: { ...answered, min: integer(0, 1), max: integer(2, 10), low_label: text(60), high_label: text(60), default: integer(0, 10) },
  consent: { ...answered, text: text(2000, { min: 1, lines: true }), version_label: text(60) },
  hidden: {
    ...{ label, source: oneOf('url_param', 'static'), signed: boolean, default: text(1000), email_mask: boolean },
    param: matching(/^[\w.-]{1,64}$/, 'the name of a parameter: letters, digits, ., _ and -'),
  },
  file_upload: {
    ...{ label, label_hidden: boolean, help: text(500, { lines: true }), required: boolean, required_message: text(200) },
    ...{ width: shown.width, accept: listOf(oneOf('png', 'jpeg', 'gif', 'webp', 'pdf'), 5, 1) },
    max_bytes: integer(1, definitionLimits.fileBytes),
  },
  image: { ...shown, src: webAddress(['https:']), alt: text(300), caption: text(300) },
  heading: { ...shown, text: text(200, { min: 1 }), level: oneOf(2, 3) },
  paragraph: { ...shown, text: prose },
  divider: shown,
  page_break: { title: text(120), next_label: text(60), back_label: text(60) },
}

const required: Readonly<Partial<Record<FieldType, readonly string[]>>> = {
  ...{ select: ['label', 'options'], radio: ['label', 'options'], checkboxes: ['label', 'options'], rating: ['label', 'max'] },
  ...{ scale: ['label', 'max'], consent: ['label', 'text'], hidden: [], image: ['src', 'alt'], heading: ['text'] },
  ...{ paragraph: ['text'], divider: [], page_break: [] },
}

export const isFieldType = (type: unknown): type is FieldType => typeof type === 'string' && Object.hasOwn(properties, type)

/** Returns the allowed and the required properties of a type, in addition to `key` and `type`. */
export const propertiesOf = (
  type: FieldType,
): { readonly properties: Readonly<Record<string, Check>>; readonly required: readonly string[] } => ({
  properties: { key: () => {}, type: () => {}, ...properties[type] },
  required: required[type] ?? ['label'],
})

/** Checks properties of a field that depend on each other. */
export function checkTogether(field: JsonObject, path: string, found: Findings): void {
  for (const [low, high] of [
    ['min', 'max'],
    ['min_length', 'max_length'],
    ['min_selected', 'max_selected'],
  ] as const) {
    const [from, to] = [field[low], field[high]]
    if (typeof from === 'number' && typeof to === 'number' && from > to)
      found.report(`${path}.${low}`, 'out_of_range', `must be at most ${high}`)
  }
  if (field['type'] === 'number' && typeof field['step'] === 'number' && field['step'] <= 0)
    found.report(`${path}.step`, 'out_of_range', 'must be greater than 0')
  if (field['pattern'] !== undefined && field['preset'] !== undefined)
    found.report(`${path}.preset`, 'not_allowed', 'cannot be combined with pattern; remove preset or pattern')
  if (field['type'] === 'hidden' && field['source'] === 'url_param' && field['param'] === undefined)
    found.report(`${path}.param`, 'required', 'is required for the source url_param')
  checkOptions(field, path, found)
  const { type } = field
  if (typeof type === 'string' && isDateType(type)) {
    const [from, to] = [field['min'], field['max']]
    const isWrong = typeof from === 'string' && typeof to === 'string' && !from.startsWith('today') && !to.startsWith('today') && from > to
    if (isWrong) found.report(`${path}.min`, 'out_of_range', 'must be at most max')
  }
}

function checkOptions({ options: given }: JsonObject, path: string, found: Findings): void {
  if (!Array.isArray(given)) return
  const seen = new Set<unknown>()
  for (const [at, entry] of (given as readonly { readonly value?: unknown }[]).entries()) {
    if (entry === null || typeof entry !== 'object') continue
    if (seen.has(entry.value)) found.report(`${path}.options[${at}].value`, 'duplicate_option', 'is the value of another option')
    seen.add(entry.value)
  }
}
