/** The store on PostgreSQL beyond the contract: several writers, broken connections, a crash of the server, one owner, snapshots. */
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { connect, createServer, type AddressInfo, type Socket } from 'node:net'
import { Client } from 'pg'
import type { StoreFailure } from '#store/kv.ts'
import { databaseCondition } from '#store/postgresql/condition.ts'
import { PostgresKv } from '#store/postgresql/postgres-kv.ts'
import { waitFor } from '../../support/waits.ts'
import { Postgresql } from '../../support/peers/postgresql.ts'
import { onPostgresql } from './on-server.ts'
import { absent, check, count, everything, key, nameOf, ok, read, textOf, write } from '../../contracts/kv-subject.ts'

const { test, postgresql } = onPostgresql()

test('PostgresKv: several processes count exactly and claim only once', async (t) => {
  const address = await postgresql().database()
  const kvs = await Promise.all([1, 2, 3].map(() => PostgresKv.open(address)))
  const claims = await Promise.all(
    kvs.flatMap((kv, i) => Array.from({ length: 20 }, (_, n) => write(kv, { checks: [absent(`k${n}`)], sets: [[`k${n}`, String(i)]] }))),
  )
  t.is(claims.filter((claim) => claim.ok).length, 20, 'one process claimed each key')
  const limited = await Promise.all(
    kvs.flatMap((kv) => Array.from({ length: 40 }, () => write(kv, { adds: [{ key: 'n', delta: 1, limit: 50 }] }))),
  )
  t.is(limited.filter((one) => one.ok).length, 50)
  t.is(await count(kvs[0]!, 'n'), 50)
  const increment = async (kv: PostgresKv): Promise<void> => {
    for (;;) {
      const current = await kv.get(key('sum'))
      const next = String(Number(textOf(current) ?? 0) + 1)
      if ((await write(kv, { checks: [{ key: key('sum'), version: current?.version }], sets: [['sum', next]] })).ok) return
    }
  }
  await Promise.all(kvs.flatMap((kv) => Array.from({ length: 10 }, () => increment(kv))))
  t.is(await read(kvs[0]!, 'sum'), '30')
  const crossed = kvs.flatMap((kv, i) =>
    Array.from({ length: 20 }, (_, n) =>
      write(kv, { sets: ['x', 'y', 'z'].map((name) => [`${name}${(n * (i + 1)) % 5}`, `${i}`] as const) }),
    ),
  )
  t.true((await Promise.all(crossed)).every((one) => one.ok))
  for (const kv of kvs) await kv[Symbol.asyncDispose]()
})

test('PostgresKv: a write without a commit response takes place exactly once', async (t) => {
  const address = await postgresql().database()
  await using proxy = await startProxy(postgresql().port)
  const kv = await PostgresKv.open(address.replace(String(postgresql().port), String(proxy.port)))
  for (let i = 1; i <= 12; i++) {
    if (i % 2 === 0) proxy.cutAtCommit(i % 4 === 0 ? 'before' : 'after')
    t.deepEqual(await write(kv, { adds: [{ key: 'n', delta: 1 }], sets: [[`row ${i}`, '']] }), ok)
    t.is(await count(kv, 'n'), i)
  }
  t.is(proxy.cuts, 6)
  await kv[Symbol.asyncDispose]()
})

test('PostgresKv.open(): reports a lost connection during the creation of tables', async (t) => {
  const address = await postgresql().database()
  const other = new Client(address)
  await other.connect()
  t.teardown(() => other.end())
  await other.query('SELECT pg_advisory_lock($1)', [0x706f_7374])
  const opening = t.throwsAsync(PostgresKv.open(address), { message: 'terminating connection due to administrator command' })
  const waiting = `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
    WHERE datname = current_database() AND wait_event_type = 'Lock' AND wait_event = 'advisory'`
  await waitFor('the tables wait for the lock', async () => (await other.query(waiting)).rowCount === 1)
  await opening
})

