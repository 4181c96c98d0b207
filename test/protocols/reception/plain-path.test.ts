/** Compares the fast path of MAIL and RCPT with the package. */
import test from '#test'
import { SMTPConnection } from 'smtp-server/lib/smtp-connection.js'
import { plainPath } from '../../../protocols/reception/plain-path.ts'

type Parse = (this: unknown, name: string, command: string) => false | { readonly address: string; readonly args: unknown }
const itself = { _server: { options: {}, logger: { error: () => undefined } }, session: {} }
const byPackage = (name: string, command: string) =>
  (SMTPConnection.prototype._parseAddressCommand as unknown as Parse).call(itself, name, command)

const locals = ['a', 'First.Last', 'a+b=c_d-e', 'a..b', '.a', 'a.', "o'neil", 'a b', 'ü', '"q"', '', 'x'.repeat(70)]
const domains = [
  ...[
    'b.example',
    'B.Example',
    'localhost',
    'a-b.example',
    '-a.example',
    'a-.example',
    'a..b',
    'b.example.',
    'a_b.example',
    'a--b.example',
  ],
  ...[
    'xn--bcher-kva.example',
    'shop.XN--bcher-kva.example',
    'bücher.example',
    '[127.0.0.1]',
    '1.2.3.4',
    '',
    `${'l'.repeat(60)}.`.repeat(4),
  ],
]
const ends = ['', ' ', ' SIZE=10', ' BODY=8BITMIME']

test('plainPath(): agrees with the package or returns undefined', (t) => {
  let read = 0
  for (const [name, verb] of [
    ['mail from', 'MAIL FROM:'],
    ['mail from', 'mail from: '],
    ['rcpt to', 'Rcpt To:'],
    ['rcpt to', 'RCPT  TO:'],
    ['mail from', 'RCPT TO:'],
  ] as const)
    for (const local of locals)
      for (const domain of domains)
        for (const end of ends) {
          const command = `${verb}<${local}@${domain}>${end}`
          const address = plainPath(name, command)
          if (address === undefined) continue
          read++
          t.like(byPackage(name, command), { address, args: false }, command)
        }
  t.is(read, 40, 'clients as they are take the short way')
  for (const other of ['MAIL FROM:<>', 'RCPT TO:<postmaster>', 'MAIL FROM:a@b.example', 'DATA', ''])
    t.is(plainPath('mail from', other) ?? plainPath('rcpt to', other), undefined)
})
