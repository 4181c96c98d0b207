/** The part of a definition that visitors receive: no private settings, and always a layout. */
import { holds } from './conditions.ts'
import type { Answers, Definition, Schema } from './definition.ts'
import { rowsOf } from './layout.ts'

export interface PublicDefinition extends Pick<Definition, 'name' | 'locale' | 'theme' | 'logic' | 'thank_you'> {
  readonly schema: Schema & Required<Pick<Schema, 'layout'>>
  /** Texts around the fields. */
  readonly texts: { readonly submit_label: string; readonly closed_message: string }
}

export const publicDefinition = ({ name, locale, schema, theme, logic, thank_you, settings }: Definition): PublicDefinition => ({
  ...{ name, locale, theme, logic, thank_you },
  schema: { ...schema, layout: { version: 1, rows: rowsOf(schema).map((row) => layoutRow(row)) } },
  texts: { submit_label: settings.submit_label, closed_message: settings.closed_message },
})

const layoutRow = (row: ReturnType<typeof rowsOf>[number]) => ({
  fields: row.map(({ field }) => field.key),
  spans: row.map(({ span }) => span),
})

/** Returns the thank-you text: the first matching variant, or the default text. */
export function thanksFor({ schema, thank_you: thanks }: Pick<Definition, 'schema' | 'thank_you'>, answers: Answers) {
  const fields = new Map(schema.fields.map((field) => [field.key, field]))
  const { title, body } = thanks.variants.find(({ when }) => holds(when, answers, fields)) ?? thanks
  return { title, body, redirectUrl: thanks.redirect_url }
}
