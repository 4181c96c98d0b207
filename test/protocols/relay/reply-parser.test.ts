import test from '#test'
import type { PeerReply } from '#core/delivery/transport.ts'
import { ReplyParser } from '../../../protocols/relay/smtp/connection/reply-parser.ts'

function parse(...chunks: readonly (string | Buffer)[]): { readonly replies: PeerReply[]; readonly problem: string | undefined } {
  const parser = new ReplyParser()
  const replies: PeerReply[] = []
  let problem: string | undefined
  for (const chunk of chunks) problem ??= parser.push(Buffer.from(chunk), (reply) => replies.push(reply))
  return { replies, problem }
}

test('push(): parses one-line, multi-line and bare replies', (t) => {
  t.deepEqual(parse('250 2.0.0 Ok\r\n354 go\r\n221\r\n').replies, [
    { code: 250, enhanced: '2.0.0', text: 'Ok' },
    { code: 354, enhanced: undefined, text: 'go' },
    { code: 221, enhanced: undefined, text: '' },
  ])
  t.deepEqual(parse('550-5.1.1 The user\r\n550-5.1.10 is\r\n550 5.1.1 not known\n').replies, [
    { code: 550, enhanced: '5.1.1', text: 'The user\n5.1.10 is\nnot known' },
  ])
})

test('push(): result is equal for every split', (t) => {
  const text = '250-sink\r\n250-PIPELINING\r\n250 SIZE 10\r\n550 5.7.1 Nö\r\n'
  const whole = parse(text)
  t.is(whole.replies.length, 2)
  const bytes = Buffer.from(text)
  for (let at = 0; at <= bytes.length; at += 1) t.deepEqual(parse(bytes.subarray(0, at), bytes.subarray(at)), whole)
  t.deepEqual(parse(...[...bytes].map((byte) => Buffer.of(byte))), whole)
})

test('push(): accepts an enhanced code only of the same class', (t) => {
  for (const text of ['5.1.1 x', '2.1 x', '2.1.1.1 x', '2.1111.1 x', '2.1.1x']) {
    t.deepEqual(parse(`250 ${text}\r\n`).replies, [{ code: 250, enhanced: undefined, text }])
  }
  t.deepEqual(parse('250 2.1.1\r\n').replies, [{ code: 250, enhanced: '2.1.1', text: '' }])
})

test('push(): refuses invalid replies', (t) => {
  for (const text of [
    '\r\n',
    'hello\r\n',
    '25\r\n',
    '2500 x\r\n',
    '250_x\r\n',
    '150 x\r\n',
    '650 x\r\n',
    '2x0 x\r\n',
    ' 250 x\r\n',
    '\u0000\n',
  ]) {
    t.deepEqual(parse(text), { replies: [], problem: 'A line does not start with a reply code.' }, JSON.stringify(text))
  }
  t.is(parse('250-a\r\n550 b\r\n').problem, 'The lines of a reply have different codes.')
})

test('push(): limits lines and replies', (t) => {
  t.is(parse('2'.repeat(4097)).problem, 'A reply line is too long.')
  t.is(parse(`250 ${'x'.repeat(4093)}\r\n`).problem, 'A reply is too long.')
  t.is(parse(`250 ${'x'.repeat(4092)}\r\n`).problem, undefined)
  t.is(parse('250-x\r\n'.repeat(100)).problem, undefined)
  t.is(parse('250-x\r\n'.repeat(101)).problem, 'A reply is too long.')
  t.is(parse(`250-${'x'.repeat(4000)}\r\n`.repeat(17)).problem, 'A reply is too long.')
  t.is(parse(`${'250-x\r\n'.repeat(99)}250 x\r\n`.repeat(3)).replies.length, 3)
})