test('PostgresKv: a restarted server loses no acknowledged write', async (t) => {
  await using own = await Postgresql.start()
  const kv = await PostgresKv.open(await own.database(), { maxOutageMs: 60_000 })
  const acknowledged: string[] = []
  let next = 0
  const writer = async (until: number): Promise<void> => {
    while (next < until) {
      const name = `row ${next++}`
      t.deepEqual(await write(kv, { sets: [[name, name]], adds: [{ key: 'n', delta: 1 }] }), ok)
      acknowledged.push(name)
    }
  }
  await Promise.all([writer(50), writer(50)])
  const more = Promise.all([writer(300), writer(300), writer(300)])
  await own.stopServer('SIGQUIT')
  await own.startServer()
  await more
  const names: string[] = []
  for await (const entry of kv.range(everything)) names.push(nameOf(entry.key))
  t.deepEqual(names, acknowledged.toSorted())
  t.is(await count(kv, 'n'), acknowledged.length, 'a repeated write counts once')
  await kv[Symbol.asyncDispose]()
})

test('PostgresKv: a long outage ends the store with the reason', async (t) => {
  await using own = await Postgresql.start()
  const failures: StoreFailure[] = []
  const kv = await PostgresKv.open(await own.database(), { maxOutageMs: 300, onFailure: (failure) => failures.push(failure) })
  await write(kv, { sets: [['a', 'kept']] })
  await own.stopServer()
  await t.throwsAsync(write(kv, { sets: [['b', 'late']] }), { name: 'StoreFailure', message: /has been unreachable for 0\.3 seconds/ })
  t.is(failures.length, 1)
  await t.throwsAsync(kv.get(key('a')), { name: 'StoreFailure' })
  await t.throwsAsync(PostgresKv.open(own.address()), { name: 'StoreUnavailable', message: /No database accepts writes at postgresql:/ })
  await kv[Symbol.asyncDispose]()
})

