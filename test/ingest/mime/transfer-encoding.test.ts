import test from '#test'
import { decodeBody, encodeBody } from '#ingest/mime/transfer-encoding.ts'
import { Seeded } from '../../support/seeded.ts'

const text = (body: Buffer | undefined): string | undefined => body?.toString('latin1')
const decoded = (body: string, encoding: string): string | undefined => text(decodeBody(Buffer.from(body, 'latin1'), encoding))
const encoded = (octets: string, encoding: string): readonly [string, string] => {
  const made = encodeBody(Buffer.from(octets, 'latin1'), encoding)
  return [made.body.toString('latin1'), made.encoding]
}

test('decodeBody() reads quoted-printable by RFC 2045 §6.7', (t) => {
  const qp = (body: string) => decoded(body, 'quoted-printable')
  t.is(qp('caf=C3=A9 =3d'), 'caf\u00c3\u00a9 =')
  t.is(qp('one=\r\ntwo= \t\r\nthree'), 'onetwothree')
  t.is(qp('blanks  \t\r\nend \t'), 'blanks\r\nend')
  t.is(qp('ends with='), 'ends with')
  t.is(qp(''), '')
  for (const broken of ['a=b', '=', 'x=4', 'x=4=\r\n1', '=\n', '= x', '=G1']) t.is(qp(broken), broken === '=' ? '' : undefined, broken)
})

test('decodeBody() decodes only complete base64', (t) => {
  const base64 = (body: string) => decoded(body, 'base64')
  t.is(base64('SGVs\r\nbG8=\r\n'), 'Hello')
  t.is(base64(''), '')
  for (const broken of ['SGVsbG8', 'SGVs!bG8=', 'SGVsbG8=\r\n-- \r\nfooter', 'SGV=bG8=', 'SGVsbG8==='])
    t.is(base64(broken), undefined, broken)
})

test('decodeBody() keeps identity encodings and refuses unknown encodings', (t) => {
  for (const encoding of ['7bit', '8bit', 'binary']) t.is(decoded('a=41\u00fc', encoding), 'a=41\u00fc')
  for (const encoding of ['x-uuencode', '', 'utf-8']) t.is(decoded('a', encoding), undefined)
})

test('encodeBody() keeps the encoding unless lines are too long', (t) => {
  t.deepEqual(encoded('a\u00fc\r\n', '8bit'), ['a\u00fc\r\n', '8bit'])
  t.deepEqual(encoded('x'.repeat(998), '7bit'), ['x'.repeat(998), '7bit'])
  t.is(encoded(`${'x'.repeat(999)}\r\n`, '7bit')[1], 'quoted-printable')
  t.is(encoded(`short\r\n${'x'.repeat(999)}`, '8bit')[1], 'quoted-printable')
  t.deepEqual(encoded('Hello', 'base64'), ['SGVsbG8=', 'base64'])
})

test('encodeBody() writes quoted-printable of at most 76 characters a line', (t) => {
  t.deepEqual(encoded('a = b \r\n\tc\t\r\n\r\nd\re\nf', 'quoted-printable')[0], 'a =3D b=20\r\n\tc=09\r\n\r\nd=0De=0Af')
  t.is(encoded('x'.repeat(76), 'quoted-printable')[0], 'x'.repeat(76))
  t.is(encoded('x'.repeat(77), 'quoted-printable')[0], `${'x'.repeat(75)}=\r\nxx`)
  t.is(encoded(`${'x'.repeat(74)}==`, 'quoted-printable')[0], `${'x'.repeat(74)}=\r\n=3D=3D`)
})

test('encodeBody() and decodeBody() round-trip, with short lines of ASCII', (t) => {
  const seeded = new Seeded('encodings')
  const pieces = ['\r\n', ' ', '\t', '=', '\u00fc', '\r', '\n', 'x', 'word', '.', '=3D', 'y'.repeat(80), '\u0000']
  for (let round = 0; round < 1000; round++) {
    const octets = Array.from({ length: seeded.between(0, 60) }, () => seeded.pick(pieces)).join('')
    for (const encoding of ['quoted-printable', 'base64']) {
      const [body] = encoded(octets, encoding)
      t.is(decoded(body, encoding), octets)
      for (const line of body.split('\r\n')) t.true(line.length <= 76 && /^[\t -~]*$/.test(line), line)
    }
  }
})
