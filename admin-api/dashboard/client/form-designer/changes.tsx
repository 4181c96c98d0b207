/** Differences between two form definitions as text: additions, changes and removals. */
import type { JSX } from 'preact'
import { diffDefinitions, type DefinitionChange } from '#core/forms/definition/diff.ts'
import type { Definition, Field } from '#core/forms/definition/definition.ts'
import { texts as fieldTexts } from './designer-texts.ts'
import { titleOf } from '../form-fields/field-kinds.ts'
import { SafeText } from '../parts/safe-text.tsx'
import { texts } from './changes-texts.ts'

type Kind = DefinitionChange['kind']

/** Changes of one field or part. */
interface Group {
  readonly name: string
  readonly kind: Kind
  readonly changes: readonly DefinitionChange[]
}

const signs: Readonly<Record<Kind, string>> = { added: '+', removed: '−', changed: '~', moved: '↕' }

export function Changes({ before, after }: { readonly before: Definition; readonly after: Definition }): JSX.Element {
  const w = texts()
  const groups = groupsOf(diffDefinitions(before, after), before, after)
  if (groups.length === 0) return <p class="faint">{w.same}</p>
  return (
    <ul class="definition-changes">
      {groups.map(({ name, kind, changes }) => (
        <li key={`${kind} ${name}`}>
          <span class={`change-kind ${kind}`}>
            <i aria-hidden="true">{signs[kind]}</i>
            {w.kinds[kind]}
          </span>
          <div>
            <b>
              <SafeText text={name} />
            </b>
            {kind === 'removed' && <p class="faint">{w.answersStay}</p>}
            {kind === 'changed' && (
              <dl class="facts">
                {changes.map((change) => (
                  <Line key={change.path} change={change} />
                ))}
              </dl>
            )}
          </div>
        </li>
      ))}
    </ul>
  )
}

function Line({ change: { path, kind, before, after } }: { readonly change: DefinitionChange }): JSX.Element {
  return (
    <>
      <dt>{nameOf(path)}</dt>
      <dd>
        {kind === 'moved' ? (
          texts().moved({ from: Number(before), to: Number(after) })
        ) : (
          <>
            {before !== undefined && (
              <del>
                <SafeText text={shown(before)} />
              </del>
            )}{' '}
            {after !== undefined && (
              <ins>
                <SafeText text={shown(after)} />
              </ins>
            )}
          </>
        )}
      </dd>
    </>
  )
}

/** Shows options by their labels and rows by their fields. */
function asText(value: unknown): string {
  if (typeof value === 'string') return value
  if (Array.isArray(value)) return value.map(asText).join(', ')
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  if ('label' in value) return asText(value.label)
  return 'fields' in value && Array.isArray(value.fields) ? value.fields.map(asText).join(' + ') : JSON.stringify(value)
}

function shown(value: unknown): string {
  const text = asText(value)
  const short = text.length > 160 ? `${text.slice(0, 160)}…` : text
  return short === '' ? '“”' : short
}

/** Groups changes by field, and all others by part of the definition. */
function groupsOf(changes: readonly DefinitionChange[], before: Definition, after: Definition): readonly Group[] {
  const w = texts()
  const fields = new Map<string, Field>([...before.schema.fields, ...after.schema.fields].map((field) => [field.key, field]))
  const groups = new Map<string, Group>()
  for (const change of changes) {
    const [part = '', key = ''] = change.path.split('.')
    const isField = part === 'fields'
    const isWhole = isField && change.path === `fields.${key}`
    const kind: Kind = isField ? (isWhole && change.kind !== 'moved' ? change.kind : 'changed') : 'changed'
    const name = isField ? titleOf(fields.get(key) ?? { key, type: 'text' }) : w.parts[partOf(part)]
    const id = isField ? `${kind} ${key}` : part
    const group = groups.get(id) ?? { name, kind, changes: [] }
    groups.set(id, { ...group, changes: [...group.changes, change] })
  }
  return [...groups.values()]
}

type PartName = keyof ReturnType<typeof texts>['parts']

const partOf = (part: string): PartName => (Object.hasOwn(texts().parts, part) ? (part as PartName) : 'settings')

/** Returns the translated name of the last path segment, or the segment itself. */
function nameOf(path: string): string {
  const w = texts()
  const [part = '', , ...rest] = path.split('.')
  const last = (part === 'fields' ? rest.join('.') : path.split('.').slice(1).join('.')) || part
  const { property } = fieldTexts()
  if (part === 'fields')
    return last === part || last === '' ? w.place : Object.hasOwn(property, last) ? property[last as keyof typeof property] : last
  return last
}
