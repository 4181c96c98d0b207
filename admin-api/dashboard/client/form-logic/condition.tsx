/** Editor of a condition as a sentence of chips. Each chip is a list or a field for its part. */
import type { ComponentChildren, JSX } from 'preact'
import { operatorsOf, withCount, withList, withoutValue } from '#core/forms/definition/conditions.ts'
import { isDateType } from '#core/forms/definition/dates.ts'
import { definitionLimits, type Comparison, type Condition, type Field, type Operator } from '#core/forms/definition/definition.ts'
import { valueKinds } from '#core/forms/definition/field-properties.ts'
import { titleOf } from '../form-fields/field-kinds.ts'
import { Icon } from '../parts/icon.tsx'
import { plain } from '../parts/safe-text.tsx'
import { texts } from './logic-texts.ts'

/** Whether the field has an answer that a condition can test. */
export const isLookedAt = ({ type }: Field): boolean => operatorsOf[valueKinds[type]].length > 0

/** Returns the initial condition for a field. */
export function firstOf(field: Field): Comparison {
  const kind = valueKinds[field.type]
  const usual: Partial<Record<typeof kind, Operator>> = { text: 'not_empty', date: 'not_empty', number: 'gte', choices: 'contains' }
  return withOperator(field, usual[kind] ?? operatorsOf[kind][0] ?? 'not_empty')
}

function withOperator({ key, type, options, min }: Field, op: Operator): Comparison {
  if (withoutValue.has(op)) return { field: key, op }
  const [first] = options ?? []
  if (withList.has(op)) return { field: key, op, value: first ? [first.value] : valueKinds[type] === 'number' ? [1] : ['…'] }
  if (withCount.has(op)) return { field: key, op, value: 1 }
  if (valueKinds[type] === 'number') return { field: key, op, value: typeof min === 'number' ? min : 1 }
  if (isDateType(type)) return { field: key, op, value: { date: '2026-12-31', time: '12:00', datetime: '2026-12-31T12:00' }[type] }
  return { field: key, op, value: first?.value ?? '…' }
}

interface ConditionProps {
  readonly condition: Condition
  /** Fields that the condition may test. */
  readonly fields: readonly Field[]
  readonly onChange: (condition: Condition) => void
  /** Undefined if the condition is required. */
  readonly onRemove?: (() => void) | undefined
  readonly depth?: number
}

export function ConditionChips(props: ConditionProps): JSX.Element {
  const { condition, fields, onChange, onRemove, depth = 1 } = props
  const w = texts()
  if ('not' in condition)
    return (
      <>
        <span class="chip-word">{w.not}</span>
        <ConditionChips
          condition={condition.not}
          fields={fields}
          onChange={(not) => onChange({ not })}
          onRemove={onRemove}
          depth={depth + 1}
        />
      </>
    )
  if ('all' in condition || 'any' in condition) return <Group {...props} />
  const [first] = fields
  return (
    <>
      <ComparisonChips comparison={condition} fields={fields} onChange={onChange} />
      {onRemove && <Remove onRemove={onRemove} />}
      {depth === 1 && first && (
        <AddCondition onAdd={() => onChange({ all: [condition, firstOf(fields.find(({ key }) => key === condition.field) ?? first)] })} />
      )}
    </>
  )
}

function Group({ condition, fields, onChange, onRemove, depth = 1 }: ConditionProps): JSX.Element {
  const w = texts()
  const isAll = 'all' in condition
  const parts = isAll ? condition.all : 'any' in condition ? condition.any : []
  const put = (next: readonly Condition[], all = isAll): void => {
    const [single] = next
    if (next.length === 1 && single) onChange(single)
    else onChange(all ? { all: next } : { any: next })
  }
  const [first] = fields
  return (
    <>
      <Chip label={w.groupOf} value={isAll ? 'all' : 'any'} onChange={(next) => put(parts, next === 'all')} kind="plain">
        <option value="all">{w.all}</option>
        <option value="any">{w.any}</option>
      </Chip>
      {parts.map((part, at) => (
        <span class="chip-group" key={at}>
          {at > 0 && <span class="chip-word">{isAll ? w.and : w.or}</span>}
          <ConditionChips
            condition={part}
            fields={fields}
            depth={depth + 1}
            onChange={(next) => put(parts.with(at, next))}
            onRemove={parts.length > 1 ? () => put(parts.toSpliced(at, 1)) : undefined}
          />
        </span>
      ))}
      {first && parts.length < definitionLimits.conditions && <AddCondition onAdd={() => put([...parts, firstOf(first)])} />}
      {onRemove && <Remove onRemove={onRemove} />}
    </>
  )
}

