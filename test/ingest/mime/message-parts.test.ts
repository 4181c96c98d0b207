import test from '#test'
import { readParts } from '#ingest/mime/message-parts.ts'
import { PartsReader } from '#ingest/messages/parts-reader.ts'
import { FakeClock } from '../../support/fake-clock.ts'

const mail = (...lines: readonly string[]): Buffer => Buffer.from(lines.join('\r\n'))

test('readParts() returns HTML unchanged, and no HTML for a plain text message', async (t) => {
  const html = '<p onclick="x()">Hi <img src="https://site.test/o.gif"></p><script>1</script>'
  t.is((await readParts(mail('Content-Type: text/html', '', html))).html?.trim(), html)
  const plain = await readParts(mail('Subject: x', '', 'only text', ''))
  t.is(plain.text?.trim(), 'only text')
  t.is(plain.html, undefined)
})

test('readParts() keeps inline images with their content ids, and their octets', async (t) => {
  const octets = Buffer.from(Array.from({ length: 256 }, (_, i) => i))
  const { html, attachments } = await readParts(
    mail(
      'Content-Type: multipart/related; boundary=b',
      '',
      '--b',
      'Content-Type: text/html',
      '',
      '<img src="cid:logo@site">',
      '--b',
      'Content-Type: image/png; name=logo.png',
      'Content-ID: <logo@site>',
      'Content-Disposition: inline; filename=logo.png',
      'Content-Transfer-Encoding: base64',
      '',
      octets.toString('base64'),
      '--b--',
      '',
    ),
  )
  t.is(html?.trim(), '<img src="cid:logo@site">')
  t.like(attachments[0], { filename: 'logo.png', contentType: 'image/png', contentId: 'logo@site', inline: true })
  t.deepEqual(Buffer.from(attachments[0]?.content ?? []), octets)
})

test('readParts() refuses a message if text would be lost', async (t) => {
  await t.throwsAsync(readParts(mail('Subject: x', '', 'long line\r\n'.repeat(500_000))), {
    message: /too much text to be split into parts/,
  })
})

test('PartsReader runs on a thread and reports lasting failures', async (t) => {
  const reader = new PartsReader(new FakeClock())
  const good = await reader.read(mail('Subject: one', '', 'x'), 'org_1')
  t.like(good, { ok: true, parts: { subject: 'one' } })
  const parts = Array.from({ length: 1100 }, (_, at) => `--b\r\nContent-Type: text/plain; name=${at}\r\n\r\nx`)
  const bad = await reader.read(mail('Content-Type: multipart/mixed; boundary=b', '', ...parts, '--b--'), 'org_1')
  t.like(bad, { ok: false, lasting: true })
  await reader[Symbol.asyncDispose]()
  t.like(await reader.read(mail('Subject: late', '', 'x'), 'org_1'), { ok: false, lasting: false })
})
