/** Address fields for display. */
import test from '#test'
import { addressList } from '#ingest/mime/address-list.ts'
import { growsLinearly } from '../../support/measure/growth.ts'

const cases: readonly (readonly [string, string, readonly (readonly [string, string])[]])[] = [
  ['reads a bare address', 'a@x.example', [['a@x.example', '']]],
  ['reads a name', 'Jane Doe <a@x.example>', [['a@x.example', 'Jane Doe']]],
  ['reads a quoted name with a comma', '"Doe, \\"J\\"" <a@x.example>', [['a@x.example', 'Doe, "J"']]],
  ['decodes a name', '=?utf-8?q?J=C3=B6?= <a@x.example>', [['a@x.example', 'Jö']]],
  ['takes a comment for the name', 'a@x.example (Jane (work))', [['a@x.example', 'Jane (work)']]],
  [
    'reads several',
    'a@x.example, B <b@x.example>,,c@x.example',
    [
      ['a@x.example', ''],
      ['b@x.example', 'B'],
      ['c@x.example', ''],
    ],
  ],
  [
    'reads the members of a group',
    'Team: a@x.example, b@x.example;',
    [
      ['a@x.example', ''],
      ['b@x.example', ''],
    ],
  ],
  ['reads a name and an address without brackets', 'Ana Muster ana.muster@x.example', [['ana.muster@x.example', 'Ana Muster']]],
  ['reads an address before a name', 'ana@x.example\t"Muster, Ana" (x)', [['ana@x.example', 'Muster, Ana']]],
  ['reads an encoded name without brackets', '=?utf-8?q?J=C3=B6@y?= a@x.example', [['a@x.example', 'Jö@y']]],
  [
    'reads addresses without commas',
    'a@x.example b@x.example',
    [
      ['a@x.example', ''],
      ['b@x.example', ''],
    ],
  ],
  [
    'reads names and addresses without commas',
    'Ana <a@x.example> "B, Bo" <b@x.example><c@x.example> C',
    [
      ['a@x.example', 'Ana'],
      ['b@x.example', 'B, Bo'],
      ['c@x.example', 'C'],
    ],
  ],
  ['does not join words at a dot', 'Mr. A a@x.example', [['a@x.example', 'Mr. A']]],
  ['drops comments in brackets', 'Pete <pete(his account)@silly.test(his "host")>', [['pete@silly.test', 'Pete']]],
  [
    'drops blanks around dots',
    'Mary < mary @ x.test  . example >, jdoe@test   . example',
    [
      ['mary@x.test.example', 'Mary'],
      ['jdoe@test.example', ''],
    ],
  ],
  ['does not make addresses of quoted addresses', '"a@x.example b@x.example"', [['', 'a@x.example b@x.example']]],
  ['drops a route', 'A <@relay.example,@b.example:ana@x.example>', [['ana@x.example', 'A']]],
  ['does not make an address of quoted words', '"Ana ana@x.example" B', [['', 'Ana ana@x.example B']]],
  ['reads an empty group', 'undisclosed-recipients:;', []],
  ['keeps an entry without an address', 'Nobody', [['', 'Nobody']]],
  ['keeps the empty reverse-path', 'Mailer <>', [['', 'Mailer']]],
  ['does not make an address of an encoded word', '=?utf-8?q?evil=40x.example?=', [['', 'evil@x.example']]],
  ['does not take two addresses for one', '<a@x.example b@x.example>', [['', '']]],
  ['survives an open quotation', '"Jane <a@x.example>', [['', 'Jane <a@x.example>']]],
  ['answers nothing for nothing', '', []],
]

for (const [criterion, input, expected] of cases) {
  test(`addressList() ${criterion}`, (t) => {
    t.deepEqual(
      addressList(input),
      expected.map(([address, name]) => ({ address, name })),
    )
  })
}

test('addressList() stops after 1,000 entries and is linear', (t) => {
  t.is(addressList('a@x.example,'.repeat(5000)).length, 1000)
  for (const unit of ['(', '<', '"', ',', ':', ';', '\\', '"a" <', 'a:', 'a@b ', '<@a:', 'a . ', '<a ( ', '<"']) {
    t.true(
      growsLinearly((size) => addressList(unit.repeat(Math.ceil(size / unit.length)))),
      unit,
    )
  }
})
