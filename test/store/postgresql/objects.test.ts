/** Large values as objects in a bucket and in a folder: crashes, unreachable or slow servers, damage and deletions. */
import { once } from 'node:events'
import { cp, mkdir, readdir, rename, rm, utimes, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { ownMemory } from '../../../daemon/process/quiet-memory.ts'
import { digestRows } from '#store/engine/row-digest.ts'
import type { Kv } from '#store/kv.ts'
import { objectStoreAt } from '#store/postgresql/objects/address.ts'
import { FolderObjects } from '#store/postgresql/objects/folder-objects.ts'
import { S3Objects } from '#store/postgresql/objects/s3-objects.ts'
import type { ObjectStore } from '#store/postgresql/objects/object-store.ts'
import { PostgresKv } from '#store/postgresql/postgres-kv.ts'
import { writeRestoredDatabase } from '#store/postgresql/restored-store.ts'
import { count, everything, key, names, ok, read, write } from '../../contracts/kv-subject.ts'
import { temporaryFolder } from '../../support/daemon/workspace.ts'
import { onPostgresqlWithObjects } from './on-server.ts'

const { test, postgresql, objects: server } = onPostgresqlWithObjects()

const leastBytes = 1000
const big = (letter: string): string => letter.repeat(5000)
const dayMs = 86_400_000
const openWith = (address: string, objects: ObjectStore): Promise<PostgresKv> =>
  PostgresKv.open(address, { large: { objects, leastBytes } })

/** Files of values, without the marker of the store. */
async function filesIn(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true })
  return entries.filter((entry) => entry.isFile() && entry.name !== 'store').map((entry) => join(entry.parentPath, entry.name))
}

async function until(holds: () => Promise<boolean>): Promise<void> {
  while (!(await holds())) await wait(20)
}

test('objects: unused ones are removed, but not during a snapshot', async (t) => {
  await using folder = await temporaryFolder('objects')
  const kv = await openWith(await postgresql().database(), new FolderObjects(folder.path))
  await write(kv, { sets: ['a', 'b', 'c'].map((name) => [name, big(name)] as const) })
  t.is((await filesIn(folder.path)).length, 3)
  {
    await using snapshot = await kv.snapshot()
    await write(kv, { deletes: ['a'], sets: [['b', big('B')]] })
    t.like(await write(kv, { checks: [{ key: key('b'), version: 1n }], sets: [['d', big('d')]] }), { reason: 'conflict' })
    const bodies: string[] = []
    for await (const { kind, body } of snapshot.rows) if (kind === 'large') bodies.push(Buffer.from(body).toString())
    t.deepEqual(bodies, ['a', 'b', 'c'].map(big), 'all values at the time of the snapshot')
    t.is((await filesIn(folder.path)).length, 5)
  }
  t.deepEqual([await read(kv, 'a'), await read(kv, 'b'), await read(kv, 'd')], [undefined, big('B'), undefined])
  await write(kv, { deletes: ['c'] })
  await until(async () => (await filesIn(folder.path)).length === 1)
  t.is(await read(kv, 'b'), big('B'))
  await kv[Symbol.asyncDispose]()
})

test('objects: the sweep removes leftovers after a day, and never used objects', async (t) => {
  await using folder = await temporaryFolder('objects')
  const address = await postgresql().database()
  const kv = await openWith(address, new FolderObjects(folder.path))
  await write(kv, { sets: [['kept', big('k')]] })
  const [kept = ''] = await filesIn(folder.path)
  const [orphan, part] = [kept.replace(/[0-9a-f]{32}/, 'f'.repeat(32)), `${kept}x.part`]
  await writeFile(orphan, 'stored without a commit')
  await writeFile(part, 'half')
  t.is(await kv.collect(), 0, 'their commits may follow')
  await kv[Symbol.asyncDispose]()
  const old = new Date(Date.now() - 2 * dayMs)
  for (const file of [kept, orphan, part]) await utimes(file, old, old)
  const again = await openWith(address, new FolderObjects(folder.path))
  t.is(await again.collect(), 2)
  t.deepEqual(await filesIn(folder.path), [kept])
  t.is(await read(again, 'kept'), big('k'))
  await again[Symbol.asyncDispose]()
})

