/** Questions of one daemon to all others at a database: each living daemon does the work. */
import { randomBytes } from 'node:crypto'
import { PostgresKv } from '#store/postgresql/postgres-kv.ts'
import { Front } from '../../support/network/front.ts'
import { everything, nameOf, ok, write } from '../../contracts/kv-subject.ts'
import { onPostgresql } from './on-server.ts'

const { test, postgresql } = onPostgresql()

const nowhere = Buffer.from('a')
const inText = (one: string, other: string): number => one.localeCompare(other)

test('questions: each other daemon handles all items, then answers', async (t) => {
  const address = await postgresql().database()
  await using one = await PostgresKv.open(address, { use: 'together' })
  await using two = await PostgresKv.open(address, { use: 'together' })
  await using three = await PostgresKv.open(address, { use: 'together' })
  const places = Array.from({ length: 400 }, (_, at) => `org_${String(at).padStart(36, '0')}`) // more items than one notice holds
  const done = { two: new Set<string>(), three: new Set<string>() }
  two.daemons.onAsked('end', async (items) => {
    await two.get(nowhere)
    for (const item of items) done.two.add(item)
  })
  let failures = 0
  three.daemons.onAsked('end', async (items) => {
    if (failures++ === 0) throw new Error('not yet')
    for (const item of items) done.three.add(item)
  })
  one.daemons.onAsked('end', async () => t.fail('a daemon does not ask itself'))
  await one.daemons.askOthers('end', places)
  t.deepEqual([...done.two].toSorted(inText), places)
  t.deepEqual([...done.three].toSorted(inText), places, 'the daemon repeats the question for a failed item')
})

test('questions: the wait ends when a silent daemon can no longer write', async (t) => {
  const address = await postgresql().database()
  await using front = await Front.to(postgresql().port)
  const silent = await PostgresKv.open(address.replace(`:${postgresql().port}/`, `:${front.port}/`), { use: 'together', maxOutageMs: 100 })
  await using other = await PostgresKv.open(address, { use: 'together' })
  silent.daemons.onAsked('end', async () => t.fail('a silent daemon receives no question'))
  front.silence()
  await other.daemons.askOthers('end', [''])
  t.is((await postgresql().query('SELECT FROM postern_writers', new URL(address).pathname.slice(1))).length, 1)
  front.refuse()
  await silent[Symbol.asyncDispose]().catch(() => undefined)
})

test('questions: a daemon answers after a lost connection', async (t) => {
  const address = await postgresql().database()
  await using one = await PostgresKv.open(address, { use: 'together' })
  await using two = await PostgresKv.open(address, { use: 'together' })
  let asked = 0
  two.daemons.onAsked('end', async () => void asked++)
  await postgresql().query(
    `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'postern daemon' AND datname = '${new URL(address).pathname.slice(1)}'`,
  )
  await one.daemons.askOthers('end', [''])
  t.true(asked > 0)
})

test('questions: any encoding and collation of the database works', async (t) => {
  const latin = `latin_${randomBytes(8).toString('hex')}`
  await postgresql().query(
    `CREATE DATABASE ${latin} TEMPLATE template0 ENCODING 'LATIN1' LOCALE_PROVIDER icu ICU_LOCALE 'de-CH' LC_COLLATE 'C' LC_CTYPE 'C'`,
  )
  await using one = await PostgresKv.open(postgresql().address(latin), { use: 'together' })
  await using two = await PostgresKv.open(postgresql().address(latin), { use: 'together' })
  const names = ['Zoë', 'zoe', 'Ω → 🦊', 'Z']
  t.deepEqual(await write(one, { sets: names.map((name) => [name, name]) }), ok)
  const found: string[] = []
  for await (const { key, value } of two.range(everything)) found.push(nameOf(key), Buffer.from(value).toString())
  const inOctets = names.toSorted((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)))
  t.deepEqual(
    found,
    inOctets.flatMap((name) => [name, name]),
  )
  const { promise: arrived, resolve, reject } = Promise.withResolvers<readonly string[]>()
  two.daemons.subscribe('names', resolve)
  two.daemons.onGap(() => reject(new Error('the published names are lost')))
  one.daemons.publish('names', names)
  t.deepEqual(await arrived, names)
})
