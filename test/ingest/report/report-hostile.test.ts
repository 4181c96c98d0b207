/** Damaged reports, and mails built to cost time or memory. */
import test from '#test'
import type { ReportReading } from '#core/feedback/event.ts'
import { readReport } from '#ingest/report/report.ts'
import { growsLinearly } from '../../support/measure/growth.ts'
import { Seeded } from '../../support/seeded.ts'
import { allMails, octetsOf } from './report-fixtures.ts'

const cuts = 6
const flips = 6

test('readReport() survives truncated and changed mails, within limits', (t) => {
  const seeded = new Seeded('damaged reports')
  for (const file of allMails()) {
    const whole = octetsOf(file)
    for (let count = 0; count < cuts; count++) {
      const start = seeded.chance(0.3) ? seeded.between(0, whole.length) : 0
      within(t, readReport(whole.subarray(start, seeded.between(start, whole.length))), file)
    }
    for (let count = 0; count < flips; count++) within(t, readReport(flipped(whole, seeded)), file)
  }
})

test('readReport() survives random octets', (t) => {
  const seeded = new Seeded('noise')
  for (let count = 0; count < 200; count++) {
    const noise = Buffer.from(Array.from({ length: seeded.between(0, 2000) }, () => seeded.between(0, 255)))
    within(t, readReport(noise), 'noise')
  }
})

test('readReport() gives equal results for LF, CRLF and CR', (t) => {
  for (const file of allMails()) {
    const lf = octetsOf(file).toString('latin1').replaceAll(/\r\n?/g, '\n')
    const reading = readReport(Buffer.from(lf, 'latin1'))
    for (const end of ['\r\n', '\r'])
      t.deepEqual(readReport(Buffer.from(lf.replaceAll('\n', end), 'latin1')), reading, `${file} ${JSON.stringify(end)}`)
  }
})

test('readReport() returns at most 1,000 recipients', (t) => {
  const many = (line: (at: number) => string): string => Array.from({ length: 3000 }, (_, at) => line(at)).join('')
  const fields = many((at) => `Final-Recipient: rfc822; r${at}@example.net\nAction: failed\nStatus: 5.1.1\n\n`)
  const shapes = [
    `${part('message/delivery-status')}${fields}`,
    `${part('message/feedback-report')}Feedback-Type: abuse\n${many((at) => `Original-Rcpt-To: r${at}@example.net\n`)}`,
    `${head}\nfailed:\n${many((at) => `<r${at}@example.net>:\n`)}`,
    `${head}X-Failed-Recipients: ${many((at) => `r${at}@example.net,`)}\n\nx`,
    `${head}\n${JSON.stringify({ notificationType: 'Delivery', delivery: { recipients: Array.from({ length: 3000 }, (_, at) => `r${at}@example.net`) } })}`,
  ]
  for (const shape of shapes) t.is(readReport(Buffer.from(shape)).events.length, 1000, shape.slice(0, 300))
})

test('readReport() limits the length of texts', (t) => {
  const long = 'x'.repeat(100_000)
  const [event] = readReport(
    Buffer.from(
      `${part('message/delivery-status')}Final-Recipient: rfc822; a@example.net\nAction: failed\nDiagnostic-Code: smtp; 550 ${long}\n`,
    ),
  ).events
  t.is(event?.diagnostic?.length, 2000)
  const received = `Received: by x id ${'q'.repeat(60)}\n`.repeat(500)
  const ids = `Message-ID: <${'m'.repeat(2000)}@example.com>\n${'X-Service-Ref: r\n'.repeat(500)}`
  const { clues } =
    readReport(
      Buffer.from(
        `${part('message/delivery-status')}Final-Recipient: rfc822; a@example.net\nAction: failed\n\n--b\nContent-Type: message/rfc822\n\n${received}${ids}\n`,
      ),
    ).events[0] ?? {}
  for (const values of Object.values(clues ?? {})) t.true(values.length <= 20 && values.every((value: string) => value.length <= 998))
})

const head = 'Return-Path: <>\nFrom: MAILER-DAEMON@x.example\nTo: s@example.com\nSubject: Undelivered Mail\n'
const part = (type: string): string =>
  `${head}Content-Type: multipart/report; report-type=delivery-status; boundary=b\n\n--b\n\ntext\n--b\nContent-Type: ${type}\n\n`

