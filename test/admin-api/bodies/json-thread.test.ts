import test from '#test'
import { Refusal } from '#core/refusals.ts'
import { JsonThread } from '../../../admin-api/bodies/json/json-thread.ts'
import { waiting } from '../../support/waits.ts'

const limits = { maxDepth: 32, maxValues: 50_000 }
const large = (before: string, after: string): Buffer =>
  Buffer.concat([Buffer.from(before), Buffer.alloc(1_000_000, 'x'), Buffer.from(after)])

const parse = async (thread: JsonThread, bytes: Buffer): Promise<unknown> => {
  try {
    return await waiting('the body is read', thread.parse(bytes, limits))
  } catch (error) {
    return error instanceof Refusal ? error.message : error
  }
}

test('JsonThread reads large bodies like small ones, many at a time', async (t) => {
  await using thread = new JsonThread()
  const bodies = Array.from({ length: 5 }, (_, i) => parse(thread, large(`{"n":${i},"text":"`, '"}')))
  const values = (await Promise.all(bodies)) as { n: number; text: string }[]
  t.deepEqual(
    values.map(({ n, text }) => [n, text.length]),
    [0, 1, 2, 3, 4].map((n) => [n, 1_000_000]),
  )
  t.deepEqual(await parse(thread, Buffer.from('{"n":5}')), { n: 5 })
})

test('JsonThread names what is wrong with a large body', async (t) => {
  await using thread = new JsonThread()
  t.regex(String(await parse(thread, large('{"text":"', '"'))), /^body: is not JSON: line 1, column 1000011 .*: expected "," or "}"$/)
  t.is(await parse(thread, large(`${'['.repeat(33)}"`, '"')), 'body: nests deeper than 32 levels')
  t.is(await parse(thread, large(`{"a":[${'1,'.repeat(50_000)}1],"b":"`, '"}')), 'body: has more than 50000 values')
  t.is(await parse(thread, Buffer.concat([large('"', ''), Buffer.from([0xff, 0x22])])), 'body: must be UTF-8 text')
})

test('no object of a large body inherits from one of its fields', async (t) => {
  await using thread = new JsonThread()
  const value = (await parse(thread, large('{"__proto__":{"admin":true},"text":"', '"}'))) as { admin?: boolean }
  t.is(value.admin, undefined)
  t.true(Object.hasOwn(value, '__proto__'))
})

test('JsonThread that is closed answers what it still reads', async (t) => {
  const thread = new JsonThread()
  const reading = parse(thread, large('"', '"'))
  await thread[Symbol.asyncDispose]()
  t.regex(String(await reading), /is closing/)
})
