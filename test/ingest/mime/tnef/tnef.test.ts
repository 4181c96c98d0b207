/** Outlook containers: files, bodies, embedded messages, and invalid input. */
import test from '#test'
import { unpackRtf } from '#ingest/mime/tnef/compressed-rtf.ts'
import { isTnef, openTnef } from '#ingest/mime/tnef/tnef.ts'
import { growsLinearly } from '../../../support/measure/growth.ts'
import { Seeded } from '../../../support/seeded.ts'
import { binary, embedded, packedRtf, text, tnef, type WrittenFile } from './tnef-writer.ts'

const file = (name: string, content: string): WrittenFile => ({
  ...{ title: Buffer.from('SHORT~1.TXT'), data: Buffer.from(content) },
  properties: [text(0x3707, name), text(0x370e, 'text/plain'), text(0x3712, 'part1@x.example'), [0x8001, 0x03, 7]],
})
const namesIn = (octets: Buffer): readonly (string | undefined)[] | undefined => openTnef(octets)?.files.map(({ filename }) => filename)

test('openTnef() gives each file its name, type, content id and octets', (t) => {
  const opened = openTnef(tnef([], [file('Müßig 報告.txt', 'seventeen octets!')]))
  t.false(opened?.isBroken)
  t.like(opened?.files[0], { filename: 'Müßig 報告.txt', contentType: 'text/plain', contentId: 'part1@x.example' })
  t.is(opened?.files[0]?.octets.toString(), 'seventeen octets!')
})

test('openTnef() reads names without Unicode in the code page of the container', (t) => {
  const title = (octets: readonly number[]): WrittenFile[] => [{ title: Buffer.from(octets), data: Buffer.alloc(1) }]
  t.deepEqual(namesIn(tnef([], title([0xfc, 0x2e, 0x74]))), ['ü.t'])
  t.deepEqual(namesIn(tnef([], title([0x8c, 0x8e, 0x2e, 0x74]), 932)), ['月.t'])
  t.deepEqual(namesIn(tnef([], title([0xe4, 0x2e, 0x74]), 28595)), ['ф.t'])
})

test('openTnef() decodes bodies, and offers RTF as a file', (t) => {
  const html = '<p>Grüezi</p>'
  const rtf = '{\\rtf1 Hello World}'
  const opened = openTnef(
    tnef([text(0x1000, 'Grüezi'), binary(0x1013, Buffer.from(html)), [0x3fde, 0x03, 65001], binary(0x1009, packedRtf(rtf))], []),
  )
  t.like(opened, { text: 'Grüezi', html, isBroken: false })
  t.like(opened?.files[0], { filename: 'message.rtf', contentType: 'application/rtf' })
  t.is(opened?.files[0]?.octets.toString(), rtf)
})

test('unpackRtf() copies from the window, also overlapping, and stops at its limit', (t) => {
  const header = (size: number, kind: string): Buffer => {
    const octets = Buffer.alloc(16)
    octets.writeUInt32LE(size, 4)
    octets.write(kind, 8, 'latin1')
    return octets
  }
  // the first reference copies "{\rtf1\ansi" from the initial window, the second one repeats "x"
  const packed = Buffer.of(0b0000_0101, 0x00, 0x09, 0x78, 0x0d, 0xaf)
  t.is(unpackRtf(Buffer.concat([header(40, 'LZFu'), packed]), 1000)?.toString(), `{\\rtf1\\ansix${'x'.repeat(17)}`)
  t.is(unpackRtf(Buffer.concat([header(40, 'LZFu'), packed]), 15)?.toString(), '{\\rtf1\\ansixxxx')
  t.is(unpackRtf(Buffer.concat([header(3, 'MELA'), Buffer.from('abcdef')]), 1000)?.toString(), 'abc')
  t.is(unpackRtf(header(0xffff_ffff, 'LZFu'), 1000)?.length, 0)
  t.is(unpackRtf(header(3, 'none'), 1000), undefined)
})

