/** Detection of files in SMTP messages without MIME parsing. */
import { readFileSync } from 'node:fs'
import test from '#test'
import { FileScan } from '#core/submission/accept/file-scan.ts'

/** Returns the result of the scan, and checks that it is equal for every split of the message. */
function hasFile(text: string): boolean {
  const bytes = Buffer.from(text)
  const answers = [1, 7, 64, bytes.length].map((size) => {
    const scan = new FileScan()
    for (let at = 0; at < bytes.length; at += size) scan.read(bytes.subarray(at, at + size))
    return scan.hasFile
  })
  if (new Set(answers).size > 1) throw new Error('the answer depends on the cuts')
  return answers[0] ?? false
}

const mixed = (...parts: readonly string[]): string =>
  `From: a@b.test\r\nContent-Type: multipart/mixed;\r\n boundary="b 1"\r\n\r\n${parts.map((part) => `--b 1\r\n${part}\r\n`).join('')}--b 1--\r\n`
const text = 'Content-Type: text/plain\r\n\r\nHello\r\n'

test('FileScan: detects attachments, named parts and parts that are not text', (t) => {
  t.true(hasFile(mixed(text, 'Content-Disposition: attachment\r\n\r\nx')))
  t.true(hasFile(mixed(text, 'content-disposition:ATTACHMENT; filename=bill.pdf\r\nContent-Type: text/plain\r\n\r\nx')))
  t.true(hasFile(mixed(text, 'Content-Disposition: inline;\r\n\tfilename*0="lo"\r\n\r\nx')))
  t.true(hasFile(mixed(text, 'Content-Type: application/pdf\r\n\r\nx')))
  t.true(hasFile(mixed(text, 'Content-Type: image/png; name="a.png"\r\nContent-ID: <1>\r\n\r\nx')))
  t.true(hasFile('Content-Type: application/zip\r\n\r\nx'), 'the message itself')
  const nested = `Content-Type: multipart/alternative; boundary=inner\r\n\r\n--inner\r\n${text}--inner\r\nContent-Type: image/gif\r\n\r\nx\r\n--inner--`
  t.true(hasFile(mixed(nested)))
  t.true(hasFile(mixed('x'.repeat(300_000), 'Content-Type: application/pdf\r\n\r\nx')), 'far behind')
})

test('FileScan: ignores text that mentions files', (t) => {
  t.false(hasFile('Subject: hi\r\n\r\nContent-Disposition: attachment; filename=a.pdf\r\n\r\n--b 1\r\nContent-Type: application/pdf\r\n'))
  t.false(hasFile(mixed(text, 'Content-Type: text/html\r\n\r\n<p>Content-Disposition: attachment</p>')))
  t.false(hasFile(mixed(text, 'Content-Type: application/pgp-signature\r\n\r\nx')))
  t.false(hasFile(mixed(text, 'Content-Type: message/delivery-status\r\n\r\nAction: failed')), 'a bounce')
  t.false(hasFile('X-Note: Content-Disposition: attachment\r\n\r\nx'))
  t.false(hasFile(''))
})

test('FileScan: ignores the file in a message that a bounce returns', (t) => {
  const returned = `Content-Type: message/rfc822\r\n\r\n${mixed(text, 'Content-Type: application/pdf; name="a.pdf"\r\n\r\nx')}`
  const report = 'Content-Type: multipart/report; report-type=delivery-status; boundary=r\r\n\r\n'
  t.false(
    hasFile(`${report}--r\r\n${text}--r\r\nContent-Type: message/delivery-status\r\n\r\nAction: failed\r\n--r\r\n${returned}--r--\r\n`),
  )
})

const signed = (type: string, name: string): string =>
  mixed(text, `Content-Type: ${type}; name="${name}"\r\nContent-Disposition: attachment; filename="${name}"\r\n\r\nx`)

test('FileScan: ignores signatures, which mail programs attach with names', (t) => {
  t.false(hasFile(signed('application/pgp-signature', 'OpenPGP_signature.asc')))
  t.false(hasFile(signed('application/pkcs7-signature', 'smime.p7s')))
  t.true(hasFile(signed('application/pgp-keys', 'key.asc')))
})

test('FileScan: detects files behind obfuscated delimiters', (t) => {
  const file = 'Content-Type: application/pdf\r\n\r\nx\r\n'
  const of = (parameter: string, line: string): string => `Content-Type: multipart/mixed; ${parameter}\r\n\r\n--${line}\r\n${file}`
  t.true(hasFile(of('boundary=b', 'b and more')))
  t.true(hasFile(of('boundary="b "', 'b ')))
  t.true(hasFile(of('boundary*0=b; boundary*1=c', 'bc')))
  t.true(hasFile(of('boundary="a\\"b"', 'a"b')))
  t.true(hasFile(of(`boundary=${'b'.repeat(71)}`, 'b'.repeat(71))))
  t.true(hasFile(of('x=y', 'b')))
  t.true(hasFile(mixed(text, 'Content-Type: text/plain; name="notes.txt"\r\n\r\nx')))
  const deep = Array.from({ length: 30 }, (_, i) => `Content-Type: multipart/mixed; boundary=d${i}x\r\n\r\n--d${i}x\r\n`).join('')
  t.true(hasFile(deep + file))
  t.false(hasFile(`Content-Type: multipart/mixed; boundary=b\r\n\r\n--b\r\n${text}--b--\r\n${file}`), 'after the end')
})

test('FileScan: bounds its memory and is linear in skipped content', (t) => {
  const started = process.cpuUsage()
  const scan = new FileScan()
  const hostile = [
    `Content-Type: multipart/mixed; boundary=x\r\n${' ;boundary='.repeat(50_000)}\r\n`,
    `Content-Disposition:${';filename'.repeat(50_000)}\r\n`,
    `${' \r\n'.repeat(100_000)}\r\n`,
    '--x\r\n'.repeat(200_000),
    'y'.repeat(1_000_000),
  ]
  for (const part of hostile) scan.read(Buffer.from(part))
  const { user, system } = process.cpuUsage(started)
  t.false(scan.hasFile)
  const mebibytes = hostile.join('').length / 2 ** 20
  t.true((user + system) / 1e6 / mebibytes < 1, `${String((user + system) / 1000)} ms for ${mebibytes.toFixed(1)} MiB`)
})

test('FileScan: finds no file in a bounce and in a newsletter page', (t) => {
  for (const name of ['delivery-status', 'html-only'])
    t.false(
      hasFile(readFileSync(new URL(`../../../fixtures/mail/${name}.eml`, import.meta.url), 'latin1').replaceAll(/\r?\n/g, '\r\n')),
      name,
    )
})
