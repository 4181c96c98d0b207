/**
 * The definition of a form: fields, layout, theme, logic, thank-you page and settings. One portable JSON document, so its names are the
 * same in the API, in the store and in browsers. Files in this folder import nothing from outside it.
 */

export const fieldTypes: readonly FieldType[] = [
  'text',
  'textarea',
  'email',
  'phone',
  'url',
  'number',
  'date',
  'time',
  'datetime',
  'select',
  'radio',
  'checkbox',
  'checkboxes',
  'rating',
  'scale',
  'consent',
  'hidden',
  'file_upload',
  'image',
  'heading',
  'paragraph',
  'divider',
  'page_break',
]

export type FieldType =
  | 'text'
  | 'textarea'
  | 'email'
  | 'phone'
  | 'url'
  | 'number'
  | 'date'
  | 'time'
  | 'datetime'
  | 'select'
  | 'radio'
  | 'checkbox'
  | 'checkboxes'
  | 'rating'
  | 'scale'
  | 'consent'
  | 'hidden'
  | 'file_upload'
  | 'image'
  | 'heading'
  | 'paragraph'
  | 'divider'
  | 'page_break'

/** Kind of an answer, for logic. `none`: the field has no answer. */
export type ValueKind = 'text' | 'number' | 'date' | 'choice' | 'boolean' | 'choices' | 'file' | 'none'

export const valueKinds: Readonly<Record<FieldType, ValueKind>> = {
  ...{ text: 'text', textarea: 'text', email: 'text', phone: 'text', url: 'text', hidden: 'text', number: 'number' },
  ...{ date: 'date', time: 'date', datetime: 'date', select: 'choice', radio: 'choice', checkbox: 'boolean', consent: 'boolean' },
  ...{ checkboxes: 'choices', rating: 'number', scale: 'number', file_upload: 'file' },
  ...{ image: 'none', heading: 'none', paragraph: 'none', divider: 'none', page_break: 'none' },
}

export const maxText = { text: 1000, textarea: 10_000 } as const

/** The value of one answer. */
export type Answer = string | number | boolean | readonly string[]
export type Answers = Readonly<Record<string, Answer>>

export interface Option {
  readonly value: string
  readonly label: string
  readonly disabled?: boolean
}

export type WidthToken = 'full' | 'half' | 'third' | 'two_thirds'

/** A field of any type. `field-properties.ts` lists the properties of each type. */
export interface Field {
  readonly key: string
  readonly type: FieldType
  readonly label?: string
  readonly label_hidden?: boolean
  readonly help?: string
  readonly placeholder?: string
  readonly required?: boolean
  readonly required_message?: string
  readonly width?: WidthToken
  readonly default?: Answer
  readonly autocomplete?: string
  readonly prefill?: boolean
  readonly email_mask?: boolean
  readonly min_length?: number
  readonly max_length?: number
  readonly pattern?: string
  readonly preset?: string
  readonly rows?: number
  readonly allow_domains?: readonly string[]
  readonly deny_domains?: readonly string[]
  readonly default_country?: string
  readonly https_only?: boolean
  readonly min?: number | string
  readonly max?: number | string
  readonly step?: number
  readonly integer?: boolean
  readonly unit?: string
  readonly options?: readonly Option[]
  readonly allow_other?: boolean
  readonly must_be_true?: boolean
  readonly min_selected?: number
  readonly max_selected?: number
  readonly style?: 'star' | 'number' | 'smiley'
  readonly labels?: readonly string[]
  readonly low_label?: string
  readonly high_label?: string
  readonly text?: string
  readonly version_label?: string
  readonly source?: 'url_param' | 'static'
  readonly param?: string
  readonly signed?: boolean
  readonly accept?: readonly string[]
  readonly max_bytes?: number
  readonly src?: string
  readonly alt?: string
  readonly caption?: string
  readonly level?: 2 | 3
  readonly title?: string
  readonly next_label?: string
  readonly back_label?: string
}

export interface LayoutRow {
  readonly fields: readonly string[]
  /** Column spans of 12; equal parts if absent. */
  readonly spans?: readonly number[]
}

export interface Schema {
  readonly version: 1
  readonly fields: readonly Field[]
  readonly layout?: { readonly version: 1; readonly rows: readonly LayoutRow[] }
}

