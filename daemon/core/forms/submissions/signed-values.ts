/**
 * Values from the URL of a page. Values of hidden fields with `signed` need a signature over all of them, which requires an API key of the
 * form's owner.
 */
import { timingSafeEqual } from 'node:crypto'
import type { Principal } from '../../access/principal/principal.ts'
import type { SecretBox } from '../../access/secret-box.ts'
import { invalid } from '../../refusals.ts'
import { maxText, signatureKey, type Definition, type Field } from '../definition/definition.ts'
import type { Form } from '../form.ts'
import type { Forms } from '../forms.ts'
import type { Publishing } from '../publishing.ts'

type Secrets = Pick<SecretBox, 'mac'>
type Values = Readonly<Record<string, unknown>>

const purpose = 'form.signed_values.v1'
const macBytes = 16

/** URL parameter with the signature. */
export const signatureParam = '_sig'

const isSigned = ({ type, source, signed }: Field): boolean => type === 'hidden' && source === 'url_param' && signed === true

/** HMAC over the sorted keys and values of signed fields that have a value. */
function macOf(secrets: Secrets, formId: string, { schema }: Pick<Definition, 'schema'>, values: Values): Buffer {
  const given = schema.fields
    .filter(isSigned)
    .flatMap(({ key }) => (textOf(values[key]) === '' ? [] : [[key, textOf(values[key])] as const]))
  const sorted = given.toSorted(([a], [b]) => (a < b ? -1 : 1))
  return secrets.mac(purpose, Buffer.from(`${formId}\n${JSON.stringify(sorted)}`)).subarray(0, macBytes)
}

function textOf(value: unknown): string {
  const first: unknown = Array.isArray(value) ? value[0] : value
  return typeof first === 'string' ? first : ''
}

/** Removes values of signed fields, unless the values include the correct signature. */
export function withoutUnsigned(secrets: Secrets, formId: string, definition: Pick<Definition, 'schema'>, values: Values): Values {
  const keys = definition.schema.fields.filter((field) => isSigned(field) && values[field.key] !== undefined).map(({ key }) => key)
  if (keys.length === 0) return values
  const given = Buffer.from(textOf(values[signatureKey]), 'base64url')
  if (given.length === macBytes && timingSafeEqual(given, macOf(secrets, formId, definition, values))) return values
  return Object.fromEntries(Object.entries(values).filter(([key]) => !keys.includes(key)))
}

export interface PrefilledLinksOptions {
  readonly secrets: Secrets
  readonly forms: Pick<Forms, 'get'>
  readonly publishing: Pick<Publishing, 'version'>
  /** Public address of forms. */
  readonly formsUrl: string
}

/** Creates URLs with prefilled values. */
export class PrefilledLinks {
  readonly #options: PrefilledLinksOptions

  constructor(options: PrefilledLinksOptions) {
    this.#options = options
  }

  /** Uses the published version. Throws `validation_failed` for fields that URLs cannot fill in. */
  async make(principal: Principal, id: string, values: Readonly<Record<string, string>>): Promise<{ readonly url: string }> {
    const { forms, publishing, formsUrl, secrets } = this.#options
    const form: Form = await forms.get(principal, id)
    if (form.version === 0) throw invalid([{ path: 'values', message: 'require a published form; publish it first' }])
    const { definition } = await publishing.version(principal, id, form.version)
    const fields = new Map(definition.schema.fields.map((field) => [field.key, field]))
    const search = new URLSearchParams()
    for (const [key, value] of Object.entries(values)) {
      const field = fields.get(key)
      const name = field?.type === 'hidden' && field.source === 'url_param' ? field.param : field?.prefill ? key : undefined
      if (name === undefined)
        throw invalid([{ path: `values.${key}`, message: 'must name a field with prefill, or a hidden field with the source url_param' }])
      if (value.length > maxText.text) throw invalid([{ path: `values.${key}`, message: `must have at most ${maxText.text} characters` }])
      search.set(name, value)
    }
    if (definition.schema.fields.some((field) => isSigned(field) && values[field.key]))
      search.set(signatureParam, macOf(secrets, form.id, definition, values).toString('base64url'))
    const text = search.toString()
    return { url: `${formsUrl}/f/${form.publicId}${text === '' ? '' : `?${text}`}` }
  }
}
