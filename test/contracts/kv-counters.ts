/** The part of the ordered map's contract about counters. */
import type { TestFn } from 'ava'
import type { WriteResult } from '#store/kv.ts'
import { count, key, names, ok, read, write, type KvSubject } from './kv-subject.ts'

/** Declares the tests of counters. */
export function counters(test: TestFn, { open }: KvSubject): void {
  test('Kv.counter(): starts at 0, goes up and down; negative adds ignore the limit', async (t) => {
    await using kv = await open()
    t.is(await count(kv, 'n'), 0)
    await write(kv, { adds: [{ key: 'n', delta: 7 }] })
    t.deepEqual(await write(kv, { adds: [{ key: 'n', delta: -2, limit: 1 }] }), ok)
    t.is(await count(kv, 'n'), 5)
    t.deepEqual(await write(kv, { adds: [{ key: 'n', delta: -9 }] }), ok)
    t.is(await count(kv, 'n'), -4)
  })

  test('Kv.counters(): returns each in order; 0 for missing counters and for values', async (t) => {
    await using kv = await open()
    await write(kv, { sets: [['value', 'x']], adds: ['a', 'b'].map((name, i) => ({ key: name, delta: i + 1 })) })
    t.deepEqual(await kv.counters(['b', 'none', 'a', 'value', 'b'].map(key)), [2, 0, 1, 0, 2])
    t.deepEqual(await kv.counters([]), [])
  })

  test('Kv.counter(): counters are not entries in ranges, range limits or get()', async (t) => {
    await using kv = await open()
    await write(kv, {
      sets: [
        ['a', ''],
        ['z', ''],
      ],
      adds: ['b', 'c', 'd'].map((name) => ({ key: name, delta: 1 })),
    })
    t.deepEqual(await names(kv), ['a', 'z'])
    t.deepEqual(await names(kv, { limit: 2 }), ['a', 'z'])
    t.is(await kv.get(key('b')), undefined)
    t.is(await count(kv, 'a'), 0)
  })

  test('Kv.write() deletes counters, also between adds that arrive together', async (t) => {
    await using kv = await open()
    await write(kv, {
      adds: [
        { key: 'n', delta: 5 },
        { key: 'm', delta: 5 },
      ],
    })
    await Promise.all([
      write(kv, {
        adds: [
          { key: 'n', delta: 1 },
          { key: 'm', delta: 1 },
        ],
      }),
      write(kv, { deletes: ['n', 'm'] }),
      write(kv, { adds: [{ key: 'n', delta: 2, limit: 2 }] }),
    ])
    t.is(await count(kv, 'n'), 2)
    t.is(await count(kv, 'm'), 0)
    await write(kv, { deletes: ['n'] })
    t.is(await count(kv, 'n'), 0)
  })

  test('Kv.write() refuses an add over its limit, with everything in that write', async (t) => {
    await using kv = await open()
    await write(kv, { adds: [{ key: 'n', delta: 9 }] })
    const refused = { ok: false, reason: 'limit', key: key('n') }
    const parts = {
      sets: [['a', 'x']] as const,
      adds: [
        { key: 'm', delta: 1 },
        { key: 'n', delta: 2, limit: 10 },
      ],
    }
    t.deepEqual(await write(kv, parts), refused as WriteResult)
    t.deepEqual([await read(kv, 'a'), await count(kv, 'm'), await count(kv, 'n')], [undefined, 0, 9])
    t.deepEqual(await write(kv, { adds: [{ key: 'n', delta: 1, limit: 10 }] }), ok)
    t.is(await count(kv, 'n'), 10)
  })

  test('Kv.write() counts several adds of one write to one counter together', async (t) => {
    await using kv = await open()
    const twice = [
      { key: 'n', delta: 6, limit: 10 },
      { key: 'n', delta: 6, limit: 10 },
    ]
    t.like(await write(kv, { adds: twice }), { ok: false, reason: 'limit' })
    t.is(await count(kv, 'n'), 0)
    t.deepEqual(
      await write(kv, {
        adds: [
          { key: 'n', delta: 6 },
          { key: 'n', delta: -3 },
          { key: 'n', delta: 7, limit: 10 },
        ],
      }),
      ok,
    )
    t.is(await count(kv, 'n'), 10)
  })

  test('Kv.write(): accepts exactly as many simultaneous limited adds as fit', async (t) => {
    await using kv = await open()
    const results = await Promise.all(
      Array.from({ length: 60 }, (_, i) => write(kv, { sets: [[`row ${i}`, '']], adds: [{ key: 'n', delta: 1, limit: 25 }] })),
    )
    t.is(results.filter((result) => result.ok).length, 25)
    t.is(await count(kv, 'n'), 25)
    t.is((await names(kv)).length, 25, 'refused ones left their rows')
  })

  test('Kv.write() mixes adds with sets and failed checks of writes that arrive together', async (t) => {
    await using kv = await open()
    await Promise.all(
      Array.from({ length: 30 }, (_, i) =>
        write(kv, {
          checks: i % 3 === 0 ? [{ key: key('nothing'), version: 1n }] : [],
          sets: [[`row ${i}`, 'x']],
          adds: [
            { key: 'n', delta: 1 },
            { key: 'bytes', delta: i },
          ],
        }),
      ),
    )
    t.is(await count(kv, 'n'), 20)
    t.is((await names(kv)).length, 20)
    t.is(await count(kv, 'bytes'), 435 - 135)
  })
}
