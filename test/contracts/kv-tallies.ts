/** The part of the ordered map's contract about tallies: counts by name in one value. */
import type { TestFn } from 'ava'
import type { Kv, Tally } from '#store/kv.ts'
import { decodeCounts } from '#store/tally.ts'
import { absent, key, names, ok, read, write, type KvSubject } from './kv-subject.ts'

const tally = (kv: Kv, ...tallies: readonly (Omit<Tally, 'key'> & { readonly key: string })[]) =>
  kv.write({ checks: [], sets: [], deletes: [], adds: [], tallies: tallies.map((one) => ({ ...one, key: key(one.key) })) })

async function counts(kv: Kv, name: string): Promise<Record<string, number> | undefined> {
  const entry = await kv.get(key(name))
  return entry && Object.fromEntries(decodeCounts(entry.value))
}

/** Declares the tests of tallies. */
export function tallies(test: TestFn, { open, reopen }: KvSubject): void {
  test('Kv.write(): adds up tallies by name, also simultaneous ones and after a restart', async (t) => {
    let kv = await open()
    await Promise.all([
      tally(kv, { key: 'n', names: ['a', 'b', 'a'] }),
      tally(kv, { key: 'n', names: ['b'], delta: 400 }, { key: 'm', names: ['ü'.repeat(200)] }),
    ])
    t.deepEqual(await counts(kv, 'n'), { a: 2, b: 401 })
    kv = await reopen(kv)
    await tally(kv, { key: 'n', names: ['a', 'c'], delta: 2 ** 40 })
    t.deepEqual(await counts(kv, 'n'), { a: 2 + 2 ** 40, b: 401, c: 2 ** 40 })
    t.deepEqual(await counts(kv, 'm'), { ['ü'.repeat(85)]: 1 })
    t.deepEqual(await names(kv), ['m', 'n'], 'they are entries')
    await kv[Symbol.asyncDispose]()
  })

  test('Kv.write(): keeps the subjects with the highest counts, and the sums by letter', async (t) => {
    await using kv = await open()
    const once = (subject: string): Omit<Tally, 'key'> & { readonly key: string } => ({
      ...{ key: 'n', names: [`a${subject}`], maxSubjects: 2 },
    })
    await tally(kv, once('x'), once('x'), once('y'), once('y'), once('y'), once('z'))
    t.deepEqual(await counts(kv, 'n'), { ax: 2, ay: 3, a: 1 })
    await tally(kv, once('z'), once('z'), once('z'), once('w'))
    t.deepEqual(await counts(kv, 'n'), { ay: 3, az: 3, a: 1 + 2 + 1 })
  })

  test('Kv.write(): deletes tallies, also if concurrent writes add to them', async (t) => {
    await using kv = await open()
    await tally(kv, { key: 'n', names: ['a'], delta: 5 })
    await Promise.all([tally(kv, { key: 'n', names: ['a'] }), write(kv, { deletes: ['n'] }), tally(kv, { key: 'n', names: ['b'] })])
    t.deepEqual(await counts(kv, 'n'), { b: 1 })
    await write(kv, { deletes: ['n'] })
    t.is(await counts(kv, 'n'), undefined)
  })

  test('Kv.write(): a failed write adds no tally', async (t) => {
    await using kv = await open()
    await write(kv, { sets: [['a', 'x']] })
    const refused = await kv.write({
      ...{ checks: [absent('a')], sets: [{ key: key('a'), value: Buffer.from('y') }], deletes: [], adds: [] },
      tallies: [{ key: key('n'), names: ['a'] }],
    })
    t.false(refused.ok)
    t.deepEqual([await read(kv, 'a'), await counts(kv, 'n')], ['x', undefined])
    t.deepEqual(await write(kv, { deletes: ['n'] }), ok)
  })
}
