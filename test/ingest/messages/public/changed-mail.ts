/** Public mails with random changes, as transport, programs and attackers damage mail. */
import type { Seeded } from '../../../support/seeded.ts'

const maxOctets = 512 * 1024

type Change = (mail: string, by: Seeded, other: string) => string

/** A random range of the mail: a few characters, a line, or many lines. */
function stretch(mail: string, by: Seeded): readonly [start: number, end: number] {
  const start = by.between(0, mail.length)
  if (by.chance(0.3)) return [start, Math.min(mail.length, start + by.between(1, 8))]
  const lineStart = mail.lastIndexOf('\n', start) + 1
  if (by.chance(0.6)) return [lineStart, mail.indexOf('\n', start) + 1 || mail.length]
  return [lineStart, Math.min(mail.length, lineStart + by.between(1, 4000))]
}

const replaced = (mail: string, [start, end]: readonly [number, number], by: string): string => mail.slice(0, start) + by + mail.slice(end)

const repeated = (text: string, times: number): string => text.repeat(Math.min(times, Math.ceil(maxOctets / Math.max(1, text.length))))

/** Words with a meaning for mail parsers. */
const words = [
  ...['\r\n', '\n', '\r', '\r\n\r\n', '\0', '\xff', '\t', ' ', '"', '(', '<', '\\', ';', ':', ',', '=', '=?', '?=', '--', '*0*=', '%'],
  ...['Content-Type: multipart/mixed; boundary=b\r\n\r\n--b\r\n', 'Content-Type: message/rfc822\r\nContent-Disposition: inline\r\n\r\n'],
  ...[
    'Content-Transfer-Encoding: base64\r\n',
    'Content-Transfer-Encoding: x-uuencode\r\n',
    'Content-Transfer-Encoding: quoted-printable\r\n',
  ],
  ...[
    'charset=iso-2022-jp',
    'charset=utf-7',
    'charset=utf-16',
    'charset=x',
    'format=flowed',
    'begin 644 x\r\n',
    '=?utf-8?Q?=C3?= ',
    '\x1b$B',
  ],
  ...[
    "name*0*=utf-8''%C3; ",
    'filename="=?utf-8?B?4pyT?="; ',
    'Content-Type: text/html\r\n\r\n',
    '<b><div style="',
    '&#x',
    '<!--',
    '</style>',
  ],
  ...['Content-Type: application/ms-tnef; name=winmail.dat\r\n', 'To: a@x.example,', '--b--\r\n', '--b\r\n'],
]

const changes: readonly Change[] = [
  (mail, by) => replaced(mail, stretch(mail, by), ''),
  (mail, by) => mail.slice(0, by.between(0, mail.length)),
  (mail, by) => replaced(mail, [by.between(0, mail.length), by.between(0, mail.length)], by.pick(words)),
  (mail, by) => {
    const at = by.between(0, mail.length)
    return replaced(mail, [at, at], by.pick(words))
  },
  (mail, by) => {
    const [start] = stretch(mail, by)
    return replaced(mail, [start, start], repeated(by.pick(words), by.between(1, 20_000)))
  },
  (mail, by) => {
    const [start, end] = stretch(mail, by)
    return replaced(mail, [end, end], repeated(mail.slice(start, end), by.between(1, 2000)))
  },
  (mail, by) => {
    const at = by.between(0, mail.length)
    return replaced(mail, [at, at + 1], String.fromCharCode(by.between(0, 255)))
  },
  (mail, by, other) => replaced(mail, stretch(mail, by), other.slice(...stretch(other, by))),
  (mail, by, other) => mail.slice(0, by.between(0, mail.length)) + other,
  (mail) => mail.replaceAll(/\r?\n/g, '\r'),
  (mail) => mail.replaceAll(/\r?\n/g, '\r\n'),
  (mail, by) => mail.replaceAll(/boundary="?[^"\s;]+"?/gi, `boundary=${by.pick(['b', '""', '"b "', 'b\tc', '--'])}`),
]

/** Applies one to four changes; the result has at most 0.5 MiB. */
export function changedMail(mail: Buffer, by: Seeded, other: Buffer): Buffer {
  let changed = mail.toString('latin1')
  for (let count = by.between(1, 4); count > 0; count--)
    changed = by.pick(changes)(changed, by, other.toString('latin1')).slice(0, maxOctets)
  return Buffer.from(changed, 'latin1')
}
