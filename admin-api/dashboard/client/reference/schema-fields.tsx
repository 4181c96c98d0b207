/** Fields of a schema: name, type, requirement, limits, and nested fields on demand. */
import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import { nameOf, resolved, type Schema, type Schemas } from './document.ts'
import { MarkedText } from './marked-text.tsx'
import { texts } from './reference-texts.ts'

interface FieldsProps {
  readonly schema: Schema
  readonly schemas: Schemas
  /** Whether the schema belongs to a response. Responses do not mark required fields. */
  readonly isAnswer?: boolean
}

export function Fields({ schema, schemas, isAnswer = false }: FieldsProps): JSX.Element {
  const whole = resolved(schema, schemas)
  const choices = choicesOf(whole)
  if (choices.length > 1)
    return (
      <ul class="fields">
        {choices.map((choice) => (
          <li>
            <p class="field-head">
              <TypeText schema={choice} />
            </p>
            <Limits schema={resolved(choice, schemas)} />
            <Inside schema={choice} schemas={schemas} isAnswer={isAnswer} label={typeText(choice)} />
          </li>
        ))}
      </ul>
    )
  const list = resolved(whole.type === 'array' && whole.items ? whole.items : (choices[0] ?? whole), schemas)
  const { properties = {}, required = [] } = list
  return (
    <ul class="fields">
      {Object.entries(properties).map(([name, field]) => (
        <FieldRow
          key={name}
          name={name}
          schema={field}
          schemas={schemas}
          isAnswer={isAnswer}
          isRequired={!isAnswer && required.includes(name)}
        />
      ))}
      {typeof list.additionalProperties === 'object' && (
        <FieldRow name="*" schema={list.additionalProperties} schemas={schemas} isAnswer={isAnswer} isRequired={false} />
      )}
    </ul>
  )
}

interface FieldRowProps extends FieldsProps {
  readonly name: string
  readonly isRequired: boolean
}

/** A field or a path or query parameter. */
export function FieldRow({ name, schema, schemas, isRequired, isAnswer = false }: FieldRowProps): JSX.Element {
  const whole = resolved(schema, schemas)
  return (
    <li>
      <p class="field-head">
        <code class="name">{name}</code> <TypeText schema={schema} />
        {isRequired && <span class="tag">{texts().required}</span>}
      </p>
      {whole.description !== undefined && <MarkedText text={whole.description} />}
      <Limits schema={whole} />
      <Inside schema={schema} schemas={schemas} isAnswer={isAnswer} label={name} />
    </li>
  )
}

const choicesOf = ({ anyOf, oneOf }: Schema): readonly Schema[] => (anyOf ?? oneOf ?? []).filter(({ type }) => type !== 'null')

/** Whether the schema contains fields, also within lists. */
function isDeep(schema: Schema, schemas: Schemas): boolean {
  const whole = resolved(schema, schemas)
  if (choicesOf(whole).some((choice) => isDeep(choice, schemas))) return true
  if (whole.items) return isDeep(whole.items, schemas)
  return Object.keys(whole.properties ?? {}).length > 0
}

function Inside({ schema, schemas, isAnswer = false, label }: FieldsProps & { readonly label: string }): JSX.Element | null {
  const [isOpen, setOpen] = useState(false)
  if (!isDeep(schema, schemas)) return null
  return (
    <>
      <button class="as-link inside-button" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
        {isOpen ? texts().hideFields({ name: label }) : texts().showFields({ name: label })}
      </button>
      {isOpen && <Fields schema={schema} schemas={schemas} isAnswer={isAnswer} />}
    </>
  )
}

function typeText(schema: Schema): string {
  if (schema.$ref !== undefined) return nameOf(schema.$ref)
  const { type, items, format } = schema
  const choices = [...(schema.anyOf ?? []), ...(schema.oneOf ?? [])]
  if (choices.length > 0) return [...new Set(choices.map((choice) => typeText(choice)))].join(' | ')
  if ('const' in schema) return JSON.stringify(schema.const)
  if (type === 'array') {
    const inner = items ? typeText(items) : 'any'
    return /[ |]/.test(inner) ? `(${inner})[]` : `${inner}[]`
  }
  const word = typeof type === 'string' ? type : (type?.join(' | ') ?? (schema.properties ? 'object' : 'any'))
  return format === undefined || format === 'binary' ? word : `${word}, ${format}`
}

const TypeText = ({ schema }: Pick<FieldsProps, 'schema'>): JSX.Element => <span class="type">{typeText(schema)}</span>

const maxPattern = 60

function Limits({ schema }: { readonly schema: Schema }): JSX.Element | null {
  const w = texts()
  const { enum: values, default: usual, minLength, maxLength, minimum, maximum, minItems, maxItems, pattern = '' } = schema
  const range = (low: number | undefined, high: number | undefined): string | undefined => {
    if (low === undefined && high === undefined) return undefined
    return low === undefined ? `≤ ${String(high)}` : high === undefined ? `≥ ${String(low)}` : `${String(low)}–${String(high)}`
  }
  const facts = [
    [w.value, range(minimum, maximum)],
    [w.characters, range(minLength || undefined, maxLength)],
    [w.entries, range(minItems || undefined, maxItems)],
    [w.pattern, pattern !== '' && pattern.length <= maxPattern ? pattern : undefined],
    [w.byDefault, usual === undefined ? undefined : JSON.stringify(usual)],
  ].filter((fact): fact is [string, string] => fact[1] !== undefined)
  if (facts.length === 0 && !values) return null
  return (
    <div class="limits">
      {values && (
        <p>
          {w.oneOf}{' '}
          {values.map((value, i) => (
            <>
              {i > 0 && ' '}
              <code class="tag">{String(value)}</code>
            </>
          ))}
        </p>
      )}
      {facts.length > 0 && (
        <p>
          {facts.map(([name, value], i) => (
            <span key={name}>
              {i > 0 && ' · '}
              {name} <code>{value}</code>
            </span>
          ))}
        </p>
      )}
    </div>
  )
}