export const colorNames = ['primary', 'background', 'surface', 'text', 'muted', 'border', 'error'] as const
export type ColorName = (typeof colorNames)[number]
export type Colors = { readonly [Name in ColorName]?: string }

export interface Theme {
  readonly mode: 'light' | 'dark' | 'auto'
  readonly colors: Colors
  readonly dark_colors: Colors
  readonly radius: 'none' | 'sm' | 'md' | 'lg' | 'full'
  readonly font: 'system' | 'humanist' | 'serif' | 'mono' | 'rounded'
  readonly logo: { readonly src: string; readonly alt: string } | null
}

export type Operator =
  | 'eq'
  | 'ne'
  | 'in'
  | 'not_in'
  | 'contains'
  | 'not_contains'
  | 'starts_with'
  | 'ends_with'
  | 'gt'
  | 'gte'
  | 'lt'
  | 'lte'
  | 'before'
  | 'after'
  | 'is_empty'
  | 'not_empty'
  | 'checked'
  | 'unchecked'
  | 'count_gte'
  | 'count_lte'

export interface Comparison {
  readonly field: string
  readonly op: Operator
  readonly value?: string | number | readonly string[] | readonly number[] | { readonly field: string }
}

export type Condition =
  Comparison | { readonly all: readonly Condition[] } | { readonly any: readonly Condition[] } | { readonly not: Condition }

/** `target` is the key of a field or `page:N`; `page` is a later page or `submit`. */
export interface RuleAction {
  readonly action: 'show' | 'hide' | 'require' | 'unrequire' | 'jump'
  readonly target?: string
  readonly page?: number | 'submit'
}

export interface Rule {
  readonly id: string
  readonly when: Condition
  readonly then: readonly RuleAction[]
}

export interface ThankYou {
  readonly title: string
  readonly body: string
  readonly redirect_url: string | null
  readonly variants: readonly { readonly when: Condition; readonly title: string; readonly body: string }[]
}

export interface Settings {
  readonly submit_label: string
  /** Empty means any origin. */
  readonly allowed_origins: readonly string[]
  readonly captcha: { readonly provider: 'turnstile' | 'hcaptcha'; readonly site_key: string } | null
  readonly min_fill_seconds: number
  readonly close_at: string | null
  readonly max_submissions: number | null
  readonly closed_message: string
  readonly retention_days: number | null
  readonly store_ip: 'none' | 'hashed' | 'full'
}

export interface Definition {
  readonly name: string
  readonly locale: string
  /** By locale, then by text path such as `fields.email.label`. */
  readonly translations: Readonly<Record<string, Readonly<Record<string, string>>>>
  readonly schema: Schema
  readonly theme: Theme
  readonly logic: { readonly version: 1; readonly rules: readonly Rule[] }
  readonly thank_you: ThankYou
  readonly settings: Settings
}

export const definitionLimits = {
  name: 120,
  fields: 200,
  pages: 20,
  rules: 100,
  conditions: 20,
  depth: 4,
  options: 100,
  selectOptions: 500,
  locales: 30,
  files: 5,
  bytes: 262_144,
  fileBytes: 10_485_760,
} as const

/** Keys that submissions reserve. */
export const fillTimeKey = '_mnx_ft'
export const honeypotKey = '_mnx_hp'
export const captchaKey = 'captcha_token'
export const signatureKey = '_mnx_sig'
/** Also reserves `constructor`, a property of every JavaScript object. */
export const isReservedKey = (key: string): boolean =>
  key === 'data' || key === captchaKey || key === 'constructor' || key.startsWith('_mnx')

/** Defaults of a definition. */
export const defaultTheme: Theme = { mode: 'auto', colors: {}, dark_colors: {}, radius: 'md', font: 'system', logo: null }
export const defaultThankYou: ThankYou = {
  title: 'Thank you',
  body: 'Your answers were sent.',
  redirect_url: null,
  variants: [],
}
export const defaultSettings: Settings = {
  submit_label: 'Send',
  allowed_origins: [],
  captcha: null,
  min_fill_seconds: 2,
  close_at: null,
  max_submissions: null,
  closed_message: 'This form takes no more answers.',
  retention_days: null,
  store_ip: 'hashed',
}
