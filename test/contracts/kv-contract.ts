/** Behavior that every ordered map below the store must have. Each implementation's test file calls it. */
import type { TestFn } from 'ava'
import { counters } from './kv-counters.ts'
import { tallies } from './kv-tallies.ts'
import type { Write } from '#store/kv.ts'
import {
  key,
  everything,
  nameOf,
  textOf,
  ok,
  write,
  read,
  check,
  absent,
  count,
  names,
  type KvSubject,
  type Outcome,
} from './kv-subject.ts'
import { Seeded } from '../support/seeded.ts'
import { column } from '../support/column.ts'

/** Declares all tests of the contract. */
export function kvContract(test: TestFn, subject: KvSubject): void {
  readingAndRanges(test, subject)
  checksAndVersions(test, subject)
  counters(test, subject)
  tallies(test, subject)
  racesBetweenWriters(test, subject)
  durability(test, subject)
}

function readingAndRanges(test: TestFn, { open, reopen }: KvSubject): void {
  test('Kv.get(): returns the written value; undefined if there is none', async (t) => {
    await using kv = await open()
    t.deepEqual(await write(kv, { sets: [['a', 'one']] }), ok)
    t.is(await read(kv, 'a'), 'one')
    t.is(await kv.get(key('b')), undefined)
    await write(kv, { sets: [['a', 'two']] })
    t.is(await read(kv, 'a'), 'two')
    await write(kv, { deletes: ['a', 'never there'] })
    t.is(await kv.get(key('a')), undefined)
  })

  test('Kv.write(): stores a value given in pieces as one value', async (t) => {
    let kv = await open()
    const values = [[], ['one'], ['', 'one', '', 'two'], ['x'.repeat(40_000), 'y', 'z'.repeat(40_000)]]
    const sets = values.map((pieces, i) => ({ key: key(`value ${i}`), value: pieces.map((piece) => Buffer.from(piece)) }))
    t.like(await kv.write({ checks: [], sets, deletes: [], adds: [] }), ok)
    const stored = values.map((pieces) => pieces.join(''))
    t.deepEqual((await kv.getMany(sets.map((set) => set.key))).map(textOf), stored)
    kv = await reopen(kv)
    t.deepEqual((await kv.getMany(sets.map((set) => set.key))).map(textOf), stored)
    await kv[Symbol.asyncDispose]()
  })

  test('Kv.getMany(): returns values in the requested order, with gaps and repetitions', async (t) => {
    await using kv = await open()
    await write(kv, { sets: ['a', 'b', 'c'].map((name) => [name, name] as const) })
    const entries = await kv.getMany(['c', 'x', 'a', 'c'].map(key))
    t.deepEqual(entries.map(textOf), ['c', undefined, 'a', 'c'])
    t.deepEqual(await kv.getMany([]), [])
  })

  test('Kv.range(): byte order in both directions, start inclusive, end exclusive', async (t) => {
    await using kv = await open()
    const inOrder = ['', '!', 'A', 'Z', 'a', 'aa', 'b', 'é', '漢', '😀']
    await write(kv, { sets: inOrder.toReversed().map((name) => [name, name] as const) })
    t.deepEqual(await names(kv), inOrder)
    t.deepEqual(await names(kv, { reverse: true }), inOrder.toReversed())
    t.deepEqual(await names(kv, { start: key('A'), end: key('aa') }), ['A', 'Z', 'a'])
    t.deepEqual(await names(kv, { start: key('A'), end: key('aa'), reverse: true }), ['a', 'Z', 'A'])
  })

  test('Kv.range(): may start and end between keys, be empty, or have reversed bounds', async (t) => {
    await using kv = await open()
    await write(kv, { sets: ['b', 'd', 'f'].map((name) => [name, name] as const) })
    t.deepEqual(await names(kv, { start: key('a'), end: key('e') }), ['b', 'd'])
    t.deepEqual(await names(kv, { start: key('c'), end: key('z'), reverse: true }), ['f', 'd'])
    t.deepEqual(await names(kv, { start: key('c'), end: key('d') }), [])
    t.deepEqual(await names(kv, { start: key('d'), end: key('d') }), [])
    t.deepEqual(await names(kv, { start: key('f'), end: key('b') }), [])
    t.deepEqual(await names(kv, { start: key('f'), end: key('b'), reverse: true }), [])
  })

  test('Kv.range(): stops at the limit or at the last entry', async (t) => {
    await using kv = await open()
    const many = Array.from({ length: 2500 }, (_, i) => String(i).padStart(5, '0'))
    await write(kv, { sets: many.map((name) => [name, 'x'.repeat(50)] as const) })
    t.deepEqual(await names(kv, { limit: 1 }), many.slice(0, 1))
    t.deepEqual(await names(kv, { limit: 2300, reverse: true }), many.toReversed().slice(0, 2300))
    t.deepEqual(await names(kv, { limit: 9000 }), many)
    t.deepEqual(await names(kv, { limit: 0 }), [])
  })

  test('Kv.range(): can stop early, and returns values', async (t) => {
    await using kv = await open()
    await write(kv, { sets: ['a', 'b', 'c'].map((name) => [name, `value of ${name}`] as const) })
    for await (const entry of kv.range(everything)) {
      t.is(textOf(entry), 'value of a')
      t.deepEqual(await kv.get(entry.key), entry)
      break
    }
    t.is((await names(kv)).length, 3)
  })
}

