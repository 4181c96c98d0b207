/** Reads and normalizes one answer, or returns its problem. Without scripts, a browser sends every field as text. */
import { asSeen } from '#config/mail/invisible.ts'
import { parseAddress } from '../../addresses.ts'
import { parseUrl } from './checks.ts'
import { boundOf, dateOf, isDateType } from './dates.ts'
import { maxText, type Answer, type Field } from './definition.ts'
import { matcherOf, presets } from './pattern.ts'

export const answerCodes = [
  'required',
  'invalid_type',
  'too_short',
  'too_long',
  'pattern_mismatch',
  'invalid_email',
  'invalid_url',
  'invalid_phone',
  'invalid_date',
  'out_of_range',
  'step_mismatch',
  'not_an_option',
  'too_few',
  'too_many',
  'must_accept',
  'domain_not_allowed',
  'file_missing',
  'file_type_not_allowed',
  'file_too_large',
  'file_damaged',
  'unexpected_file',
  'too_many_files',
  'token_expired',
  'invalid_token',
] as const

export interface AnswerProblem {
  readonly code: (typeof answerCodes)[number]
  readonly message: string
}

/** Facts for reading an answer. */
export interface Reading {
  /** `YYYY-MM-DD`. */
  readonly today: string
  /** Number of days that `today` may differ in the visitor's time zone. */
  readonly slackDays: number
}

/** An answer, nothing, or the problem of the given value. */
export type ReadAnswer = { readonly answer?: Answer; readonly problem?: AnswerProblem }

type Read = (field: Field, given: unknown, reading: Reading) => ReadAnswer

const problem = (code: AnswerProblem['code'], message: string): ReadAnswer => ({ problem: { code, message } })
const wrongType = (what: string): ReadAnswer => problem('invalid_type', `Enter ${what}.`)

/** Reads an answer. Null, empty text and empty lists are no answer. */
export function readAnswer(field: Field, given: unknown, reading: Reading): ReadAnswer {
  if (given === undefined || given === null || given === '' || (Array.isArray(given) && given.length === 0)) return {}
  return (readers[field.type] ?? none)(field, given, reading)
}

const none: Read = () => ({})

/** Returns the only entry of a list, because forms send lists for single values too. */
const single = (given: unknown): unknown => (Array.isArray(given) && given.length === 1 ? given[0] : given)

function textOf(given: unknown, lines: boolean): string | undefined {
  const value = single(given)
  if (typeof value !== 'string') return undefined
  const clean = value.replaceAll(/\r\n?/g, '\n').replaceAll(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f]/g, '')
  return lines ? clean : clean.replaceAll(/[\n\u2028\u2029]+/g, ' ').trim()
}

/** Returns the visible text. Pasted values can contain characters that are invisible in the field. */
const seenTextOf = (given: unknown): string | undefined => {
  const value = textOf(given, false)
  return value === undefined ? undefined : asSeen(value).trim()
}

/**
 * Returns a free text and its visible form, which the rules check. Emoji and some scripts need invisible characters, so the answer keeps
 * them unless they make it too long.
 */
function freeText(given: unknown, max: number, lines = false): { readonly answer: string; readonly seen: string } | undefined {
  const value = textOf(given, lines)
  if (value === undefined) return undefined
  const seen = lines ? asSeen(value) : asSeen(value).trim()
  return { answer: value.length > max ? seen : value, seen }
}

const text =
  (lines: boolean): Read =>
  (field, given) => {
    const { min_length: min = 0, max_length: max = lines ? maxText.textarea : maxText.text, pattern, preset } = field
    const value = freeText(given, max, lines)
    if (value === undefined) return wrongType('text')
    const { answer, seen } = value
    if (seen.trim() === '') return {}
    if (seen.length < min) return problem('too_short', `Enter at least ${min} characters.`)
    if (seen.length > max) return problem('too_long', `Enter at most ${max} characters.`)
    if (lines || (pattern === undefined && preset === undefined)) return { answer }
    const ready = preset === undefined ? undefined : presets[preset]
    const fits = matcherOf(ready?.pattern ?? pattern ?? '')(seen) && (ready?.isWell?.(seen) ?? true)
    return fits ? { answer: seen } : problem('pattern_mismatch', 'Enter a value in the required format.')
  }

