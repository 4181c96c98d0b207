/** Sentences of a report by code, with values. Their texts are in `config/catalogs`, in each language. */
import { catalogIn } from '#config/catalogs/catalog-in.ts'
import type { ConfigCatalogs } from '#config/catalogs/config-catalogs.ts'
import { codedMessage } from '#config/texts/coded-message.ts'
import type { Said } from '#core/inspect/report.ts'

type Sentences = ConfigCatalogs['checks']['sentences']
type Code = keyof Sentences
/** The values of a message with parameters. */
type Given<Message> = Message extends (values: infer Values extends object) => string ? [values: Values] : []

/** Returns a sentence. Its values may be untrusted text. */
export const say = <One extends Code>(code: One, ...[values]: Given<Sentences[One]>): Said => said(code, values)

type TermCode = Code extends infer One ? (One extends `evidence_${infer Term}` ? Term : never) : never

/** Returns the label or the value of an evidence. */
export const term = <One extends TermCode>(code: One, ...[values]: Given<Sentences[`evidence_${One}`]>): Said =>
  said(`evidence_${code}`, values)

const said = (code: string, values: object = {}): Said => ({
  code,
  values: Object.fromEntries(Object.entries(values).map(([name, value]) => [name, String(value)])),
})

export const inEnglish = ({ code, values }: Said): string => codedMessage(catalogIn('checks', 'en').sentences, code, values) ?? code