function checksAndVersions(test: TestFn, { open }: KvSubject): void {
  test('Kv.write(): a failed check changes nothing and names the key', async (t) => {
    await using kv = await open()
    await write(kv, {
      sets: [
        ['a', 'old'],
        ['gone', 'still there'],
      ],
      adds: [{ key: 'n', delta: 1 }],
    })
    const parts = {
      sets: [
        ['a', 'new'],
        ['b', 'new'],
      ] as const,
      deletes: ['gone'],
      adds: [{ key: 'n', delta: 5 }],
    }
    t.deepEqual(await write(kv, { ...parts, checks: [await check(kv, 'gone'), absent('a')] }), {
      ok: false,
      reason: 'conflict',
      key: key('a'),
    })
    t.deepEqual([await read(kv, 'a'), await read(kv, 'b'), await read(kv, 'gone')], ['old', undefined, 'still there'])
    t.is(await count(kv, 'n'), 1)
    t.deepEqual(await write(kv, { ...parts, checks: [await check(kv, 'gone'), absent('b')] }), ok)
    t.deepEqual([await read(kv, 'a'), await read(kv, 'b'), await read(kv, 'gone')], ['new', 'new', undefined])
    t.is(await count(kv, 'n'), 6)
  })

  test('Kv.write(): one version for all keys; a set wins over a delete', async (t) => {
    await using kv = await open()
    await write(kv, {
      sets: [
        ['a', '1'],
        ['b', '1'],
      ],
      deletes: ['b'],
    })
    const [a, b] = await kv.getMany([key('a'), key('b')])
    t.truthy(a)
    t.is(a?.version, b?.version)
    await write(kv, { sets: [['a', '1']] })
    t.not((await kv.get(key('a')))?.version, b?.version, 'the same value again is a new version')
  })

  test('Kv.write(): detects a deletion and creation in between (no ABA)', async (t) => {
    await using kv = await open()
    await write(kv, { sets: [['a', 'same']] })
    const before = await check(kv, 'a')
    await write(kv, { deletes: ['a'] })
    await write(kv, { sets: [['a', 'same']] })
    t.like(await write(kv, { checks: [before], sets: [['a', 'late']] }), { ok: false, reason: 'conflict' })
    t.is(await read(kv, 'a'), 'same')
  })

  test('Kv.write() evaluates writes that arrive together in order', async (t) => {
    await using kv = await open()
    await write(kv, { sets: [['a', '0']] })
    const first = await check(kv, 'a')
    const results = await Promise.all([
      write(kv, { checks: [first], sets: [['a', '1']] }),
      write(kv, { checks: [first], sets: [['a', '2']] }),
      write(kv, { checks: [absent('a')], sets: [['a', '3']] }),
      write(kv, { deletes: ['a'] }),
      write(kv, { checks: [first], sets: [['a', '4']] }),
      write(kv, { checks: [absent('a')], sets: [['a', '5']] }),
      write(kv, { checks: [absent('a')], sets: [['a', '6']] }),
    ])
    t.deepEqual(column(results, 'ok'), [true, false, false, true, false, true, false])
    t.is(await read(kv, 'a'), '5')
  })

  test('Kv.write(): the last of several writes to a key wins, at any size', async (t) => {
    await using kv = await open()
    const big = 'b'.repeat(300_000)
    await Promise.all([
      write(kv, {
        sets: [
          ['deleted', big],
          ['small', big],
          ['big', 'small'],
        ],
      }),
      write(kv, {
        deletes: ['deleted'],
        sets: [
          ['small', 'small'],
          ['big', big],
        ],
      }),
    ])
    t.is(await read(kv, 'deleted'), undefined)
    t.is(await read(kv, 'small'), 'small')
    t.is((await read(kv, 'big'))?.length, big.length)
  })
}