const email: Read = (field, given) => {
  const value = seenTextOf(given)
  if (value === undefined) return wrongType('an email address')
  if (value === '') return {}
  const mailbox = parseAddress(value)
  if (!mailbox) return problem('invalid_email', 'Enter an email address such as ada@example.ch.')
  const { local, domain } = mailbox
  const { allow_domains: allowed, deny_domains: denied = [] } = field
  const isAmong = (list: readonly string[]): boolean => list.some((each) => domain === each || domain.endsWith(`.${each}`))
  if ((allowed && !isAmong(allowed)) || isAmong(denied))
    return problem('domain_not_allowed', 'Addresses of this domain are not accepted. Enter another address.')
  return { answer: `${local}@${value.slice(local.length + 1).toLowerCase()}` }
}

/** Digits with usual separators, and an extension. */
const phoneNumber = /^[\d ()+./-]{4,32}(?: ?(?:;ext=|extension|ext\.?|x|#) ?\d{1,8})?$/i

const phone: Read = (_, given) => {
  const value = seenTextOf(typeof given === 'number' ? String(given) : given)?.replaceAll(/[\p{Pd}\u2212]/gu, '-')
  if (value === undefined) return wrongType('a telephone number')
  if (value === '') return {}
  const isPhone = phoneNumber.test(value) && value.replaceAll(/\D/g, '').length >= 4
  return isPhone ? { answer: value } : problem('invalid_phone', 'Enter a telephone number such as +41 44 123 45 67.')
}

const url: Read = (field, given) => {
  const value = seenTextOf(given)
  if (value === undefined) return wrongType('a web address')
  if (value === '') return {}
  const found = value.length <= 2048 ? parseUrl(value) : undefined
  const isWeb = found?.protocol === 'https:' || (found?.protocol === 'http:' && field.https_only !== true)
  if (!isWeb || /\s/.test(value))
    return problem('invalid_url', `Enter an address that begins with https://${field.https_only ? '' : ' or http://'}.`)
  return { answer: value }
}

const numeral = /^[+-]?\d{1,15}(?:[.,]\d{1,12})?$/

/** Parses a number; accepts a decimal comma. */
function numberOf(given: unknown): number | undefined {
  const value = single(given)
  if (typeof value === 'number') return Number.isFinite(value) ? value : undefined
  const seen = seenTextOf(value) ?? ''
  return numeral.test(seen) ? Number(seen.replace(',', '.')) : undefined
}

const isBlank = (given: unknown): boolean => seenTextOf(given) === ''

const number: Read = (field, given) => {
  if (isBlank(single(given))) return {}
  const value = numberOf(given)
  if (value === undefined) return wrongType('a number')
  const [min, max] = [field.min as number | undefined, field.max as number | undefined]
  if (field.integer && !Number.isInteger(value)) return problem('step_mismatch', 'Enter a whole number.')
  if (isOutside(value, min, max)) return problem('out_of_range', rangeText(min, max))
  if (field.step !== undefined) {
    const steps = (value - (min ?? 0)) / field.step
    if (Math.abs(steps - Math.round(steps)) > 1e-9 * Math.max(1, Math.abs(steps)))
      return problem('step_mismatch', `Enter a number in steps of ${field.step}.`)
  }
  return { answer: value }
}

/** Reads a whole number between two bounds, for ratings and scales. */
const points =
  (low: (field: Field) => number): Read =>
  (field, given) => {
    if (isBlank(single(given))) return {}
    const value = numberOf(given)
    if (value === undefined || !Number.isInteger(value)) return wrongType('a whole number')
    const [min, max] = [low(field), field.max as number]
    return isOutside(value, min, max) ? problem('out_of_range', rangeText(min, max)) : { answer: value }
  }

const isOutside = (value: number | string, min: number | string | undefined, max: number | string | undefined): boolean =>
  (min !== undefined && value < min) || (max !== undefined && value > max)

const rangeText = (min: number | string | undefined, max: number | string | undefined): string =>
  min === undefined ? `Enter at most ${max}.` : max === undefined ? `Enter at least ${min}.` : `Enter a value from ${min} to ${max}.`

const date: Read = (field, given, { today, slackDays }) => {
  const value = seenTextOf(given)
  if (value === undefined || !isDateType(field.type)) return wrongType('a date')
  if (value === '') return {}
  const found = dateOf(field.type, value)
  if (found === undefined) {
    const example = { date: '2026-12-24', time: '17:30', datetime: '2026-12-24T17:30' }[field.type]
    return problem('invalid_date', `Enter it in the form ${example}.`)
  }
  const bound = (value: Field['min'], slack: number): string | undefined =>
    typeof value === 'string' && isDateType(field.type)
      ? boundOf(field.type, value, today, value.startsWith('today') ? slack : 0)
      : undefined
  const [min, max] = [bound(field.min, -slackDays), bound(field.max, slackDays)]
  return isOutside(found, min, max) ? problem('out_of_range', rangeText(bound(field.min, 0), bound(field.max, 0))) : { answer: found }
}

const isChoice = ({ options = [] }: Field, value: unknown): boolean =>
  options.some((option) => option.value === value && option.disabled !== true)
const notAnOption = problem('not_an_option', 'Choose one of the options.')

const choice: Read = (field, given) => {
  const value = single(typeof given === 'number' ? String(given) : given)
  if (typeof value !== 'string') return notAnOption
  if (isChoice(field, value)) return { answer: value }
  const other = freeText(value, maxText.text)
  if (!field.allow_other || !other) return notAnOption
  if (other.seen.length > maxText.text) return problem('too_long', `Enter at most ${maxText.text} characters.`)
  return other.seen === '' ? {} : { answer: other.answer }
}

const yes = new Set<unknown>([true, 'true', 'on', 'yes', '1', 1])
const no = new Set<unknown>([false, 'false', 'off', 'no', '0', 0])

const checkbox: Read = (field, given) => {
  const value = single(given)
  if (yes.has(value)) return { answer: true }
  if (!no.has(value)) return problem('invalid_type', 'Send true or false.')
  if (field.type === 'consent') return {}
  return { answer: false }
}

const checkboxes: Read = (field, given) => {
  const values = (Array.isArray(given) ? given : [given]) as readonly unknown[]
  const chosen = [...new Set(values)].filter((value) => value !== '')
  if (chosen.length > (field.options?.length ?? 0) || !chosen.every((value) => isChoice(field, value))) return notAnOption
  if (chosen.length === 0) return {}
  const { min_selected: min = 0, max_selected: max = Infinity } = field
  if (chosen.length < min) return problem('too_few', `Choose at least ${min}.`)
  if (chosen.length > max) return problem('too_many', `Choose at most ${max}.`)
  return { answer: (field.options ?? []).map(({ value }) => value).filter((value) => chosen.includes(value)) }
}

const hidden: Read = (field, given) => {
  if (field.source === 'static') return {}
  const value = freeText(given, maxText.text)
  if (value === undefined) return wrongType('text')
  if (value.seen === '') return {}
  return value.seen.length > maxText.text ? problem('too_long', `Send at most ${maxText.text} characters.`) : { answer: value.answer }
}

const readers: Readonly<Partial<Record<Field['type'], Read>>> = {
  ...{
    text: text(false),
    textarea: text(true),
    email,
    phone,
    url,
    number,
    date,
    time: date,
    datetime: date,
    select: choice,
    radio: choice,
  },
  ...{
    checkbox,
    checkboxes,
    rating: points(() => 1),
    scale: points((field) => (field.min as number | undefined) ?? 0),
    consent: checkbox,
    hidden,
  },
}