test('PostgresKv: a sole owner notices another owner in between', async (t) => {
  const address = await postgresql().database()
  const database = address.split('/').at(-1)!
  const first = await PostgresKv.open(address, { use: 'alone', maxOutageMs: 2000 })
  t.deepEqual(await write(first, { sets: [['a', '1']] }), ok)
  const cut = (): Promise<unknown> =>
    postgresql().query(
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '${database}' AND application_name = 'postern writes'`,
    )
  await cut()
  t.deepEqual(await write(first, { sets: [['a', '2']] }), ok, 'its connection is lost, and it is still the owner')
  await cut()
  const second = await PostgresKv.open(address, { use: 'alone' })
  await t.throwsAsync(write(first, { sets: [['a', '3']] }), { name: 'StoreFailure' })
  t.deepEqual(await write(second, { checks: [await check(second, 'a')], sets: [['a', '4']] }), ok)
  await second[Symbol.asyncDispose]()
  await first[Symbol.asyncDispose]()
})

test('PostgresKv: a leftover copy is reported unless a command is using it', async (t) => {
  const address = await postgresql().database()
  const forgotten = async () => (await databaseCondition(address)).forgottenCopy
  const command = await PostgresKv.open(address, { use: 'alone' })
  t.is(await forgotten(), null)
  await postgresql().query('CREATE TABLE postern_rows_restored (LIKE postern_rows INCLUDING ALL)', nameIn(address))
  t.is(await forgotten(), null, 'the copy is being written')
  await command[Symbol.asyncDispose]()
  t.regex(await waitFor('the session has ended', async () => (await forgotten()) ?? undefined), /^\d+ kB$/)
})

test('PostgresKv: a snapshot shows one point in time in key order', async (t) => {
  const kv = await PostgresKv.open(await postgresql().database())
  const names = Array.from({ length: 1500 }, (_, i) => String(i).padStart(5, '0'))
  await Promise.all(names.map((name) => write(kv, { sets: [[name, name === '00007' ? 'x'.repeat(5000) : name]] })))
  await using snapshot = await kv.snapshot()
  await write(kv, { sets: [['late', 'x']], deletes: ['00003'] })
  const found: string[] = []
  const kinds = new Map<string, number>()
  let highest = 0n
  for await (const row of snapshot.rows) {
    kinds.set(row.kind, (kinds.get(row.kind) ?? 0) + 1)
    if (row.version > highest) highest = row.version
    if (row.key[0] !== 0xff) found.push(nameOf(row.key))
  }
  t.deepEqual(found, names)
  t.deepEqual(Object.fromEntries(kinds), { inline: 1500, large: 1 })
  t.is(highest, snapshot.version, 'the row of the version is the highest')
  await kv[Symbol.asyncDispose]()
})

test('PostgresKv: old or unsafe servers and missing rights are refused', async (t) => {
  const address = await postgresql().database()
  const database = address.split('/').at(-1)!
  const guest = `guest_${randomBytes(8).toString('hex')}`
  await postgresql().query(`CREATE ROLE ${guest} LOGIN`)
  t.teardown(() => postgresql().query(`DROP ROLE ${guest}`))
  await postgresql().query('REVOKE CREATE ON SCHEMA public FROM PUBLIC', database)
  await t.throwsAsync(PostgresKv.open(address.replace('postern@', `${guest}@`)), { message: /may not create tables there: GRANT CREATE/ })
  await t.throwsAsync(PostgresKv.open(address.replace(database, 'nowhere')), { message: /refuses: database "nowhere" does not exist/ })
  const says = async (setting: string, value: string): Promise<string> => {
    const address = await postgresql().database() // the server itself seems to have the setting
    const others = 'pg_catalog.current_setting($1)'
    const body = `SELECT CASE $1 WHEN '${setting}' THEN '${value}' ELSE ${others} END`
    await postgresql().query('CREATE SCHEMA says', nameIn(address))
    await postgresql().query(`CREATE FUNCTION says.current_setting(text) RETURNS text LANGUAGE sql AS $$ ${body} $$`, nameIn(address))
    await postgresql().query(`ALTER DATABASE ${nameIn(address)} SET search_path = says, pg_catalog, public`)
    return address
  }
  const losing = /runs without fsync or full_page_writes and would lose mail; set both to on/
  await t.throwsAsync(PostgresKv.open(await says('server_version_num', '120022')), { message: /is older than PostgreSQL 13; upgrade it/ })
  await t.throwsAsync(PostgresKv.open(await says('fsync', 'off')), { message: losing })
  await t.throwsAsync(PostgresKv.open(await says('full_page_writes', 'off')), { message: losing })
  const forgetful = await says('synchronous_commit', 'off')
  await t.throwsAsync(PostgresKv.open(forgetful), {
    name: 'StoreUnavailable',
    message: /a pooler must pass on the settings of its clients/,
  })
  await t.throwsAsync(PostgresKv.open('postgresql://host'), { message: /must be postgresql:\/\/user@host\/database/ })
})

test('PostgresKv: groups are READ COMMITTED and durable with any defaults', async (t) => {
  const address = await postgresql().database()
  const database = nameIn(address)
  const ask = (text: string): Promise<readonly Record<string, unknown>[]> => postgresql().query(text, database)
  await (await PostgresKv.open(address))[Symbol.asyncDispose]()
  for (const whose of [`DATABASE ${database}`, `ROLE postern IN DATABASE ${database}`]) {
    await ask(`ALTER ${whose} SET synchronous_commit = off`)
    await ask(`ALTER ${whose} SET default_transaction_isolation = 'serializable'`)
  }
  const settings = "current_setting('transaction_isolation') AS isolation, current_setting('synchronous_commit') AS waits"
  t.deepEqual(
    await ask(`SELECT ${settings}`),
    [{ isolation: 'serializable', waits: 'off' }],
    'sessions of other programs have the defaults',
  )
  await ask(`CREATE TABLE seen AS SELECT ${settings} LIMIT 0`)
  await ask(`CREATE FUNCTION note() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN INSERT INTO seen SELECT ${settings}; RETURN NULL; END $$`)
  await ask('CREATE TRIGGER note AFTER INSERT OR UPDATE OR DELETE ON postern_rows EXECUTE FUNCTION note()')
  const kv = await PostgresKv.open(address, { use: 'together' })
  for (const value of ['1', '2']) t.deepEqual(await write(kv, { sets: [['a', value]], adds: [{ key: 'n', delta: 1 }] }), ok)
  await postgresql().query(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '${database}' AND state = 'idle'`)
  t.deepEqual(await write(kv, { sets: [['a', '3']] }), ok, 'on the next connection too')
  const seen = await ask('SELECT DISTINCT isolation, waits FROM seen')
  t.deepEqual(seen, [{ isolation: 'read committed', waits: 'on' }])
  await kv[Symbol.asyncDispose]()
})