test('openTnef() lists the files and bodies of embedded messages, three levels deep', (t) => {
  const inner = (depth: number): Buffer =>
    tnef(
      [text(0x0037, `Level ${depth}`), text(0x1000, 'Text')],
      [file(`${depth}.txt`, 'x'), ...(depth < 5 ? [{ properties: [embedded(inner(depth + 1))] }] : [])],
    )
  const opened = openTnef(inner(1))
  t.deepEqual(
    opened?.files.map(({ filename }) => filename),
    ['1.txt', '2.txt', '3.txt', 'Level 3.txt', 'Level 2.txt'],
  )
  t.like(opened, { text: 'Text', isBroken: true })
})

test('openTnef() returns at most 200 files and reports missing files', (t) => {
  const opened = openTnef(
    tnef(
      [],
      Array.from({ length: 201 }, (_, i) => file(`${i}.txt`, 'x')),
    ),
  )
  t.deepEqual([opened?.files.length, opened?.isBroken], [200, true])
})

test('openTnef() ignores garbage and wrong checksums, keeps files before a cut', (t) => {
  const whole = tnef([], [file('a.txt', 'one'), file('b.txt', 'two')])
  t.like(openTnef(Buffer.concat([whole, Buffer.alloc(20)])), { isBroken: false })
  const wrong = Buffer.from(whole)
  wrong.writeUInt16LE(4711, wrong.length - 2)
  t.deepEqual(namesIn(wrong), ['a.txt', 'b.txt'])
  const cut = openTnef(whole.subarray(0, -80))
  t.deepEqual([cut?.isBroken, cut?.files[0]?.filename], [true, 'a.txt'])
  t.is(openTnef(Buffer.from('no container at all')), undefined)
  t.is(openTnef(Buffer.alloc(0)), undefined)
})

test('openTnef() never throws and returns only octets of the container', (t) => {
  const seeded = new Seeded('tnef')
  const below = (bound: number): number => seeded.between(0, bound - 1)
  const whole = tnef(
    [text(0x1000, 'Text'), binary(0x1009, packedRtf('{\\rtf1 x}'))],
    [file('a.txt', 'one'), { properties: [embedded(tnef([], [file('b.txt', 'two')]))] }],
  )
  for (let round = 0; round < 3000; round++) {
    const octets = Buffer.from(whole.subarray(0, round % 3 === 0 ? below(whole.length) : whole.length))
    for (let i = 0; i < 1 + (round % 4) && octets.length > 6; i++) octets[6 + below(octets.length - 6)] = below(256)
    const opened = openTnef(octets)
    for (const { octets: found, filename } of opened?.files ?? []) t.true(found.length <= octets.length * 9 || filename === 'message.rtf')
  }
})

test('isTnef() recognizes containers by type and by name', (t) => {
  for (const type of ['application/ms-tnef', 'Application/vnd.ms-TNEF']) t.true(isTnef(type, undefined))
  t.true(isTnef('application/octet-stream', 'WINMAIL.DAT'))
  t.false(isTnef('application/octet-stream', 'winmail.dat.zip'))
})

for (const [name, octetsOf] of [
  [
    'files',
    (size: number) =>
      tnef(
        [],
        Array.from({ length: size / 100 }, () => file('a', 'x')),
      ),
  ],
  [
    'properties',
    (size: number) =>
      tnef(
        Array.from({ length: size / 20 }, (_, i) => text(i % 0x7000, 'x')),
        [],
      ),
  ],
  ['RTF', (size: number) => tnef([binary(0x1009, packedRtf('x'.repeat(size)))], [])],
  ['a text', (size: number) => tnef([text(0x1000, 'x'.repeat(size))], [])],
] as const)
  test(`openTnef() takes time in proportion to the length of ${name}`, (t) => {
    const octets = new Map([200_000, 400_000, 800_000].map((size) => [size, octetsOf(size)]))
    t.true(growsLinearly((size) => void openTnef(octets.get(size) ?? octetsOf(size)), 200_000))
  })
