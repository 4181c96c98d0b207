/** What visitors get of a definition: nothing that is for its owner alone, and a layout whatever it was designed with. */
import { holds } from './conditions.ts'
import type { Answers, Definition, Schema } from './definition.ts'
import { rowsOf } from './layout.ts'

export interface PublicDefinition extends Pick<Definition, 'name' | 'locale' | 'theme' | 'logic' | 'thank_you'> {
  readonly schema: Schema & Required<Pick<Schema, 'layout'>>
  /** The words around the fields. */
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

/** What is said once the answers were sent: the first variant that holds, else the text of the form. */
export function thanksFor({ schema, thank_you: thanks }: Pick<Definition, 'schema' | 'thank_you'>, answers: Answers) {
  const fields = new Map(schema.fields.map((field) => [field.key, field]))
  const { title, body } = thanks.variants.find(({ when }) => holds(when, answers, fields)) ?? thanks
  return { title, body, redirectUrl: thanks.redirect_url }
}
