import test from '#test'
import { Refusal, refusals, type RefusalCode } from '#core/refusals.ts'
import { NegativeReply, toSmtpReply } from '../../../protocols/reception/smtp-reply.ts'

test('toSmtpReply(): each refusal has its table reply, with one enhanced code', (t) => {
  for (const [code, { smtp }] of Object.entries(refusals)) {
    const reply = toSmtpReply(new Refusal(code as RefusalCode, 'Do this instead.'))
    t.is(`${reply.responseCode} ${reply.message}`, `${smtp} Do this instead.`)
    t.is(reply.enhanced[0], String(reply.responseCode)[0], `the classes of ${smtp} agree`)
  }
})

test('toSmtpReply(): other errors reveal nothing', (t) => {
  for (const thrown of [new Error('secret'), 'secret', undefined, { code: 'secret' }]) {
    const reply = toSmtpReply(thrown)
    t.is(reply.responseCode, 451)
    t.is(reply.message, '4.3.0 An internal error occurred; please try again later.')
  }
})

test('toSmtpReply(): returns a NegativeReply unchanged', (t) => {
  const reply = new NegativeReply(552, '5.3.4', 'Too large.')
  t.is(toSmtpReply(reply), reply)
})

test('NegativeReply: one line of printable ASCII within 512 octets', (t) => {
  t.is(new NegativeReply(550, '5.7.1', ' a\r\n250 b\tc\0d\u{2028}é ').message, '5.7.1 a 250 b c?d ?')
  const long = new NegativeReply(550, '5.7.1', 'x'.repeat(2000))
  t.true(`550 ${long.message}\r\n`.length <= 512)
  t.true(long.message.endsWith('...'))
})
