/** Values in the findings of all checks for members: texts find their values, names of times end in `At`, and no value is an address. */
import test from '#test'
import { findingText } from '#core/findings/finding-text.ts'
import { factsOf, findingKinds } from '#core/findings/kinds.ts'
import { column } from '../../support/column.ts'
import { checkedFindings } from './checked.ts'

test('checks: each kind for members has its texts from the values of its check', (t) => {
  const members = findingKinds.filter((kind) => factsOf(kind).audience !== 'operator')
  t.deepEqual([...new Set(column(checkedFindings, 'kind'))].toSorted(), members.toSorted())
  for (const finding of checkedFindings) for (const text of Object.values(findingText(finding))) t.regex(text, /^\S.*\S$/, finding.kind)
})

test('checks: names of times end in At, and no value is a mail address', (t) => {
  for (const { kind, params } of checkedFindings)
    for (const [name, value] of Object.entries(params)) {
      const isTime = typeof value === 'number' && value > Date.UTC(2020)
      t.true(!isTime || name.endsWith('At'), `${kind}: ${name} is ${value}`)
      t.false(String(value).includes('@'), `${kind}: ${name} is ${value}`)
    }
})
