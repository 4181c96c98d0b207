/** Builds the plan for the script of a form. */
import { fieldsIn } from '#core/forms/definition/conditions.ts'
import type { Field, FieldType } from '#core/forms/definition/definition.ts'
import { Html } from '../../layout/html.ts'
import type { Parts } from '../form-parts.ts'
import { isQuestion, type FormView } from '../form-view.ts'
import type { FormTexts } from '../texts/texts-for.ts'
import type { FormPlan, PlannedStep, PlanTexts } from './plan-types.ts'
import { knownSentence } from './sentences.ts'

/** Returns the plan as JSON in an element of the page, escaped so that it cannot end the element. */
export function planElement(view: FormView, parts: Parts, isFresh: boolean): Html {
  const json = JSON.stringify(planOf(view, parts, isFresh)).replaceAll('<', String.raw`\u003c`)
  return Html.of([`<script type="application/json" class="plan">${json}</script>`], [])
}

function planOf(view: FormView, parts: Parts, isFresh: boolean): FormPlan {
  const { form, texts, isMostlyNeeded } = view
  const { fields, layout } = form.schema
  const questions = fields.filter((field) => isQuestion(field))
  const looked = new Set(form.logic.rules.flatMap(({ when }) => fieldsIn(when)))
  return {
    ...{ id: form.publicId, version: form.version, origins: form.allowedOrigins, isFresh, isMostlyNeeded },
    ...{ schema: { version: 1, fields: fields.map((field) => bare(field, looked.has(field.key))), layout }, logic: form.logic },
    steps: parts.steps.length > 1 ? stepsOf(parts, texts) : [],
    labels: Object.fromEntries(questions.map(({ key, label = key }) => [key, label])),
    sentences: Object.fromEntries(questions.map((field) => [field.key, sentencesOf(texts, field)])),
    texts: planTextsOf(texts, form.locale, questions.length),
  }
}

/** A page break defines the labels of the buttons in both directions. */
const stepsOf = ({ steps }: Parts, texts: FormTexts): readonly PlannedStep[] =>
  steps.map(({ page, title }) => ({
    ...{ page: page.number, title },
    next: page.start?.next_label ?? texts.live.next,
    back: page.start?.back_label ?? texts.live.back,
  }))

/** Removes texts that the page contains, and a fixed value unless a rule reads it. */
function bare(field: Field, isLookedAt: boolean): Field {
  const { label: _1, help: _2, placeholder: _3, required_message: _4, text: _5, title: _6, labels: _7, low_label: _8, ...left } = field
  const { high_label: _9, src: _10, alt: _11, caption: _12, default: given, options, ...rest } = left
  return {
    ...rest,
    ...(rest.type === 'hidden' && given !== undefined && isLookedAt && { default: given }),
    ...(options && { options: options.map((option) => ({ ...option, label: '' })) }),
  }
}

const plainTextCodes = ['required', 'invalid_type', 'too_short', 'too_long', 'pattern_mismatch'] as const
const numbers = ['required', 'invalid_type', 'out_of_range', 'step_mismatch'] as const
const choices = ['required', 'not_an_option', 'too_long'] as const
const files = ['file_missing', 'file_too_large', 'file_type_not_allowed'] as const
const dates = ['required', 'invalid_date', 'out_of_range'] as const

const codesOf: Readonly<Partial<Record<FieldType, readonly string[]>>> = {
  ...{
    text: plainTextCodes,
    textarea: plainTextCodes,
    email: ['required', 'invalid_email', 'domain_not_allowed'],
    phone: ['required', 'invalid_phone'],
  },
  ...{ url: ['required', 'invalid_url'], number: numbers, rating: numbers, scale: numbers, date: dates, time: dates, datetime: dates },
  ...{ select: choices, radio: choices, checkboxes: [...choices, 'too_few', 'too_many'], file_upload: files },
  ...{ checkbox: ['required', 'must_accept'], consent: ['must_accept'] },
}

/** Returns a text for every code that the check of answers has for a field, since browsers have no other texts. */
export const sentencesOf = (texts: FormTexts, field: Field): Readonly<Record<string, string>> =>
  Object.fromEntries(
    (codesOf[field.type] ?? []).flatMap((code) => {
      const known = knownSentence(texts, field, code)
      return known === undefined ? [] : [[code, known]]
    }),
  )

const mostTitles = 12
/** A count beyond all specific titles. */
const many = 99

function planTextsOf(texts: FormTexts, locale: string, questions: number): PlanTexts {
  const { stepOf, oneMore, counted, sentShare, sending, keepOpen, stop, stopped, remove, notSent, close } = texts.live
  const titles = Array.from({ length: Math.min(questions, mostTitles) }, (_, at) => texts.errorTitle({ count: at + 1 }))
  return {
    ...{ locale, optional: texts.optional, needed: texts.needed, sending, keepOpen, stop, stopped, remove, notSent, close },
    ...{
      stepOf: stepOf({ at: '{at}', of: '{of}' }),
      oneMore: oneMore({ label: '{label}' }),
      counted: counted({ used: '{used}', max: '{max}' }),
    },
    ...{ sentShare: sentShare({ share: '{share}', size: '{size}' }), errorPrefix: texts.errorPrefix, errorKept: texts.errorKept },
    errorTitles: [...titles, texts.errorTitle({ count: many }).replace(String(many), '{count}')],
  }
}
