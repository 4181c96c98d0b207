import test from '#test'
import { DotStuffer } from '../../../protocols/relay/smtp/transaction/dot-stuffing.ts'
import { jobOf, targetOf, testSink, testTransport } from './relay-fixture.ts'
import { growsLinearly } from '../../support/measure/growth.ts'

function stuff(...chunks: readonly string[]): string {
  const stuffer = new DotStuffer()
  return chunks.map((chunk) => Buffer.from(stuffer.stuff(Buffer.from(chunk, 'latin1'))).toString('latin1')).join('') + stuffer.end()
}

/** A small seeded generator (mulberry32), so that failures are reproducible. */
function randomFrom(seed: number): (below: number) => number {
  let state = seed
  return (below) => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) % below
  }
}

const atoms = ['.', '..', '\r\n', '\r\n.', '\r\n..\r\n', 'a', 'text with spaces', '\u00e9\u00ff', '.\r\n']
const hostile = [...atoms, '\r', '\n', '\n.\n', '\n.\r\n', '\r.\r\n', '\r.\r', '\r\n.\n', '\r\n.\r', '\n.\r', '\u0000']

function compose(random: (below: number) => number, from: readonly string[], length: number): string {
  return Array.from({ length }, () => from[random(from.length)] ?? '').join('')
}

function split(random: (below: number) => number, text: string): Buffer[] {
  const chunks: Buffer[] = []
  for (let at = 0; at < text.length;) {
    const size = random(3) === 0 ? 1 : 1 + random(40)
    chunks.push(Buffer.from(text.slice(at, at + size), 'latin1'))
    at += size
  }
  return chunks
}

test('stuff(): doubles only dots at the start of a line', (t) => {
  t.is(stuff('a.b\r\n.c\r\n..\r\n.'), 'a.b\r\n..c\r\n...\r\n..\r\n.\r\n')
  t.is(stuff('.'), '..\r\n.\r\n')
  t.is(stuff(''), '.\r\n')
  t.is(stuff('a'), 'a\r\n.\r\n')
  t.is(stuff('a\r\n'), 'a\r\n.\r\n')
  t.is(stuff('a\n'), 'a\n\r\n.\r\n')
  t.is(stuff('a\r'), 'a\r\r\n.\r\n')
})

test('stuff(): doubles a dot after a bare CR or LF', (t) => {
  t.is(stuff('a\n.\r\nb\r.\r\n'), 'a\n..\r\nb\r..\r\n.\r\n')
})

test('stuff(): result is equal for every split in two', (t) => {
  const text = '.a\r\n.\r\n..b\n.\r.\r\n.'
  const whole = stuff(text)
  for (let at = 0; at <= text.length; at += 1) t.is(stuff(text.slice(0, at), '', text.slice(at)), whole)
})

test('stuff(): returns the same chunk without dots to double', (t) => {
  const chunk = Buffer.from('no dot at a line start. None.\r\n')
  t.is(new DotStuffer().stuff(chunk), chunk)
})

test('stuff(): linear time if every line has a dot', (t) => {
  const chunk = Buffer.from('\n.'.repeat(500_000))
  t.is(new DotStuffer().stuff(chunk).length, 1_500_000)
  t.true(growsLinearly((size) => new DotStuffer().stuff(chunk.subarray(0, size))))
})

for (const lenient of [false, true]) {
  const kind = lenient ? 'lenient' : 'strict'
  test(`deliver(): random content arrives unchanged at a ${kind} peer`, async (t) => {
    const sink = await testSink(t, { lenient })
    const transport = testTransport(t)
    for (let seed = 1; seed <= 60; seed += 1) {
      const random = randomFrom(seed)
      const text = `${compose(random, atoms, 1 + random(seed % 10 === 0 ? 20_000 : 60))}\r\n`
      const report = await transport.deliver(targetOf(sink), jobOf({ chunks: split(random, text) }))
      t.is(report.recipients[0]?.verdict, 'accepted', `seed ${seed}`)
      t.true(sink.deliveries.at(-1)?.text === text, `seed ${seed}`)
    }
    t.is(sink.deliveries.length, 60)
  })

  test(`deliver(): no content ends its data early at a ${kind} peer`, async (t) => {
    const sink = await testSink(t, { lenient })
    const transport = testTransport(t)
    const second = 'MAIL FROM:<evil@x.test>\r\nRCPT TO:<victim@x.test>\r\nDATA\r\nevil\r\n.\r\n'
    const ends = ['\n.\n', '\n.\r\n', '\r.\r\n', '\r.\r', '\r\n.\n', '\r\n.\r', '\n.\r', '\r\n.\r\n', '\r\r\n.\r\n', '\n\r.\r\n']
    const texts = ends.map((end) => `A: b\r\n\r\nhello${end}${second}`)
    for (let seed = 1; seed <= 100; seed += 1) {
      const random = randomFrom(seed)
      texts.push(compose(random, [...hostile, second], 1 + random(40)))
    }
    for (const [at, text] of texts.entries()) {
      const report = await transport.deliver(targetOf(sink), jobOf({ chunks: split(randomFrom(at), text) }))
      t.is(report.recipients[0]?.verdict, 'accepted', JSON.stringify(text))
      t.is(sink.deliveries.length, at + 1, JSON.stringify(text))
    }
    t.true(sink.deliveries.every(({ from, to }) => from === 'sender@site.test' && to.join() === 'one@peer.test'))
    t.is(sink.connections.length, 1)
  })
}