/** Each repeats text that has been expensive in parsers: addresses, codes, phrases, delimiters, escapes, nesting. */
const greedy: Readonly<Record<string, readonly [before: string, unit: string]>> = {
  recipients: [part('message/delivery-status'), 'Final-Recipient: rfc822; a@b.c\nAction: failed\nStatus: 5.0.0\n\n'],
  'continued fields': [`${part('message/delivery-status')}Final-Recipient: rfc822; a@b.c\n`, 'x\n'],
  'folded fields': [`${part('message/delivery-status')}Diagnostic-Code: smtp;\n`, ' 5'],
  'complained recipients': [part('message/feedback-report'), 'Original-Rcpt-To: a@b.c\n'],
  'the same name': [`${head}\nfailed\n`, '<a@b.c>:\nword\n'],
  'at signs': [`${head}\n`, '@'],
  'long local parts': [`${head}\n`, `${'a'.repeat(1999)}@\n`],
  'half an address': [`${head}\n`, 'a.b-c=@'],
  'tags without an end': [`${head}Content-Type: text/html\n\n`, '<'],
  'nested tags': [`${head}Content-Type: text/html\n\n`, '<div>a@b.c '],
  'a word of failure': [`${head}\n`, 'deliver'],
  'a phrase of failure': [`${head}\n`, 'unable to could not be user unknown '],
  blanks: [`${head}\n`, ' '],
  'empty lines': [`${head}\n`, '\r\n'],
  delimiters: [part('text/plain'), '--b\n'],
  'almost delimiters': [part('text/plain'), '--bx\n'],
  parameters: ['Content-Type: multipart/mixed', '; a=b'],
  'encoded words': ['Subject: ', '=?utf-8?q?a?= '],
  'quoted-printable': [`${head}Content-Transfer-Encoding: quoted-printable\n\n`, '= '],
  'UTF-7': [`${head}Content-Type: text/plain; charset=utf-7\n\n`, '+AAA'],
  'ISO-2022-JP': [`${head}Content-Type: text/plain; charset=iso-2022-jp\n\n`, '\u001b$B$3$N'],
  'nested JSON': [`${head}\n{"Message":`, '['],
  'broken JSON': [`${head}\n{`, '\n--    '],
  codes: [`${head}\n`, '550 5.'],
  hosts: [`${head}\nfailed a@b.c\n`, 'host a.b.'],
  marks: [`${head}\n`, 'a copy of the message x\n'],
  labels: [`${head}\n`, 'recipient address '],
  'listed recipients': [head, 'X-Failed-Recipients: a@b.c, d@e.f\n'],
  'mails of a mailbox': ['', 'From a@b.c Thu Jan  1 00:00:00 2026\nTo: a@b.c\n\nx\n\n'],
  'almost mails of a mailbox': ['From a@b.c Thu Jan  1 00:00:00 2026\n\n', '\nFrom a@b.c Thu\n'],
  'doubled line ends': [head, 'X: y\n\n'],
  'carriage returns': [head, '\r'],
  'letters of two scripts': [`${head}\n`, '\xe6\x82\xa8a'],
  'addresses between letters': [`${head}\nfailed `, 'a@b.c\xe6\x82\xa8'],
  'labels of a domain': [`${head}\nfailed a@`, 'b-.'],
  origins: [`${head}\n`, 'address\n(generated from a@b.c)\n'],
  'names without a domain': [`${head}\n`, 'failed:\n a\n'],
  'notices in notices': ['', part('message/rfc822')],
}

for (const [name, [before, unit]] of Object.entries(greedy)) {
  test(`readReport() is linear on ${name}`, (t) => {
    t.true(growsLinearly((size) => readReport(Buffer.from(before + unit.repeat(Math.ceil(size / unit.length)), 'latin1')), 60_000))
  })
}

function within(t: { true(value: boolean, message?: string): void }, { kind, events }: ReportReading, file: string): void {
  if (events.length > 1000 || !['feedback', 'dsn', 'mdn', 'auto_reply', 'none'].includes(kind)) t.true(false, file)
  for (const { recipient, diagnostic, status } of events) {
    const fits = (recipient?.length ?? 0) <= 320 && (diagnostic?.length ?? 0) <= 2000 && /^(?:[245]\.\d{1,3}\.\d{1,3})?$/.test(status ?? '')
    if (!fits) t.true(false, `${file}: ${recipient} ${status}`)
  }
  t.true(true)
}

function flipped(whole: Buffer, seeded: Seeded): Buffer {
  const copy = Buffer.from(whole)
  for (let count = seeded.between(1, 40); count > 0; count--) copy[seeded.between(0, copy.length - 1)] = seeded.between(0, 255)
  return copy
}