test('objects: become durable before their row; a failed put writes nothing', async (t) => {
  await using folder = await temporaryFolder('objects')
  const objects = new FolderObjects(folder.path)
  const order: string[] = []
  const watched = Object.assign(Object.create(objects) as ObjectStore, {
    async put(name: string, content: Buffer, sha256: string): Promise<void> {
      if (content.toString().startsWith('z')) throw new Error('no space')
      await objects.put(name, content)
      order.push(sha256.length === 64 ? 'put' : 'put without a hash')
    },
    prepare: (name: string) => objects.prepare(name),
    get: (name: string) => objects.get(name),
    remove: (name: string) => objects.remove(name),
  })
  const kv = await openWith(await postgresql().database(), watched)
  order.length = 0
  const large = write(kv, { sets: [['a', big('a')]], adds: [{ key: 'n', delta: 1 }] }).then(() => order.push('written'))
  const behind = write(kv, { sets: [['a', 'small']] }).then(() => order.push('behind'))
  const beside = write(kv, { sets: [['other', 'x']] }).then(() => order.push('beside'))
  await Promise.all([large, behind, beside])
  t.true(order.indexOf('put') < order.indexOf('written'))
  t.is(await read(kv, 'a'), 'small', 'the later write of the key won')
  await t.throwsAsync(
    write(kv, {
      sets: [
        ['b', big('b')],
        ['c', big('z')],
      ],
      adds: [{ key: 'n', delta: 1 }],
    }),
    { message: 'no space' },
  )
  t.deepEqual([await read(kv, 'b'), await count(kv, 'n')], [undefined, 1])
  t.deepEqual(await write(kv, { sets: [['b', big('b')]] }), ok, 'the store still writes')
  await kv[Symbol.asyncDispose]()
})

test.serial('objects: an unreachable bucket refuses only large values', async (t) => {
  const address = await postgresql().database()
  const options = { ...bucketOptions(server().port), retryMs: 200 }
  const kv = await openWith(address, new S3Objects(options))
  await write(kv, { sets: [['before', big('b')]] })
  await server().stopServer()
  await t.throwsAsync(
    write(kv, {
      sets: [
        ['large', big('l')],
        ['beside', 'x'],
      ],
    }),
    { name: 'StoreAway', message: /cannot be reached: .*ECONNREFUSED/ },
  )
  t.deepEqual(await write(kv, { sets: [['small', 's']] }), ok)
  await t.throwsAsync(kv.get(key('before')), { name: 'StoreAway' })
  t.deepEqual(await names(kv, { keysOnly: true }), ['before', 'small'])
  await server().startServer()
  t.deepEqual([await read(kv, 'before'), await read(kv, 'large'), await read(kv, 'beside')], [big('b'), undefined, undefined])
  t.deepEqual(await write(kv, { sets: [['large', big('l')]] }), ok)
  await kv[Symbol.asyncDispose]()
  const wrong = { ...options, accessKeyId: 'unknown' }
  await t.throwsAsync(openWith(address, new S3Objects(wrong)), { name: 'StoreUnavailable', message: /refuses: 403 InvalidAccessKeyId/ })
  await t.throwsAsync(openWith(await postgresql().database(), new S3Objects({ ...options, bucket: 'nowhere' })), {
    message: /404 NoSuchBucket/,
  })
})

test('objects: slow responses and transient errors are retried within limits', async (t) => {
  const answers = [503, 'never', 500, 200] as const
  let asked = 0
  const slow = createServer((request, response) => {
    request.resume()
    const answer = answers[asked++] ?? 'never'
    if (answer !== 'never') response.writeHead(answer).end('<Error><Code>SlowDown</Code></Error>')
  })
  slow.listen(0, '127.0.0.1')
  await once(slow, 'listening')
  const options = bucketOptions((slow.address() as AddressInfo).port)
  const collecting = setInterval(() => ownMemory.collect(), 1000) // garbage collection must not cancel the timeout
  await new S3Objects({ ...options, requestMs: 5000, retryMs: 120_000 }).put('x/y', Buffer.from('content'), 'a'.repeat(64))
  clearInterval(collecting)
  t.is(asked, 4)
  await t.throwsAsync(new S3Objects({ ...options, requestMs: 50, retryMs: 100 }).get('x/y'), { name: 'StoreAway', message: /timeout/ })
  slow.closeAllConnections()
  slow.close()
})

