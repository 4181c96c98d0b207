/** `readMessage()` compared with two other parsers on public mails. A listed rule must justify each difference. */
import { readFileSync } from 'node:fs'
import { testWith } from '../../../support/peers/peers.ts'
import { agree, comparedFields, type Comparable } from './comparable.ts'
import { publicMails } from './public-mails.ts'
import { ourReading, postalReading, pythonReadings } from './readers.ts'

const test = testWith('python')

/** A rule that justifies differences, and the affected fields as `mail: field`. */
interface Standing {
  readonly decides: string
  readonly because: string
  readonly fields: readonly string[]
}

const listed = new URL('../../../fixtures/mail/public/differences.json', import.meta.url)

test('readMessage() agrees with another parser on each field, except by listed rules', async (t) => {
  const mails = publicMails()
  t.true(mails.length > 1500)
  const python = await pythonReadings(mails.map(({ octets }) => octets))
  const found: string[] = []
  let fields = 0
  for (const [at, { name, octets }] of mails.entries()) {
    const others = [await postalReading(octets), python[at]].filter((one) => one !== undefined)
    const different = differences(await ourReading(octets), others)
    found.push(...different.map((field) => `${name}: ${field}`))
    fields += comparedFields.length
  }
  const { differences: standing } = JSON.parse(readFileSync(listed, 'utf8')) as { readonly differences: readonly Standing[] }
  t.log(`${mails.length} mails, ${fields} fields, ${found.length} differences`)
  t.deepEqual(found.toSorted(), standing.flatMap((rule) => rule.fields).toSorted())
})

/** The fields where both other parsers disagree with `readMessage()`. */
const differences = (ours: Comparable, others: readonly Comparable[]): string[] =>
  comparedFields.filter((field) => !others.some((other) => agree(field, ours[field], other[field])))