for (const [how, parts] of Object.entries({ changed: { sets: ['z', 'm', 'a'] }, 'only checked': { sets: ['z', 'a'], checks: ['m'] } })) {
  test(`PostgresKv: a group locks its rows in key order; one row is ${how}`, async (t) => {
    const address = await postgresql().database()
    const kv = await PostgresKv.open(address)
    await write(kv, { sets: ['z', 'm', 'a'].map((name) => [name, 'before']) })
    const holder = new Client({ connectionString: address })
    await holder.connect()
    await holder.query('BEGIN')
    await holder.query('SELECT FROM postern_rows WHERE key = $1 FOR UPDATE', [key('m')])
    const checks = await Promise.all(('checks' in parts ? parts.checks : []).map((name) => check(kv, name)))
    const writing = write(kv, { sets: parts.sets.map((name) => [name, 'after']), checks })
    const waits = `SELECT FROM pg_stat_activity WHERE datname = '${nameIn(address)}' AND wait_event_type = 'Lock'`
    await waitFor('the group waits for the row', async () => (await postgresql().query(waits)).length > 0)
    const free = await postgresql().query('SELECT key FROM postern_rows FOR UPDATE SKIP LOCKED', nameIn(address))
    t.deepEqual(
      free.map((row) => nameOf(row['key'] as Buffer)),
      ['z'],
    )
    await holder.end()
    t.deepEqual(await writing, ok)
    await kv[Symbol.asyncDispose]()
  })
}

const nameIn = (address: string): string => new URL(address).pathname.slice(1)

/** A relay that can close a connection at a commit, before the server gets it or when the response arrives. */
async function startProxy(target: number): Promise<Proxy> {
  let armed: 'before' | 'after' | undefined
  let cuts = 0
  const sockets = new Set<Socket>()
  const server = createServer((client) => {
    const upstream = connect(target, '127.0.0.1')
    for (const socket of [client, upstream]) sockets.add(socket.on('error', () => undefined).on('close', () => sockets.delete(socket)))
    const end = (): void => {
      armed = undefined
      cuts++
      client.destroy()
      upstream.destroy()
    }
    let isEnding = false
    client.on('data', (bytes) => {
      const isCommit = armed !== undefined && bytes.includes('COMMIT')
      if (isCommit && armed === 'before') {
        end()
        return
      }
      isEnding ||= isCommit
      upstream.write(bytes)
    })
    upstream.on('data', (bytes) => {
      if (isEnding && bytes.includes('COMMIT')) end()
      else if (!isEnding) client.write(bytes)
    })
    client.on('close', () => upstream.end())
    upstream.on('close', () => client.end())
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    port: (server.address() as AddressInfo).port,
    cutAtCommit: (where) => void (armed = where),
    get cuts() {
      return cuts
    },
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy()
      server.close()
      await once(server, 'close')
    },
  }
}

interface Proxy extends AsyncDisposable {
  readonly port: number
  readonly cuts: number
  cutAtCommit(where: 'before' | 'after'): void
}
