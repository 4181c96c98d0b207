/** Translates a form. Translations are texts by path, such as `fields.email.label`. Texts without a translation do not change. */
import { checkProperties, isObject, text, type Check, type Findings } from './checks.ts'
import { definitionLimits, type Definition, type Field } from './definition.ts'

export const localePattern = /^[a-z]{2,3}(?:-[A-Za-z0-9]{2,8}){0,3}$/

const fieldTexts = [
  ...['label', 'help', 'placeholder', 'required_message', 'text', 'title', 'next_label', 'back_label', 'alt', 'caption', 'low_label'],
  ...['high_label', 'unit'],
] as const

/** Returns every translatable text by path. */
export function textsOf(definition: Definition): ReadonlyMap<string, string> {
  const { name, schema, thank_you: thanks, settings } = definition
  const texts = new Map<string, string>([
    ['name', name],
    ['thank_you.title', thanks.title],
    ['thank_you.body', thanks.body],
    ['settings.submit_label', settings.submit_label],
    ['settings.closed_message', settings.closed_message],
  ])
  for (const field of schema.fields) {
    for (const property of fieldTexts) if (field[property] !== undefined) texts.set(`fields.${field.key}.${property}`, field[property])
    for (const { value, label } of field.options ?? []) texts.set(`fields.${field.key}.options.${value}`, label)
  }
  for (const [at, { title, body }] of thanks.variants.entries())
    texts.set(`thank_you.variants.${at}.title`, title).set(`thank_you.variants.${at}.body`, body)
  return texts
}

/** Checks locales and texts. Unknown paths are allowed, because fields can be removed and added again. */
export function checkTranslations(translations: unknown, found: Findings): void {
  if (!isObject(translations)) return found.report('translations', 'invalid_type', 'must be an object with a language for each property')
  const locales = Object.keys(translations)
  if (locales.length > definitionLimits.locales)
    return found.report('translations', 'too_many', `must have at most ${definitionLimits.locales} languages`)
  for (const locale of locales) {
    if (!localePattern.test(locale))
      found.report(`translations.${locale.slice(0, 20)}`, 'invalid_text', 'must be a language such as fr or de-CH')
    else checkTexts(translations[locale], `translations.${locale}`, found)
  }
}

function checkTexts(texts: unknown, path: string, found: Findings): void {
  if (!isObject(texts)) return found.report(path, 'invalid_type', 'must be an object with texts by their place')
  const places = Object.keys(texts)
  if (places.length > 5000) return found.report(path, 'too_many', 'must have at most 5000 texts')
  const check: Check = text(4000, { lines: true })
  checkProperties(texts, path, { properties: Object.fromEntries(places.map((place) => [place, check])), required: [] }, found)
}

/** Returns the definition in the requested language: that locale, or its language without the country, or the default texts. */
export function localized(definition: Definition, wished: string | undefined): Definition {
  const { translations, locale } = definition
  if (wished === undefined || wished === locale) return definition
  const found = translations[wished] ?? translations[wished.split('-')[0] ?? '']
  if (!found) return definition
  const at = (place: string, own: string): string => (Object.hasOwn(found, place) ? (found[place] ?? own) : own)
  const { thank_you: thanks, settings, schema } = definition
  return {
    ...definition,
    name: at('name', definition.name),
    locale: translations[wished] ? wished : (wished.split('-')[0] ?? locale),
    schema: { ...schema, fields: schema.fields.map((field) => localizedField(field, at)) },
    thank_you: {
      ...thanks,
      title: at('thank_you.title', thanks.title),
      body: at('thank_you.body', thanks.body),
      variants: thanks.variants.map((variant, place) => ({
        ...variant,
        title: at(`thank_you.variants.${place}.title`, variant.title),
        body: at(`thank_you.variants.${place}.body`, variant.body),
      })),
    },
    settings: {
      ...settings,
      submit_label: at('settings.submit_label', settings.submit_label),
      closed_message: at('settings.closed_message', settings.closed_message),
    },
  }
}

function localizedField(field: Field, at: (place: string, own: string) => string): Field {
  const texts = fieldTexts.flatMap((property) => {
    const own = field[property]
    return own === undefined ? [] : [[property, at(`fields.${field.key}.${property}`, own)]]
  })
  const options = field.options?.map((option) => ({ ...option, label: at(`fields.${field.key}.options.${option.value}`, option.label) }))
  return { ...field, ...Object.fromEntries(texts), ...(options && { options }) }
}
