/** Finds the templates in a JSON document from a service or a customer: one template, an array, or an array in an object. */
import { services, type Service } from '../exports/export-shapes.ts'
import { shown } from './translation.ts'
import type { Fallbacks } from './translate.ts'

export interface ForeignTemplate {
  readonly service: Service
  /** Name of the template in requests. */
  readonly key: string
  readonly name: string
  readonly subject: string | undefined
  readonly text: string | undefined
  readonly html: string | undefined
  readonly fallbacks?: Fallbacks
  /** The reason why the template cannot be imported. */
  readonly problem?: string | undefined
}

type Json = Readonly<Record<string, unknown>>
const isObject = (value: unknown): value is Json => typeof value === 'object' && value !== null && !Array.isArray(value)
const objectAt = (of: Json, name: string): Json => (isObject(of[name]) ? of[name] : {})
const text = (value: unknown): string | undefined => {
  const one = typeof value === 'number' ? String(value) : value
  return typeof one === 'string' && one !== '' ? one : undefined
}
const firstOf = (of: Json, ...names: readonly string[]): string | undefined => names.flatMap((name) => text(of[name]) ?? [])[0]

/** Fields of responses that hold templates. */
const wrappers = ['templates', 'result', 'results', 'Templates', 'Data', 'data', 'Template', 'template', 'items', 'TemplatesMetadata']
const maxDepth = 4

/** All objects that may be templates, in order. */
export function templatesIn(document: unknown, depth = 0): readonly Json[] {
  if (Array.isArray(document)) return depth > maxDepth ? [] : document.flatMap((one) => templatesIn(one, depth + 1))
  if (!isObject(document)) return []
  const wrapper = wrappers.find((name) => typeof document[name] === 'object' && document[name] !== null)
  return wrapper === undefined || depth > maxDepth ? [document] : templatesIn(document[wrapper], depth + 1)
}

type Reader = (given: Json) => Omit<ForeignTemplate, 'service'> | undefined
type Content = Pick<ForeignTemplate, 'subject' | 'text' | 'html'>

const contentOf = (of: Json, subject: string, plain: string, html: string): Content => ({
  ...{ subject: text(of[subject]), text: text(of[plain]), html: text(of[html]) },
})

function named(key: string | undefined, name: string | undefined, content: Content, problem?: string): Omit<ForeignTemplate, 'service'> {
  const isEmpty = content.text === undefined && content.html === undefined
  const why = problem ?? (isEmpty ? 'its content is missing; download the template individually' : undefined)
  return { key: key ?? name ?? '', name: name ?? key ?? '', ...content, problem: why }
}

const readers: Readonly<Partial<Record<Service, Reader>>> = {
  sendgrid(of) {
    if (!Array.isArray(of['versions'])) return undefined
    const versions = of['versions'].filter(isObject)
    const version = versions.find(({ active }) => active === 1) ?? versions[0] ?? {}
    const problem = of['generation'] === 'legacy' ? 'it is a legacy template, whose tags have no counterpart' : undefined
    return named(
      text(of['id'])?.replace(/^d-/, ''),
      text(of['name']),
      contentOf(version, 'subject', 'plain_content', 'html_content'),
      problem,
    )
  },
  postmark(of) {
    if (!('TemplateId' in of)) return undefined
    const isLayout = of['TemplateType'] === 'Layout'
    const layout = text(of['LayoutTemplate'])
    const inLayout = layout === undefined ? undefined : `it uses the layout ${shown(layout)}; merge the layout into its HTML`
    const problem = isLayout ? 'it is a layout; layouts have no counterpart' : inLayout
    return named(firstOf(of, 'Alias', 'TemplateId'), text(of['Name']), contentOf(of, 'Subject', 'TextBody', 'HtmlBody'), problem)
  },
  mailgun(of) {
    const version = isObject(of['version']) ? of['version'] : undefined
    if (!version || !('template' in version)) return undefined
    const engine = text(version['engine']) ?? 'handlebars'
    const problem = engine === 'handlebars' || engine === 'mustache' ? undefined : `its engine ${shown(engine)} has no counterpart`
    const subject = text(objectAt(version, 'headers')['Subject'] ?? objectAt(version, 'headers')['subject'])
    return named(
      text(of['name']),
      text(of['description']) ?? text(of['name']),
      { subject, text: undefined, html: text(version['template']) },
      problem,
    )
  },
  ses(of) {
    if (!('TemplateName' in of)) return undefined
    const inner = objectAt(of, 'TemplateContent')
    const content =
      'TemplateContent' in of ? contentOf(inner, 'Subject', 'Text', 'Html') : contentOf(of, 'SubjectPart', 'TextPart', 'HtmlPart')
    return named(text(of['TemplateName']), text(of['TemplateName']), content)
  },
  sparkpost(of) {
    if (!('content' in of) || !('id' in of)) return undefined
    const content = objectAt(of, 'content')
    const problem = 'email_rfc822' in content ? 'it is a complete message; only subject, text and HTML can be imported' : undefined
    return named(text(of['id']), text(of['name']), contentOf(content, 'subject', 'text', 'html'), problem)
  },
  brevo: (of) =>
    'htmlContent' in of
      ? named(text(of['id']), text(of['name']), { ...contentOf(of, 'subject', 'textContent', 'htmlContent') })
      : undefined,
  mailjet(of) {
    if (!('Html-part' in of) && !('Text-part' in of)) return undefined
    const subject = text(objectAt(of, 'Headers')['Subject'])
    return named(firstOf(of, 'ID', 'id'), firstOf(of, 'Name', 'name'), {
      subject,
      text: text(of['Text-part']),
      html: text(of['Html-part']),
    })
  },
  resend(of) {
    if (of['object'] !== 'template') return undefined
    const declared = Array.isArray(of['variables']) ? of['variables'].filter(isObject) : []
    const fallbacks = new Map(declared.flatMap((one) => [[text(one['key']) ?? '', text(one['fallback_value'])]] as const).flatMap(given))
    return { ...named(firstOf(of, 'alias', 'id'), text(of['name']), contentOf(of, 'subject', 'text', 'html')), fallbacks }
  },
}

const given = ([key, value]: readonly [string, string | undefined]): readonly (readonly [string, string])[] =>
  value === undefined ? [] : [[key, value]]

/** Reads one template. Undefined if the object has no known form. With `service`, `{id, name, subject, text, html}` is accepted too. */
export function foreignTemplate(of: Json, service: Service | undefined): ForeignTemplate | undefined {
  for (const known of service === undefined ? services : [service]) {
    const found = readers[known]?.(of)
    if (found) return { service: known, ...found }
  }
  if (service === undefined || !('html' in of || 'text' in of)) return undefined
  return { service, ...named(firstOf(of, 'slug', 'alias', 'id'), text(of['name']), contentOf(of, 'subject', 'text', 'html')) }
}
