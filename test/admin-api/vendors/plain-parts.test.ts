/** The fast path for simple forms gives the result of the multipart parser, or none. */
import test from '#test'
import { readMultipart } from '../../../admin-api/bodies/multipart.ts'
import { plainParts } from '../../../admin-api/vendors/body/plain-parts.ts'
import { Seeded } from '../../support/seeded.ts'

type Entries = readonly (readonly [string, string])[]

const boundary = 'axios-1.19.0-boundary-x'
const contentType = `multipart/form-data; boundary=${boundary}`
const most = 5000

const formOf = (entries: Entries): string =>
  entries.map(([name, value]) => `--${boundary}\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`).join('') +
  `--${boundary}--\r\n`

/** Returns the parser's entries; undefined if it refuses the body. */
async function parsed(body: Buffer, type = contentType): Promise<Entries | undefined> {
  const limits = { fields: most, fieldBytes: 1e6, files: 5, fileBytes: 1e6, alwaysFields: new Set<string>() }
  const refuse = (): never => {
    throw new Error('refused')
  }
  try {
    return await readMultipart([body], type, limits, { file: refuse, filesBeyond: refuse, tooLong: refuse, broken: refuse })
  } catch {
    return undefined
  }
}

test('plain forms: parses forms of Node clients that contain only fields', async (t) => {
  const entries: Entries = [
    ...([
      ['from', '"Ada" <ada@example.ch>'],
      ['to', 'bob@example.net'],
      ['to', 'eva@example.net'],
      ['subject', 'Grüße 🎉\u2028'],
    ] as const),
    ...([
      ['text', ''],
      ['html', `<p>--${boundary}</p>\r\n\r\n--other\r\n`],
      ['h:X-Order', '4711'],
      ['o:tag', '\uFEFFnews'],
    ] as const),
  ]
  const body = Buffer.from(formOf(entries))
  t.deepEqual(plainParts(body, contentType, most), entries)
  t.deepEqual(await parsed(body), entries)
  const form = new FormData()
  for (const [name, value] of entries) form.append(name, value)
  const sent = new Response(form)
  const [type, octets] = [sent.headers.get('content-type') ?? '', Buffer.from(await sent.arrayBuffer())]
  t.truthy(plainParts(octets, type, most))
  t.deepEqual(plainParts(octets, type, most), await parsed(octets, type))
})

test('plain forms: all other forms go to the parser', (t) => {
  const [plain, other] = [formOf([['a', '1']]), (text: string) => plainParts(Buffer.from(text), contentType, most)]
  t.deepEqual(other(plain), [['a', '1']])
  t.deepEqual(plainParts(Buffer.from(plain), contentType.replace('; ', ';'), most), [['a', '1']])
  const bodies = [
    ...[plain.slice(0, -2).replace(/--$/, ''), `${plain}more`, `\r\n${plain}`, plain.replaceAll('\r\n', '\n'), ''],
    ...[plain.replace('name="a"', 'name=a'), plain.replace('name="a"', 'name="a"; filename="x"'), plain.replace('"a"', '"a\\"b"')],
    ...[
      plain.replace('\r\n\r\n', '\r\nContent-Type: text/plain\r\n\r\n'),
      plain.replace('Content-D', 'content-d'),
      plain.replace('"a"', '""'),
    ],
    ...[plain.replace('\r\n1', ''), formOf([['a', `\r\n--${boundary}x\r\n`]]), formOf([['ä', '1']]), formOf([['a'.repeat(200), '1']])],
    formOf(Array.from({ length: most + 1 }, () => ['a', ''] as const)),
  ]
  for (const body of bodies) t.is(other(body), undefined, JSON.stringify(body.slice(0, 300)))
  t.deepEqual(other(`--${boundary}--`), [], 'a form without parts')
  t.is(plainParts(Buffer.from(plain), `${contentType}; charset=utf-8`, most), undefined)
  t.is(plainParts(Buffer.from(plain), `multipart/form-data; boundary="${boundary}"`, most), undefined)
  t.is(other(formOf([['a', 'x'.repeat(300_000)]])), undefined, 'a long form does not block other requests')
})

test('plain forms: 3,000 damaged bodies give the result of the parser or none', async (t) => {
  const random = new Seeded(20_261_128)
  const scraps = [
    '\r\n',
    '--',
    `\r\n--${boundary}`,
    `--${boundary}--`,
    '"',
    '\0',
    'é',
    '\r\n\r\n',
    'Content-Disposition: form-data; name="b"',
    '\n',
    ' ',
  ]
  let read = 0
  for (let i = 0; i < 3000; i++) {
    const values = Array.from(
      { length: random.between(0, 3) },
      (_, at) => [`f${String(at)}`, random.pick(scraps).repeat(random.between(0, 2))] as const,
    )
    let text = formOf(values)
    for (let change = random.between(0, 2); change > 0; change--) {
      const at = random.between(0, text.length - 1)
      text = text.slice(0, at) + (random.chance(0.5) ? random.pick(scraps) : '') + text.slice(at + random.between(0, 2))
    }
    const body = Buffer.from(text)
    const plain = plainParts(body, contentType, most)
    if (plain === undefined) continue
    read++
    if (plain.length > 0) t.deepEqual(plain, await parsed(body), JSON.stringify(text))
  }
  t.true(read > 500, String(read))
})
