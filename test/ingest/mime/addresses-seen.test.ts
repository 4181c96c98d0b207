/** The addresses that a search for a message matches. */
import test from '#test'
import { AddressesSeen } from '#ingest/mime/addresses-seen.ts'
import { Seeded } from '../../support/seeded.ts'
import { growsLinearly } from '../../support/measure/growth.ts'

const inBody = (text: string): string[] => {
  const seen = new AddressesSeen()
  seen.addBody(text)
  return seen.sorted()
}
const inField = (name: string, value: string): string[] => {
  const seen = new AddressesSeen()
  seen.addField(name, value)
  return seen.sorted()
}

const bodies: readonly (readonly [string, string, readonly string[]])[] = [
  ['finds, folds and sorts', 'B@X.example and a@x.example, b@x.EXAMPLE.', ['a@x.example', 'b@x.example']],
  [
    'drops punctuation around',
    '(a@x.example). <b@x.example>; "c@x.example"! \'d@x.example\' *e@x.example* ...f@x.example...',
    [...['a@x.example', 'b@x.example', 'c@x.example', 'd@x.example', 'e@x.example', 'f@x.example']],
  ],
  ['keeps plus, dots and apostrophes', "first.last+tag@x.example o'brien@x.example", ['first.last+tag@x.example', "o'brien@x.example"]],
  ['finds mailto links', '<a href="mailto:a@x.example?cc=b@x.example&bcc=c@x.example">', ['a@x.example', 'b@x.example', 'c@x.example']],
  [
    'finds addresses in paths and query strings',
    'https://x.example/u/a@x.example?e=jane%40shop.example&x=1',
    ['a@x.example', 'jane@shop.example'],
  ],
  ['keeps both readings of a tagged return path', 'bounce=user@x.example', ['bounce=user@x.example', 'user@x.example']],
  ['converts international domains', 'a@Bücher.example', ['a@xn--bcher-kva.example']],
  ['finds addresses inside scripts without blanks', '联系bob@x.example。谢谢', ['bob@x.example', '联系bob@x.example']],
  ['takes no content id for an address', '<img src="cid:logo@x.example"> CID:b@x.example acid:c@x.example', ['c@x.example']],
  ['needs a dot in the domain', 'a@localhost me@home 3@4.50 @handle a@ @x.example', []],
  ['refuses what no mail system takes', 'a..b@x.example a@-x.example a@x..example a@1.2.3.4', []],
  ['answers nothing for nothing', '', []],
]

for (const [criterion, input, expected] of bodies) {
  test(`AddressesSeen.addBody() ${criterion}`, (t) => t.deepEqual(inBody(input), [...expected].toSorted()))
}

test('AddressesSeen.addField() reads address fields only', (t) => {
  for (const name of ['From', 'TO', 'cc', 'Bcc', 'Reply-To', 'Sender', 'Resent-To', 'Return-Path', 'Delivered-To', 'Errors-To']) {
    t.deepEqual(inField(name, '"x" <A@x.example>, b@localhost'), ['a@x.example', 'b@localhost'], name)
  }
  for (const name of ['Message-ID', 'References', 'In-Reply-To', 'Subject', 'Content-ID', 'DKIM-Signature', 'X-From']) {
    t.deepEqual(inField(name, '<a@x.example>'), [], name)
  }
})

test('AddressesSeen.addField() takes a local part whole', (t) => {
  t.deepEqual(inField('To', 'a/b=c@x.example'), ['a/b=c@x.example'])
  t.deepEqual(inField('To', "'a@x.example' <a@x.example>"), ['a@x.example'])
})

test('AddressesSeen respects the lengths of RFC 5321 §4.5.3.1', (t) => {
  t.deepEqual(inBody(`${'a'.repeat(64)}@x.example ${'b'.repeat(65)}@x.example`), [`${'a'.repeat(64)}@x.example`])
  t.deepEqual(inBody(`a@${'b'.repeat(64)}.example a@${'c.'.repeat(126)}example`), [])
})

test('AddressesSeen keeps the first 1,000', (t) => {
  const seen = new AddressesSeen()
  seen.addField('To', 'header@x.example')
  seen.addBody(Array.from({ length: 3000 }, (_, at) => `u${at}@x.example`).join(' '))
  const sorted = seen.sorted()
  t.is(sorted.length, 1000)
  t.true(sorted.includes('header@x.example') && sorted.includes('u998@x.example') && !sorted.includes('u999@x.example'))
})

test('AddressesSeen is linear on hostile text', (t) => {
  for (const unit of ['@', 'a@', 'a@a.', '.@', 'a.', 'é@é', '%40', `${'a'.repeat(64)}@`, `@${'a.'.repeat(120)}`]) {
    t.true(
      growsLinearly((size) => inBody(unit.repeat(Math.ceil(size / unit.length)))),
      unit,
    )
  }
})

test('AddressesSeen returns only well-formed, lower-case addresses', (t) => {
  const seeded = new Seeded('addresses seen')
  const pieces = ['@', 'a', 'B', '.', '-', '_', ' ', '<', '>', '=', '/', '%40', 'x.example', 'é', '联', '\ud800', '1', "'", '"', '\n']
  for (let round = 0; round < 3000; round += 1) {
    const text = Array.from({ length: seeded.between(1, 25) }, () => seeded.pick(pieces)).join('')
    for (const address of inBody(text)) {
      t.regex(address, /^[^@\s<>"]{1,64}@[a-z0-9_](?:[a-z0-9._-]*[a-z0-9_])?$/u, JSON.stringify(text))
      t.is(address, address.toLowerCase())
    }
  }
})
