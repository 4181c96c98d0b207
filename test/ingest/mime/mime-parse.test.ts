/** The limits inside the MIME parser. These tests fail if an update of the package changes the internals that the limits use. */
import test from '#test'
import { BeyondLimits, parseMime } from '#ingest/mime/mime-parse.ts'

const mebi = 1024 * 1024
const mixed = 'Content-Type: multipart/mixed; boundary=b\r\n\r\n'
const ignore = () => () => undefined

test('parseMime() keeps the first 4 MiB of text parts, over all parts', async (t) => {
  const one = await parseMime(Buffer.concat([Buffer.from('\r\n'), Buffer.alloc(6 * mebi, 'x')]), ignore)
  t.is(one.text.length, 4 * mebi)
  const part = `--b\r\n\r\n${'y'.repeat(3 * mebi)}\r\n`
  const two = await parseMime(Buffer.from(`${mixed}${part}${part}--b--`), ignore)
  t.is(two.text.replaceAll(/[^y]/g, '').length, 4 * mebi)
})

test('parseMime() passes attachments completely', async (t) => {
  let size = 0
  const raw = Buffer.concat([Buffer.from('Content-Type: image/png\r\n\r\n'), Buffer.alloc(9 * mebi, 'x')])
  const bodies = await parseMime(raw, () => (chunk) => void (size += chunk.length))
  t.is(size, 9 * mebi)
  t.true(bodies.endsInAttachment)
})

test('parseMime() refuses header blocks over 256 KiB, and over 1 MiB in all', async (t) => {
  const field = (size: number): string => `X: ${'x'.repeat(size)}\r\n\r\n`
  await t.notThrowsAsync(parseMime(Buffer.from(field(250 * 1024)), ignore))
  await t.throwsAsync(parseMime(Buffer.from(field(257 * 1024)), ignore), { instanceOf: BeyondLimits })
  const parts = (count: number): Buffer => Buffer.from(`${mixed}${`--b\r\n${field(200 * 1024)}x\r\n`.repeat(count)}--b--`)
  await t.notThrowsAsync(parseMime(parts(5), ignore))
  await t.throwsAsync(parseMime(parts(6), ignore), { instanceOf: BeyondLimits })
})

test('parseMime() adds text next to HTML with minimal markup', async (t) => {
  const { html } = await parseMime(Buffer.from(`${mixed}--b\r\nContent-Type: text/html\r\n\r\n<p>x</p>\r\n--b\r\n\r\n<&>\r\n--b--`), ignore)
  t.true(html.includes('<div style="white-space:pre-wrap">&lt;&amp;&gt;</div>'))
})
