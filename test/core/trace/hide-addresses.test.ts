/** Replies in shared traces: no address, local part or subject may leave the service. */
import test from '#test'
import { addressHider } from '#core/trace/timeline/hide-addresses.ts'

const recipients = [
  'Anna.Keller+shop@bluewin.example',
  'bo@xn--bcher-kva.example',
  '"Eva Rot"@bluewin.example',
  '张三@例子.example',
  'müller@bluewin.example',
]
const hide = addressHider({ recipients, subject: 'Your invoice 4711' })

const cases: readonly (readonly [reply: string, shown: string])[] = [
  ['Mailbox full', 'Mailbox full'],
  ['4.2.2 The email account that you tried to reach is over quota', '4.2.2 The email account that you tried to reach is over quota'],
  ['<anna.keller+shop@bluewin.example>: User unknown', '<[hidden]>: User unknown'],
  ['<postmaster@bluewin.example>: ask us.', '<[hidden]>: ask us.'],
  ['ANNA.KELLER: unknown, annakeller too, Anna Keller as well', '[hidden]: unknown, [hidden] too, [hidden] as well'],
  ['user=bo, about bots', 'user=[hidden], about bots'],
  ['"Eva Rot"@bluewin.example and "a \\" b"@other.example are gone', '[hidden] and [hidden] are gone'],
  ['Eva\\ Rot is gone', '[hidden] is gone'],
  ['=?utf-8?B?YW5uYS5rZWxsZXI=?= =?utf-8?Q?bo?=', '[hidden] [hidden]'],
  ['id YW5uYUBibHVld2luLmV4YW1wbGU= ends', 'id [hidden] ends'],
  ['anna%40bluewin.example anna=40bluewin.example anna&#64;bluewin.example', '[hidden] [hidden] [hidden]'],
  ['https://help.example/?m=anna%2Ekeller%2Bshop', 'https://help.example/?m=[hidden]'],
  ['anna.keller%bluewin.example@relay.example', '[hidden]'],
  ['someone%bluewin.example refused', '[hidden] refused'],
  ['someone(at)bluewin.example, someone [at] bluewin.example', '[hidden], [hidden]'],
  ['bounce-anna.keller+shop=bluewin.example@lists.example', '[hidden]'],
  ['b01a2b3c@in.example.ch refused', '[hidden] refused'],
  ['someone＠bluewin.example', '[hidden]'],
  ['bo@bücher.example und bo@xn--bcher-kva.example', '[hidden] und [hidden]'],
  ['邮箱用户张三不存在', '邮箱用户[hidden]不存在'],
  ['Мüller MU\u0308LLER müller mu\u0308ller', 'Мüller [hidden] [hidden] [hidden]'],
  ['an\u200bna.kel\u00adler', '[hidden]'],
  ['<anna.kel\n5.1.1 ler+shop@bluewin.example> unknown', '<[hidden]> unknown'],
  ['someone @ bluewin.example', '[hidden]'],
  ['someone@[192.0.2.1] refused', '[hidden] refused'],
  ['Subject "Your  Invoice 4711" looks like spam', 'Subject "[hidden]" looks like spam'],
  ['Sorry, your invoice-4711 is spam', 'Sorry, [hidden] is spam'],
  ['mailto:someone@bluewin.example;rfc822;other@bluewin.example', 'mailto:[hidden];rfc822;[hidden]'],
  ['a@b@c d', '[hidden] d'],
  ['Host bluewin.example, 192.0.2.7, 4bXyZ91Qwz99 refused it', 'Host bluewin.example, 192.0.2.7, 4bXyZ91Qwz99 refused it'],
  ['@ alone, 100 % sure, look (at) this', '@ alone, 100 % sure, look (at) this'],
]

for (const [reply, shown] of cases)
  test(`hide addresses: ${JSON.stringify(reply)}`, (t) => {
    t.is(hide(reply), shown)
  })

test('hide addresses: long replies are cut, also inside a local part', (t) => {
  const long = `${'x '.repeat(995)}anna.keller+shop`
  t.is(hide(long), `${'x '.repeat(995)}[hidden]…`)
  t.is(hide('y anna.kel…'), 'y [hidden]…')
})

test('hide addresses: takes linear time for hostile replies', (t) => {
  const hostile = ['@', '=?', '"', '%40', 'a', 'a@', '<"', '&#', '=?a?b?', 'A'.repeat(8) + ' ', '\n5.1.1 ', '%', '(at)', '%a.']
  const many = Array.from({ length: 1000 }, (_, i) => `${'a'.repeat(1 + (i % 60))}${String(i)}@bluewin.example`)
  const hideMany = addressHider({ recipients: many, subject: 'a'.repeat(900) })
  const began = process.cpuUsage().user
  for (const part of hostile) hideMany(part.repeat(20_000))
  t.true(process.cpuUsage().user - began < 5_000_000, 'microseconds of the processor')
})