interface ChipProps {
  readonly label: string
  readonly value: string
  readonly onChange: (value: string) => void
  readonly kind: 'question' | 'plain' | 'action'
  readonly children: ComponentChildren
}

export const Chip = ({ label, value, onChange, kind, children }: ChipProps): JSX.Element => (
  <select class={`chip ${kind}`} aria-label={label} value={value} onChange={(event) => onChange(event.currentTarget.value)}>
    {children}
  </select>
)

const AddCondition = ({ onAdd }: { readonly onAdd: () => void }): JSX.Element => (
  <button type="button" class="button quiet small" onClick={onAdd}>
    <Icon name="plus" />
    {texts().addCondition}
  </button>
)

const Remove = ({ onRemove }: { readonly onRemove: () => void }): JSX.Element => (
  <button type="button" class="button quiet square small" aria-label={texts().remove} title={texts().remove} onClick={onRemove}>
    <Icon name="close" />
  </button>
)

interface ComparisonProps {
  readonly comparison: Comparison
  readonly fields: readonly Field[]
  readonly onChange: (comparison: Comparison) => void
}

function ComparisonChips({ comparison, fields, onChange }: ComparisonProps): JSX.Element {
  const w = texts()
  const field = fields.find(({ key }) => key === comparison.field)
  const operators = field ? operatorsOf[valueKinds[field.type]] : [comparison.op]
  return (
    <>
      <Chip
        label={w.question}
        kind="question"
        value={comparison.field}
        onChange={(key) => {
          const next = fields.find((one) => one.key === key)
          if (next) onChange(firstOf(next))
        }}
      >
        {!field && <option value={comparison.field}>{comparison.field}</option>}
        {fields.map((one) => (
          <option key={one.key} value={one.key}>
            {plain(titleOf(one))}
          </option>
        ))}
      </Chip>
      <Chip label={w.operator} kind="plain" value={comparison.op} onChange={(op) => field && onChange(withOperator(field, op as Operator))}>
        {operators.map((op) => (
          <option key={op} value={op}>
            {w.operators[op]}
          </option>
        ))}
      </Chip>
      {field && !withoutValue.has(comparison.op) && <ValueChip field={field} comparison={comparison} onChange={onChange} fields={fields} />}
    </>
  )
}

const inputTypes: Readonly<Record<string, string>> = { date: 'date', time: 'time', datetime: 'datetime-local' }

function ValueChip({ field, comparison, fields, onChange }: ComparisonProps & { readonly field: Field }): JSX.Element {
  const w = texts()
  const { op, value } = comparison
  const put = (next: NonNullable<Comparison['value']>): void => onChange({ ...comparison, value: next })
  if (typeof value === 'object' && 'field' in value) {
    const other = fields.find(({ key }) => key === value.field)
    return <span class="chip-word">{w.answerTo({ name: plain(other ? titleOf(other) : value.field) })}</span>
  }
  const isNumber = withCount.has(op) || valueKinds[field.type] === 'number'
  if (withList.has(op)) {
    const list = (Array.isArray(value) ? value : [value]).map(String)
    return (
      <input
        class="chip plain"
        aria-label={w.values}
        value={list.join(', ')}
        onChange={(event) => {
          const parts = event.currentTarget.value.split(',').map((one) => one.trim())
          const given = parts.filter((one) => one !== '')
          put(isNumber ? given.map(Number).filter((one) => !Number.isNaN(one)) : given)
        }}
      />
    )
  }
  if (field.options && !isNumber)
    return (
      <Chip label={w.value} kind="plain" value={String(value)} onChange={put}>
        {field.options.map((option) => (
          <option key={option.value} value={option.value}>
            {plain(option.label.split('\n')[0] ?? '')}
          </option>
        ))}
      </Chip>
    )
  return (
    <input
      class="chip plain"
      aria-label={w.value}
      {...({ type: isNumber ? 'number' : (inputTypes[field.type] ?? 'text') } as { type: 'text' })}
      value={String(value ?? '')}
      onChange={(event) => {
        const typed = event.currentTarget.value
        if (typed !== '') put(isNumber ? Number(typed) : typed)
      }}
    />
  )
}