test('objects: a missing or changed object damages only its value', async (t) => {
  await using folder = await temporaryFolder('objects')
  const kv = await openWith(await postgresql().database(), new FolderObjects(folder.path))
  for (const name of ['a', 'b', 'c']) await write(kv, { sets: [[name, big(name)]] })
  const files = await filesIn(folder.path)
  const fileOf = (name: string): string => files.find((file) => file.endsWith(`.${Buffer.from(key(name)).toString('base64url')}`)) ?? ''
  await rm(fileOf('a'))
  await writeFile(fileOf('b'), big('x'))
  await t.throwsAsync(kv.get(key('a')), { name: 'StoreFailure', message: /is missing in file:.*restore a backup/ })
  await t.throwsAsync(kv.get(key('b')), { name: 'StoreFailure', message: /differs from its hash/ })
  t.is(await read(kv, 'c'), big('c'))
  const failure = await t.throwsAsync(async () => {
    for await (const entry of kv.range(everything)) t.fail(String(entry.key))
  })
  t.deepEqual(
    (failure as { key?: Uint8Array } | undefined)?.key,
    Buffer.from(key('a')),
    'the error names the key, so that a walk can skip it',
  )
  await rename(folder.path, `${folder.path}.unmounted`)
  await mkdir(folder.path)
  await t.throwsAsync(kv.get(key('c')), { name: 'StoreAway', message: /Check that the folder is mounted/ })
  await t.throwsAsync(write(kv, { sets: [['d', big('d')]] }), { name: 'StoreAway' }, 'no value is written below the mount point')
  await kv[Symbol.asyncDispose]()
  await rm(`${folder.path}.unmounted`, { recursive: true })
})

test('objects: a store finds moved objects and does not start without them', async (t) => {
  await using folder = await temporaryFolder('objects')
  const address = await postgresql().database()
  const [first, second] = [join(folder.path, 'first'), join(folder.path, 'second')]
  await mkdir(first)
  await mkdir(second)
  const kv = await openWith(address, new FolderObjects(first))
  await write(kv, { sets: [['a', big('a')]] })
  await kv[Symbol.asyncDispose]()
  await t.throwsAsync(PostgresKv.open(address), { name: 'StoreUnavailable', message: /set POSTERN_STORE_OBJECTS/ })
  await t.throwsAsync(openWith(address, new FolderObjects(second)), {
    name: 'StoreUnavailable',
    message: /does not contain .* They were in file:/,
  })
  await cp(first, second, { recursive: true })
  const moved = await openWith(address, new FolderObjects(second))
  t.is(await read(moved, 'a'), big('a'))

  const target = await postgresql().database()
  const bucket = objectStoreAt(server().address('copies'), {})
  {
    await using snapshot = await moved.snapshot()
    await writeRestoredDatabase(
      { address: target, mayReplace: false, large: { objects: bucket, leastBytes } },
      snapshot.rows,
      async () => {},
    )
  }
  const copy = await openWith(target, bucket)
  t.is(await read(copy, 'a'), big('a'))
  t.is(await digestOf(copy), await digestOf(moved))
  const listed: string[] = []
  const [own] = await postgresql().query('SELECT folder FROM postern_objects', target.split('/').at(-1))
  for await (const { name } of bucket.list(String(own?.['folder']))) listed.push(name)
  t.is(listed.length, 2, 'its marker, and the value')
  for (const one of [copy, moved]) await one[Symbol.asyncDispose]()
})

test('objects: an invalid address and missing credentials are explained', (t) => {
  t.throws(() => objectStoreAt('https://bucket', {}), { message: /must be s3:\/\/bucket/ })
  t.throws(() => objectStoreAt('s3://bucket', {}), { message: /set AWS_ACCESS_KEY_ID/ })
  const environment = { AWS_ACCESS_KEY_ID: 'k', AWS_SECRET_ACCESS_KEY: 's', AWS_REGION: 'eu-central-1' }
  t.is(objectStoreAt('s3://bucket/mail/', environment).shown, 's3://bucket/mail/')
})

const bucketOptions = (port: number): ConstructorParameters<typeof S3Objects>[0] => ({
  ...{ bucket: server().bucket, prefix: 'tests/', endpoint: `http://127.0.0.1:${port}`, region: 'us-east-1' },
  ...{ accessKeyId: 'S3RVER', secretAccessKey: 'S3RVER' },
})

async function digestOf(kv: Kv & Pick<PostgresKv, 'snapshot'>): Promise<string> {
  await using snapshot = await kv.snapshot()
  return (await digestRows(snapshot.rows)).digest
}
