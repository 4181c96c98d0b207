import test, { type ExecutionContext } from '#test'
import type { Reading } from '#core/fairness/work.ts'
import { Refusal } from '#core/refusals.ts'
import { maxHeadOctets } from '#core/submission/whole/whole-limits.ts'
import { MessageIntake } from '../../../protocols/reception/message-intake.ts'
import { DraftDouble, freely } from '../submission/door-double.ts'

const intakeOf = (t: ExecutionContext, draft: DraftDouble, max = 10_000_000): MessageIntake =>
  new MessageIntake({ draft, reading: freely, maxOctets: max, onDefect: (error) => t.fail(`reported: ${String(error)}`) })

async function feedAll(intake: MessageIntake, pieces: readonly Buffer[]): Promise<number> {
  let end = -1
  for (const piece of pieces) end = await intake.feed(piece)
  return end
}

const cut = (text: string, size: number): Buffer[] => {
  const octets = Buffer.from(text, 'latin1')
  return Array.from({ length: Math.ceil(octets.length / size) }, (_, index) => octets.subarray(index * size, (index + 1) * size))
}

test('MessageIntake.feed(): gathers small pieces of any split without loss', async (t) => {
  const message = `A: b\r\n\r\n${'0123456789\r\n'.repeat(5000)}`
  for (const size of [1, 3, 500, 1023, 1024, 4096, 100_000]) {
    const draft = new DraftDouble()
    const intake = intakeOf(t, draft)
    t.is((await feedAll(intake, cut(`${message}.\r\n`, size))) >= 0, true)
    t.is(draft.content.toString(), message, `${size}`)
    t.is(intake.head().toString(), 'A: b\r\n\r\n', `${size}`)
    t.true(draft.pieces.length <= message.length / 1000, `${size}: ${draft.pieces.length} pieces`)
    t.is(intake.verdict(), undefined)
  }
})

test('MessageIntake.head(): view of a single piece; whole without empty line; limited', async (t) => {
  const small = intakeOf(t, new DraftDouble())
  const chunk = Buffer.from('A: b\r\n\r\nbody\r\n.\r\n')
  await small.feed(chunk)
  t.is(small.head().toString(), 'A: b\r\n\r\n')
  t.is(small.head().buffer, chunk.buffer)

  const headless = intakeOf(t, new DraftDouble())
  await headless.feed(Buffer.from('A: b\r\n.\r\n'))
  t.is(headless.head().toString(), 'A: b\r\n')

  const endless = intakeOf(t, new DraftDouble())
  await feedAll(endless, cut(`${'A: b\r\n'.repeat(100_000)}.\r\n`, 5000))
  t.is(endless.head().length, maxHeadOctets)
})

test('MessageIntake.isOverrun(): allows 64 MiB or 4 times the limit, and 5 minutes', async (t) => {
  const piece = Buffer.alloc(1024 * 1024, `${'x'.repeat(998)}\r\n`)
  const feed = async (max: number, pieces: number, first = piece) => {
    const intake = intakeOf(t, new DraftDouble(), max)
    await feedAll(intake, [first, ...Array.from({ length: pieces - 1 }, () => piece)])
    return intake
  }
  t.false((await feed(100, 64)).isOverrun(0))
  t.true((await feed(100, 65)).isOverrun(0))
  t.false((await feed(20 * piece.length, 80)).isOverrun(0))
  t.true((await feed(20 * piece.length, 85)).isOverrun(0))
  const slow = await feed(100, 1)
  t.deepEqual(
    [1000, 300_999, 301_000].map((now) => slow.isOverrun(now)),
    [false, false, true],
  )
  const allowed = await feed(2 * piece.length, 1)
  t.deepEqual(
    [0, 3_600_000].map((now) => allowed.isOverrun(now)),
    [false, false],
  )
  t.true((await feed(100, 66, Buffer.from('\0'))).isOverrun(0), 'also of a message that is refused for another reason')
})

