/** Outline of the fields in reading order, with buttons to select, move, duplicate and delete. */
import type { JSX } from 'preact'
import { useRef, useState } from 'preact/hooks'
import type { Field } from '#core/forms/definition/definition.ts'
import { pagesOf } from '#core/forms/definition/layout.ts'
import { mayChange } from '../app/permissions.ts'
import { Icon, type IconName } from '../parts/icon.tsx'
import { Mark } from '../parts/mark.tsx'
import { SafeText, plain } from '../parts/safe-text.tsx'
import type { Editing } from '../forms/use-draft.ts'
import { choose, type FieldActions } from './actions.ts'
import { texts } from './designer-texts.ts'
import { dragged, dragging, dropBefore } from './dragging.ts'
import { signs, titleOf } from '../form-fields/field-kinds.ts'
import { keysByRow } from './rows.ts'

interface OutlineProps {
  readonly editing: Editing
  readonly actions: FieldActions
  readonly chosen: Field | undefined
}

export function Outline({ editing: { definition, check }, actions, chosen }: OutlineProps): JSX.Element {
  const w = texts()
  const list = useRef<HTMLOListElement>(null)
  const [drop, setDrop] = useState<number>()
  const { schema, logic } = definition
  const byKey = new Map(schema.fields.map((field) => [field.key, field]))
  const ruled = new Set(logic.rules.flatMap(({ then }) => then.map(({ target }) => target)))
  const pageOf = new Map(pagesOf(schema).flatMap(({ start, number }) => (start ? [[start.key, number] as const] : [])))
  const wrong = new Map<string, number>()
  for (const { path } of check.errors) {
    const field = schema.fields[Number(/^schema\.fields\[(\d+)\]/.exec(path)?.[1] ?? -1)]
    if (field) wrong.set(field.key, (wrong.get(field.key) ?? 0) + 1)
  }
  const walk = (event: KeyboardEvent): void => {
    const step = event.altKey ? 0 : event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0
    if (step === 0) return
    event.preventDefault()
    const buttons = [...(list.current?.querySelectorAll<HTMLButtonElement>('button.field-name') ?? [])]
    const next = buttons[buttons.findIndex((one) => one === document.activeElement) + step]
    next?.focus()
    if (next?.dataset['key'] !== undefined) choose(next.dataset['key'])
  }
  return (
    <ol class="outline" ref={list} aria-label={w.fieldsAndNew} onKeyDown={walk}>
      {keysByRow(schema).map((keys, row) => (
        <li
          key={keys.join()}
          class={drop === row ? 'drop-before' : drop === row + 1 ? 'drop-behind' : ''}
          onDragOver={(event) => {
            if (!dragged.value) return
            event.preventDefault()
            const { top, height } = event.currentTarget.getBoundingClientRect()
            setDrop(event.clientY > top + height / 2 ? row + 1 : row)
          }}
          onDragLeave={() => setDrop(undefined)}
          onDrop={(event) => {
            event.preventDefault()
            if (drop !== undefined) dropBefore(actions, drop)
            setDrop(undefined)
          }}
        >
          {keys.flatMap((key) => {
            const field = byKey.get(key)
            if (!field) return []
            const facts = [
              ...(field.required ? [w.needed] : []),
              ...(ruled.has(key) ? [w.conditional] : []),
              ...(keys.length > 1 ? [w.inRow({ at: keys.indexOf(key) + 1, count: keys.length })] : []),
            ]
            const is = { isChosen: chosen?.key === key, page: pageOf.get(key), wrong: wrong.get(key) }
            return [<Outlined key={key} field={field} facts={facts} {...is} actions={actions} />]
          })}
        </li>
      ))}
    </ol>
  )
}

interface OutlinedProps {
  readonly field: Field
  readonly facts: readonly string[]
  readonly isChosen: boolean
  /** Number of the page that starts with this field. */
  readonly page: number | undefined
  /** Number of errors in the field. */
  readonly wrong: number | undefined
  readonly actions: FieldActions
}

function Outlined({ field, facts, isChosen, page, wrong, actions }: OutlinedProps): JSX.Element {
  const w = texts()
  const { key, type } = field
  return (
    <div class={`outlined ${type}${isChosen ? ' chosen' : ''}`} {...(mayChange.value && dragging({ key }))}>
      <button type="button" class="field-name" data-key={key} aria-pressed={isChosen} onClick={() => choose(key)}>
        <span class="sign" aria-hidden="true">
          {signs[type]}
        </span>
        <span class="cut">
          {page !== undefined && <b>{w.step({ n: page })}: </b>}
          <SafeText text={titleOf(field)} />
        </span>
        <span class="hidden">{w.types[type]}</span>
        {wrong !== undefined && (
          <span class="wrong-mark" title={w.problems({ count: wrong })}>
            <Mark name="warning" />
            <span class="hidden">{w.problems({ count: wrong })}</span>
          </span>
        )}
        {facts.length > 0 && <small>{facts.join(' · ')}</small>}
      </button>
      {isChosen && mayChange.value && <Tools field={field} actions={actions} />}
    </div>
  )
}

/** Action buttons of a field. Each label contains the field name. */
export function Tools({ field, actions }: { readonly field: Field; readonly actions: FieldActions }): JSX.Element {
  const w = texts()
  const { key } = field
  const tools: readonly (readonly [IconName, string, () => void])[] = [
    ['up', w.moveUp, () => actions.move(key, -1)],
    ['down', w.moveDown, () => actions.move(key, 1)],
    ['copy', w.duplicate, () => actions.duplicate(key)],
    ['trash', w.remove, () => actions.remove(key)],
  ]
  const name = plain(titleOf(field))
  return (
    <div class="field-tools">
      {tools.map(([icon, label, run]) => (
        <button key={icon} type="button" class="button quiet square small" aria-label={`${label}: ${name}`} title={label} onClick={run}>
          <Icon name={icon} />
        </button>
      ))}
    </div>
  )
}
