import test from '#test'
import { Refusal } from '#core/refusals.ts'
import { withOctets } from '../../../admin-api/bodies/json/long-texts.ts'
import { JsonThread } from '../../../admin-api/bodies/json/json-thread.ts'
import { waiting } from '../../support/waits.ts'

const limits = { maxDepth: 32, maxValues: 50_000 }
const large = (before: string, after: string): Buffer =>
  Buffer.concat([Buffer.from(before), Buffer.alloc(1_000_000, 'x'), Buffer.from(after)])

const parse = async (thread: JsonThread, bytes: Buffer): Promise<unknown> => {
  try {
    using intake = thread.receive()
    intake.push(bytes)
    return (await waiting('the parsed body', intake.value(limits))).value
  } catch (error) {
    return error instanceof Refusal ? error.message : error
  }
}

test('JsonThread parses large bodies like small ones, many at a time', async (t) => {
  await using thread = new JsonThread()
  const bodies = Array.from({ length: 5 }, (_, i) => parse(thread, large(`{"n":${i},"text":"`, '"}')))
  const values = (await Promise.all(bodies)) as { n: number; text: string }[]
  t.deepEqual(
    values.map(({ n, text }) => [n, text.length]),
    [0, 1, 2, 3, 4].map((n) => [n, 1_000_000]),
  )
  t.deepEqual(await parse(thread, Buffer.from('{"n":5}')), { n: 5 })
})

test('JsonThread names the fault of a large body', async (t) => {
  await using thread = new JsonThread()
  t.regex(String(await parse(thread, large('{"text":"', '"'))), /^body: is not JSON: line 1, column 1000011 .*: expected "," or "}"$/)
  t.is(await parse(thread, large(`${'['.repeat(33)}"`, '"')), 'body: nests deeper than 32 levels')
  t.is(await parse(thread, large(`{"a":[${'1,'.repeat(50_000)}1],"b":"`, '"}')), 'body: has more than 50000 values')
  t.is(await parse(thread, Buffer.concat([large('"', ''), Buffer.from([0xff, 0x22])])), 'body: must be UTF-8 text')
})

test('objects of a large body ignore __proto__ fields', async (t) => {
  await using thread = new JsonThread()
  const value = (await parse(thread, large('{"__proto__":{"admin":true},"text":"', '"}'))) as { admin?: boolean }
  t.is(value.admin, undefined)
  t.true(Object.hasOwn(value, '__proto__'))
})

test('closing a JsonThread finishes bodies in progress', async (t) => {
  const thread = new JsonThread()
  const reading = parse(thread, large('"', '"'))
  await thread[Symbol.asyncDispose]()
  t.regex(String(await reading), /is closing/)
})

const latin = `${'caf\u00e9 '.repeat(250_000)}\0\u00ff`
const wide = `${'\u20ac'.repeat(1_100_000)}\ud83d\ude00\ud800`

test('JsonThread returns long texts unchanged, at any position', async (t) => {
  await using thread = new JsonThread()
  const given = { latin, list: ['short', { wide }, latin], '': wide, end: 1 }
  const value = await parse(thread, Buffer.from(JSON.stringify(given)))
  t.true(JSON.stringify(value) === JSON.stringify(given))
  const again = value as typeof given
  t.true(again.latin === latin && again.list[2] === latin)
  again.latin = 'changed'
  t.is(again.latin, 'changed')
  t.true((await parse(thread, Buffer.from(JSON.stringify(wide)))) === wide)
  const inherited = (await parse(thread, Buffer.from(`{"__proto__":${JSON.stringify(latin)}}`))) as object
  t.true(Object.hasOwn(inherited, '__proto__'))
})

test('the memory of a long text is freed after its first use or with its body', async (t) => {
  await using thread = new JsonThread()
  using intake = thread.receive()
  intake.push(Buffer.from(JSON.stringify({ known: latin, unknown: latin })))
  const { value, free } = await waiting('the parsed body', intake.value(limits))
  const { known } = value as { known: string }
  free()
  t.true(known === latin && (value as { known: string }).known === latin)
  t.throws(() => (value as { unknown: string }).unknown, { instanceOf: TypeError })
  free()
})

test('JsonThread assembles a large body from pieces of any size', async (t) => {
  await using thread = new JsonThread()
  const bytes = Buffer.from(JSON.stringify({ text: 'x'.repeat(300_000) }))
  for (const length of [1, 16_383, 16_384, 65_537]) {
    using intake = thread.receive()
    for (let at = 0; at < bytes.length; at += length) intake.push(Buffer.from(bytes.subarray(at, at + length)))
    const { value } = await waiting('the parsed body', intake.value(limits))
    t.true(JSON.stringify(value) === bytes.toString(), String(length))
  }
})

test('JsonThread discards an incomplete body and parses the next one', async (t) => {
  await using thread = new JsonThread()
  {
    using intake = thread.receive()
    for (let i = 0; i < 3; i++) intake.push(Buffer.alloc(1_000_000, '['))
  }
  t.deepEqual(await parse(thread, Buffer.from(JSON.stringify(['next', latin]))), ['next', latin])
})

test('withOctets(): octets of a long text outlive the request; the text is readable', async (t) => {
  await using thread = new JsonThread()
  using intake = thread.receive()
  intake.push(Buffer.from(JSON.stringify({ latin, wide })))
  const { value, free } = await waiting('the parsed body', intake.value(limits))
  const [taken, again] = [withOctets(value, 'latin'), withOctets(value, 'latin')] as { latin: Uint8Array }[]
  t.is(withOctets(value, 'wide'), value)
  free()
  t.true(Buffer.from(taken?.latin ?? []).toString('latin1') === latin)
  t.is(again?.latin, taken?.latin)
  t.true((value as { latin: string }).latin === latin)
  t.is(taken?.latin.length, latin.length)
})