test('MessageIntake.feed(): waits for the draft after each piece', async (t) => {
  const gates: PromiseWithResolvers<void>[] = []
  const draft = new DraftDouble(() => {
    const gate = Promise.withResolvers<void>()
    gates.push(gate)
    return gate.promise
  })
  const intake = intakeOf(t, draft)
  const fed = intake.feed(Buffer.from(`${'x'.repeat(2000)}\r\n.\r\n`))
  t.true(fed instanceof Promise)
  t.true(intake.waiting)
  t.is(gates.length, 1)
  gates[0]?.resolve()
  t.is(await fed, 2005)
  t.false(intake.waiting)
})

test('MessageIntake.abandon(): discards after the write in progress', async (t) => {
  const gate = Promise.withResolvers<void>()
  const draft = new DraftDouble(() => gate.promise)
  const intake = intakeOf(t, draft)
  const fed = intake.feed(Buffer.from('x'.repeat(2000)))
  intake.abandon()
  t.false(draft.discarded)
  gate.resolve()
  await fed
  await new Promise(setImmediate)
  t.true(draft.discarded)
  await intake.feed(Buffer.from('y'.repeat(2000)))
  t.deepEqual(draft.pieces, [])
})

test('MessageIntake.verdict(): failed draft leaves no trace; defects are reported', async (t) => {
  const full = new Refusal('storage_full', 'The disk is full.')
  const broken = new Error('cannot write')
  for (const [error, isAsync] of [
    [full, true],
    [full, false],
    [broken, true],
  ] as const) {
    const fail = isAsync ? () => Promise.reject(error) : (): never => { throw error } // prettier-ignore
    const reported: unknown[] = []
    const draft = new DraftDouble(fail)
    const intake = new MessageIntake({ draft, reading: freely, maxOctets: 1_000_000, onDefect: (error) => reported.push(error) })
    t.is(await intake.feed(Buffer.from(`${'x'.repeat(2000)}\r\n.\r\n`)), 2005)
    t.is(intake.verdict()?.responseCode, error === full ? 452 : 451)
    t.true(draft.discarded)
    t.deepEqual(reported, error === full ? [] : [broken])
  }
})

test('MessageIntake.feed(): charges the caller and pauses a caller over its share', async (t) => {
  const draft = new DraftDouble()
  const mayGoOn = Promise.withResolvers<void>()
  const pauses = [undefined, mayGoOn.promise]
  let reads = 0
  const reading: Reading = {
    run(read) {
      reads++
      return read()
    },
    pace: () => pauses.shift(),
  }
  const intake = new MessageIntake({ draft, reading, maxOctets: 10_000, onDefect: (error) => t.fail(String(error)) })
  t.is(intake.feed(Buffer.from(`${'x'.repeat(1022)}\r\n`)), -1)
  const end = intake.feed(Buffer.from(`${'y'.repeat(1022)}\r\n.\r\n`))
  t.true(intake.waiting, 'the client is not the one who is slow')
  t.deepEqual([draft.size, reads], [1024, 1])
  mayGoOn.resolve()
  t.is(await end, 1027)
  t.false(intake.waiting)
  t.deepEqual([draft.size, reads], [2048, 2])
})

test('MessageIntake.feed(): stores nothing over the limit; counts content without dots', async (t) => {
  const draft = new DraftDouble()
  const intake = intakeOf(t, draft, 100)
  await intake.feed(Buffer.from(`${'x'.repeat(98)}\r\n`))
  t.false(draft.discarded)
  await intake.feed(Buffer.from('y\r\n'))
  t.true(draft.discarded)
  t.is(intake.verdict()?.responseCode, 552)
  t.deepEqual(draft.pieces, [])

  const stuffed = intakeOf(t, new DraftDouble(), 100)
  await stuffed.feed(Buffer.from(`${'..\r\n'.repeat(33)}.\r\n`))
  t.is(stuffed.verdict(), undefined)
})