function racesBetweenWriters(test: TestFn, { open }: KvSubject): void {
  test('Kv.write() loses none of 40 increments by check and retry', async (t) => {
    await using kv = await open()
    const increment = async (): Promise<void> => {
      for (;;) {
        const current = await kv.get(key('n'))
        const next = String(Number(textOf(current) ?? 0) + 1)
        const result = await write(kv, { checks: [{ key: key('n'), version: current?.version }], sets: [['n', next]] })
        if (result.ok) return
      }
    }
    await Promise.all(Array.from({ length: 40 }, increment))
    t.is(await read(kv, 'n'), '40')
  })

  test('Kv.write(): exactly one of 30 claims of a key succeeds', async (t) => {
    await using kv = await open()
    const claims = Array.from({ length: 30 }, (_, i) =>
      write(kv, {
        checks: [absent('name')],
        sets: [
          ['name', String(i)],
          [`own ${i}`, ''],
        ],
      }),
    )
    const winners = (await Promise.all(claims)).flatMap((result, i) => (result.ok ? [String(i)] : []))
    t.is(winners.length, 1)
    t.deepEqual(await read(kv, 'name'), winners[0])
    t.deepEqual(await names(kv), ['name', `own ${winners[0] ?? ''}`])
  })

  test('Kv.write(): two checks prevent write skew', async (t) => {
    await using kv = await open()
    await write(kv, {
      sets: [
        ['left', 'on duty'],
        ['right', 'on duty'],
      ],
    })
    const both = [await check(kv, 'left'), await check(kv, 'right')]
    const results = await Promise.all(['left', 'right'].map((name) => write(kv, { checks: both, sets: [[name, 'off']] })))
    t.is(results.filter((result) => result.ok).length, 1)
  })

  test('Kv.write(): returns the version of the written entries', async (t) => {
    await using kv = await open()
    const one = (name: string): Write => ({ checks: [], sets: [{ key: key(name), value: Buffer.from(name) }], deletes: [], adds: [] })
    const results = await Promise.all(['a', 'b', 'c'].map((name) => kv.write(one(name))))
    const versions = await Promise.all(['a', 'b', 'c'].map(async (name) => (await kv.get(key(name)))?.version))
    t.deepEqual(
      results.map((result) => result.ok && result.version),
      versions as bigint[],
    )
    t.is(new Set(versions).size, 3)
  })

  test('Kv.write(): thousands of parallel writes match a simple map', async (t) => {
    await using kv = await open()
    const seeded = new Seeded('thousands at once')
    const model = new Map<string, string>()
    const pending: Promise<Outcome>[] = []
    for (let i = 0; i < 3000; i++) {
      const name = String(seeded.between(0, 400))
      if (seeded.chance(0.3)) {
        model.delete(name)
        pending.push(write(kv, { deletes: [name] }))
      } else {
        const value = `${i} ${'v'.repeat(seeded.between(0, 100))}`
        model.set(name, value)
        pending.push(write(kv, { sets: [[name, value]] }))
      }
      if (i % 97 === 0) await pending.at(-1)
    }
    t.true((await Promise.all(pending)).every((result) => result.ok))
    const stored = new Map<string, string | undefined>()
    for await (const entry of kv.range(everything)) stored.set(nameOf(entry.key), textOf(entry))
    t.deepEqual(stored, new Map([...model].toSorted(([a], [b]) => (a < b ? -1 : 1))))
  })
}

function durability(test: TestFn, { open, reopen }: KvSubject): void {
  test('Kv.write(): accepts 1 MiB values, empty values and all bytes', async (t) => {
    const first = await open()
    const mebibyte = Buffer.alloc(1024 * 1024, 'postern ')
    const everyByte = Buffer.from(Array.from({ length: 256 }, (_, i) => i))
    await write(first, {
      sets: [
        ['big', mebibyte],
        ['empty', ''],
        ['bytes', everyByte],
      ],
    })
    await using again = await reopen(first)
    t.is(Buffer.compare((await again.get(key('big')))?.value ?? Buffer.of(), mebibyte), 0)
    t.is((await again.get(key('empty')))?.value.length, 0)
    t.deepEqual(Buffer.from((await again.get(key('bytes')))?.value ?? []), everyByte)
  })

  test('Kv.write(): data, counters and versions survive a reopen', async (t) => {
    const first = await open()
    await write(first, {
      sets: [
        ['a', 'kept'],
        ['b', 'gone'],
      ],
      adds: [{ key: 'n', delta: 3 }],
    })
    await write(first, { deletes: ['b'] })
    const before = await check(first, 'a')
    await using again = await reopen(first)
    t.deepEqual(await names(again), ['a'])
    t.is(await count(again, 'n'), 3)
    t.deepEqual(await write(again, { checks: [before], sets: [['a', 'changed']] }), ok)
  })

  test('Kv.write(): never repeats a version, also after a reopen', async (t) => {
    const seen = new Set<bigint>()
    let kv = await open()
    for (let round = 0; round < 3; round++) {
      for (let i = 0; i < 5; i++) {
        await write(kv, { sets: [['a', 'same']] })
        seen.add((await kv.get(key('a')))?.version ?? -1n)
        await write(kv, { deletes: ['a'] })
      }
      kv = await reopen(kv)
    }
    t.is(seen.size, 15)
    await kv[Symbol.asyncDispose]()
  })

  test('Kv.close(): works once; later calls are refused', async (t) => {
    const kv = await open()
    const last = write(kv, { sets: [['a', 'in time']] })
    await Promise.all([kv[Symbol.asyncDispose](), kv[Symbol.asyncDispose]()])
    t.deepEqual(await last, ok)
    await t.throwsAsync(write(kv, { sets: [['a', 'late']] }), { name: 'StoreFailure' })
  })
}
