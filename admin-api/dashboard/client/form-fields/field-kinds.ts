/** Field types of the designer: groups, icons and initial values. */
import { definitionLimits, type Definition, type Field, type FieldType, type Rule } from '#core/forms/definition/definition.ts'
import { fieldsIn } from '#core/forms/definition/conditions.ts'

export const fieldGroups = {
  questions: ['text', 'textarea', 'email', 'phone', 'url', 'number', 'date', 'time', 'datetime'],
  choices: ['radio', 'checkboxes', 'select', 'checkbox', 'rating', 'scale', 'consent'],
  files: ['file_upload', 'hidden'],
  structure: ['page_break', 'heading', 'paragraph', 'image', 'divider'],
} as const satisfies Record<string, readonly FieldType[]>

export const groupNames = Object.keys(fieldGroups) as readonly (keyof typeof fieldGroups)[]

export const signs: Readonly<Record<FieldType, string>> = {
  ...{ text: 'Ab', textarea: '¶', email: '@', phone: '☎', url: '://', number: '12', date: '31', time: '12:', datetime: '31:' },
  ...{ select: '▾', radio: '◉', checkbox: '☑', checkboxes: '☑☑', rating: '★', scale: '0–10', consent: '✓' },
  ...{ hidden: '#', file_upload: '↥', image: '▨', heading: 'H', paragraph: 'T', divider: '—', page_break: '⤓' },
}

interface NewTexts {
  readonly label: string
  readonly option: (parameters: { readonly n: number }) => string
}

/** Returns a new field with its initial properties. */
export function newField(type: FieldType, key: string, { label, option }: NewTexts): Field {
  const options = [1, 2, 3].map((n) => ({ value: `option_${String(n)}`, label: option({ n }) }))
  const own: Partial<Record<FieldType, object>> = {
    email: { label, autocomplete: 'email' },
    phone: { label, autocomplete: 'tel' },
    select: { label, options },
    radio: { label, options },
    checkboxes: { label, options },
    rating: { label, max: 5 },
    scale: { label, min: 0, max: 10 },
    consent: { label, text: label, required: true },
    hidden: { label, source: 'url_param', param: key },
    image: { src: '', alt: '' },
    heading: { text: label, level: 2 },
    paragraph: { text: label },
    divider: {},
    page_break: { title: label },
  }
  return { key, type, ...(own[type] ?? { label }) }
}

/** Returns a valid key that no field of the form uses. */
export function freeKey(wished: string, fields: readonly Field[]): string {
  const taken = new Set(fields.map(({ key }) => key))
  const base =
    wished
      .normalize('NFKD')
      .toLowerCase()
      .replaceAll(/\p{M}/gu, '')
      .replaceAll(/[^a-z0-9]+/g, '_')
      .replaceAll(/^[_0-9]+|_+$/g, '')
      .slice(0, 56) || 'field'
  for (let n = 1; n <= definitionLimits.fields + 1; n++) {
    const key = n === 1 ? base : `${base}_${String(n)}`
    if (!taken.has(key)) return key
  }
  return base
}

/** Returns the display name of a field: its label, else its content, else its key. */
export const titleOf = ({ label, text, title, alt, key }: Field): string => {
  const [first = ''] = (label ?? text ?? title ?? alt ?? '').split('\n')
  return first.trim() === '' ? key : first
}

/** Removes a deleted field from rules. Deletes rules whose condition uses the field. */
export function rulesWithout(rules: readonly Rule[], key: string): readonly Rule[] {
  return rules.flatMap((rule) => {
    if (fieldsIn(rule.when).includes(key)) return []
    const left = rule.then.filter(({ target }) => target !== key)
    return left.length === 0 ? [] : [{ ...rule, then: left }]
  })
}

/** Renames the key of a field in the whole definition. */
export function renamed(definition: Definition, from: string, to: string): Definition {
  const name = (key: string): string => (key === from ? to : key)
  const inside = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(inside)
    if (typeof value !== 'object' || value === null) return value
    return Object.fromEntries(
      Object.entries(value).map(([property, one]) => {
        const isKey = (property === 'field' || property === 'target') && typeof one === 'string'
        return [property, isKey ? name(one) : inside(one)]
      }),
    )
  }
  const { schema, logic, thank_you: thanks, translations } = definition
  const place = (text: string): string => (text.startsWith(`fields.${from}.`) ? `fields.${to}.${text.slice(from.length + 8)}` : text)
  const rows = schema.layout?.rows.map((row) => ({ ...row, fields: row.fields.map(name) }))
  return {
    ...definition,
    schema: {
      ...schema,
      fields: schema.fields.map((field) => (field.key === from ? { ...field, key: to } : field)),
      ...(rows && { layout: { version: 1, rows } }),
    },
    logic: inside(logic) as Definition['logic'],
    thank_you: inside(thanks) as Definition['thank_you'],
    translations: Object.fromEntries(
      Object.entries(translations).map(([locale, texts]) => [
        locale,
        Object.fromEntries(Object.entries(texts).map(([where, text]) => [place(where), text])),
      ]),
    ),
  }
}
