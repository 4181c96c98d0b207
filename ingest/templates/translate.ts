/** Translates a template of another service into Postern's syntax and reports the places without a counterpart. */
import { placeIn } from '#config/texts/text-place.ts'
import type { Service } from '../exports/export-shapes.ts'
import { handlebars } from './handlebars.ts'
import { braceForms, marks, statementForms, type MarkForm } from './marks.ts'
import { sparkpost } from './sparkpost.ts'
import { printed, stated, type StatementDialect } from './statements.ts'
import { NoCounterpart, shown, Translation, variable, withDefault } from './translation.ts'

export interface TranslatedPart {
  readonly text: string
  readonly problems: readonly TranslationFinding[]
  readonly notes: readonly TranslationFinding[]
}

export interface TranslationFinding {
  readonly message: string
  readonly line: number
  readonly column: number
}

/** Maximum length of the code in a tag. */
const maxCode = 500

/** Default values by variable name, which the service stores outside the template. */
export type Fallbacks = ReadonlyMap<string, string>

interface Brace {
  readonly code: string
  readonly isRaw: boolean
  readonly at: number
  readonly isHtml: boolean
  readonly fallbacks: Fallbacks
}

interface ServiceSyntax {
  readonly forms: readonly MarkForm[]
  readonly braces: (into: Translation, brace: Brace) => void
  readonly statement?: StatementDialect
  /** Pattern of texts outside of tags that the service replaces. */
  readonly beyond?: RegExp
}

const ownOfLists = /^(?:unsubscribe|update_profile|mirror|contact|account|doubleoptin|time_now)(?:_url)?(?:\.|$)/

const withStatements = (statement: StatementDialect, beyond?: RegExp): ServiceSyntax => ({
  forms: statementForms,
  braces: (into, { code, at, isHtml }) => printed(into, code, { at, isHtml }, statement),
  statement,
  ...(beyond && { beyond }),
})

const syntaxes: Readonly<Record<Service, ServiceSyntax>> = {
  sendgrid: { forms: braceForms, braces: handlebars, beyond: /<%[^%]{0,80}%>|\[%[^%]{0,80}%\]/g },
  postmark: { forms: braceForms, braces: handlebars },
  mailgun: { forms: braceForms, braces: handlebars, beyond: /%(?:recipient|\w{0,40}unsubscribe\w{0,40})[\w.]{0,80}%/g },
  ses: { forms: braceForms, braces: handlebars },
  resend: { forms: braceForms, braces: ofResend },
  sparkpost: { forms: braceForms, braces: sparkpost },
  brevo: withStatements({ prefix: 'params.', own: ownOfLists }),
  mailersend: withStatements({ own: ownOfLists }),
  mailjet: withStatements({ prefix: 'var:', own: ownOfLists }, /\[\[[A-Z][A-Z_]{1,40}/g),
}

/** Translates one part. The template is never run. The cost is linear in its length. */
export function translated(service: Service, source: string, isHtml: boolean, fallbacks: Fallbacks = new Map()): TranslatedPart {
  const syntax = syntaxes[service]
  const into = new Translation()
  let from = 0
  for (const { kind, code, at, end } of marks(source, syntax.forms)) {
    literal(into, source.slice(from, at), from, syntax)
    from = end
    if (into.isGivenUp) break
    if (kind === 'comment') continue
    if (code.length > maxCode) into.problem(`${shown(code)} is longer than ${maxCode} characters`, at)
    else if (kind === 'statement' && syntax.statement) stated(into, code.trim(), at, syntax.statement)
    else syntax.braces(into, { code: code.trim(), isRaw: kind === 'raw', at, isHtml, fallbacks })
  }
  literal(into, source.slice(from), from, syntax)
  into.finish()
  return { text: into.text, problems: into.problems.map((one) => placed(one, source)), notes: into.notes.map((one) => placed(one, source)) }
}

function literal(into: Translation, text: string, at: number, { beyond }: ServiceSyntax): void {
  into.write(text)
  const open = text.indexOf('{{')
  if (open >= 0) into.problem('{{ is never closed', at + open)
  if (beyond)
    for (const { 0: found, index } of text.matchAll(beyond)) into.problem(`${shown(found)} is filled in by the service`, at + index)
}

/** Translates `{{{NAME}}}` and `{{{NAME|default}}}`. Three braces are Resend's only form, so they do not request raw HTML. */
function ofResend(into: Translation, { code, at, isHtml, fallbacks }: Brace): void {
  into.step(at, () => {
    const [, name = '', instead] = /^([^|]*?)\s*(?:\|\s*(.*))?$/s.exec(code) ?? []
    if (/^(?:RESEND_|contact\.|unsubscribe)/.test(name))
      throw new NoCounterpart(`${shown(name)} is filled in by the service; pass it as a variable`)
    const path = variable(name, false)
    const fallback = instead ?? fallbacks.get(name)
    into.write(fallback === undefined ? `{{${path}}}` : withDefault(path, fallback, isHtml))
    if (isHtml) into.note('values are escaped in HTML; HTML in a variable appears as text', at)
  })
}

/** Converts the offset to line and column. */
function placed({ at, message }: { readonly at: number; readonly message: string }, source: string): TranslationFinding {
  return { message, ...placeIn(source, at) }
}
