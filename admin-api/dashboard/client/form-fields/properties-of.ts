/** Editors and sections for the properties of a field. `field-properties.ts` of the core defines the valid values. */
import type { Field, FieldType } from '#core/forms/definition/definition.ts'
import type { texts } from '../form-designer/designer-texts.ts'

export type PropertyName = keyof ReturnType<typeof texts>['property'] & keyof Field

export const sections = ['basics', 'choices', 'limits', 'more', 'privacy'] as const
export type Section = (typeof sections)[number]

type Places = { readonly [S in Section]?: readonly PropertyName[] }

const answered = {
  basics: ['label', 'help', 'required'],
  more: ['required_message', 'label_hidden'],
  privacy: ['prefill', 'email_mask'],
} as const satisfies Places

const typed = { ...answered, more: ['placeholder', 'default', 'autocomplete', ...answered.more] } as const satisfies Places
const dated = { ...answered, limits: ['min', 'max'], more: ['default', 'autocomplete', ...answered.more] } as const satisfies Places
const chosen = { ...answered, more: ['default', ...answered.more] } as const satisfies Places

const places: Readonly<Record<FieldType, Places>> = {
  text: { ...typed, limits: ['min_length', 'max_length', 'preset', 'pattern'] },
  textarea: { ...typed, limits: ['min_length', 'max_length', 'rows'] },
  email: { ...typed, limits: ['allow_domains', 'deny_domains'] },
  phone: { ...typed, limits: ['default_country'] },
  url: { ...typed, limits: ['https_only'] },
  number: { ...typed, limits: ['min', 'max', 'step', 'integer', 'unit'] },
  ...{ date: dated, time: dated, datetime: dated },
  select: { ...typed, choices: ['options', 'allow_other'] },
  radio: { ...chosen, choices: ['options', 'allow_other'] },
  checkbox: { ...chosen, limits: ['must_be_true'] },
  checkboxes: { ...answered, choices: ['options'], limits: ['min_selected', 'max_selected'] },
  rating: { ...chosen, limits: ['max', 'style', 'labels'] },
  scale: { ...chosen, limits: ['min', 'max', 'low_label', 'high_label'] },
  consent: { ...answered, basics: ['label', 'text', 'help', 'required'], more: ['version_label', ...answered.more] },
  hidden: { basics: ['label', 'source', 'param', 'default'], limits: ['signed'], privacy: ['email_mask'] },
  file_upload: { basics: answered.basics, limits: ['accept', 'max_bytes'], more: answered.more },
  image: { basics: ['src', 'alt', 'caption'] },
  heading: { basics: ['text', 'level'] },
  paragraph: { basics: ['text'] },
  divider: {},
  page_break: { basics: ['title', 'next_label', 'back_label'] },
}

export const placesOf = (type: FieldType): Places => places[type]

/** Control that edits a property. */
export type Editor = 'line' | 'long' | 'number' | 'yes' | 'choice' | 'list' | 'options' | 'accept' | 'size'

const editors: { readonly [P in PropertyName]?: Editor } = {
  ...{ help: 'long', text: 'long', options: 'options', accept: 'accept', max_bytes: 'size' },
  ...{ allow_domains: 'list', deny_domains: 'list', labels: 'list' },
  ...{ preset: 'choice', style: 'choice', source: 'choice', level: 'choice', autocomplete: 'choice' },
  ...{ label_hidden: 'yes', required: 'yes', prefill: 'yes', email_mask: 'yes', https_only: 'yes', integer: 'yes', allow_other: 'yes' },
  ...{ must_be_true: 'yes', signed: 'yes', min_length: 'number', max_length: 'number', rows: 'number', step: 'number' },
  ...{ min_selected: 'number', max_selected: 'number' },
}

const counted: ReadonlySet<FieldType> = new Set<FieldType>(['number', 'rating', 'scale'])

export function editorOf(type: FieldType, name: PropertyName): Editor {
  if (name === 'min' || name === 'max') return counted.has(type) ? 'number' : 'line'
  if (name === 'default') return counted.has(type) ? 'number' : type === 'checkbox' ? 'yes' : type === 'textarea' ? 'long' : 'line'
  if (name === 'text' && type === 'heading') return 'line'
  return editors[name] ?? 'line'
}

/** Required properties. They stay in the definition when empty, so that validation reports them. */
export const mustStay: ReadonlySet<PropertyName> = new Set<PropertyName>(['label', 'text', 'src', 'alt'])

/** Suggestions of common autofill names. The definition accepts all names of the HTML standard. */
export const autocompletes = [
  ...['name', 'given-name', 'family-name', 'organization', 'organization-title', 'email', 'tel', 'url', 'street-address', 'postal-code'],
  ...['address-level2', 'country-name', 'bday', 'off'],
] as const

export const acceptable = ['pdf', 'png', 'jpeg', 'gif', 'webp'] as const
