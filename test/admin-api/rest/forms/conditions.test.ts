/** Conditions of forms by REST, with empty and with equal answers. */
import test from '#test'
import { operatorsOf, withCount, withList, withoutValue } from '#core/forms/definition/conditions.ts'
import type { Operator } from '#core/forms/definition/definition.ts'
import { errorOf } from '../fixture/rest-fixture.ts'
import { formFixture } from './visitor.ts'

type Row = Readonly<Record<string, unknown>>
type Holds = readonly [empty: boolean, equal: boolean]

/** By operator: whether a condition holds for an empty answer, and for an answer that equals its value. */
const table: Readonly<Record<Operator, Holds>> = {
  ...{ eq: [false, true], ne: [true, false], in: [false, true], not_in: [true, false] },
  ...{ contains: [false, true], not_contains: [true, false], starts_with: [false, true], ends_with: [false, true] },
  ...{ gt: [false, false], gte: [false, true], lt: [false, false], lte: [false, true], before: [false, false], after: [false, false] },
  ...{ is_empty: [true, false], not_empty: [false, true], checked: [false, true], unchecked: [true, false] },
  ...{ count_gte: [false, true], count_lte: [true, true] },
}

const options = ['a', 'b'].map((value) => ({ value, label: value }))
/** By kind of value: a field, and an answer. */
const kinds = {
  text: [{ type: 'text' }, 'Problem'],
  number: [{ type: 'number' }, 5],
  date: [{ type: 'date' }, '2030-01-20'],
  choice: [{ type: 'select', options }, 'a'],
  boolean: [{ type: 'checkbox' }, true],
  choices: [{ type: 'checkboxes', options }, ['a']],
} as const
const names = Object.keys(kinds) as (keyof typeof kinds)[]

/** Returns a form with a rule for each operator of each kind. A rule requires the field of the same name. */
function everyRule() {
  const fields: Row[] = [{ key: 'other', type: 'number', label: 'Other' }]
  const rules: Row[] = []
  const expected: readonly [empty: string[], equal: string[]] = [[], []]
  for (const name of names) fields.push({ key: name, label: name, ...kinds[name][0] })
  const rule = (id: string, when: Row, [empty, equal]: Holds): void => {
    fields.push({ key: id, type: 'text', label: id })
    rules.push({ id, when, then: [{ action: 'require', target: id }] })
    if (empty) expected[0].push(id)
    if (equal) expected[1].push(id)
  }
  for (const name of names)
    for (const op of operatorsOf[name]) {
      const [own] = [kinds[name][1]].flat()
      const value = withoutValue.has(op) ? {} : { value: withList.has(op) ? [own] : withCount.has(op) ? 1 : own }
      rule(`${name}_${op}`, { field: name, op, ...value }, table[op])
    }
  for (const op of ['eq', 'ne', 'gte'] as const) rule(`other_${op}`, { field: 'number', op, value: { field: 'other' } }, table[op])
  rule('not_eq', { not: { field: 'text', op: 'eq', value: 'Problem' } }, table.ne)
  return { fields, rules, expected }
}

test('conditions: an empty answer matches negated operators only', async (t) => {
  const { fields, rules, expected } = everyRule()
  const { send } = await formFixture(t, { schema: { version: 1, fields }, logic: { version: 1, rules } })
  const required = async (data: Row): Promise<readonly string[]> =>
    Object.keys(errorOf(await send(data)).details?.['fields'] as Row).toSorted()
  const equal = Object.fromEntries(names.map((name) => [name, kinds[name][1]]))
  t.deepEqual(await required({}), expected[0].toSorted())
  t.deepEqual(await required({ other: 5, ...equal }), expected[1].toSorted())
  t.true((await required(equal)).includes('other_ne'), 'the compared field is empty')
})
