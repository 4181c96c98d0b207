/** Sealed backups with contradicting parts, which `verify` and `restore` refuse. */
import { readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { PassThrough, Readable } from 'node:stream'
import test, { type ExecutionContext } from '#test'
import { SecretBox } from '#core/access/secret-box.ts'
import { sealBackup } from '#store/backup/container.ts'
import { encodeFrame, jsonFrame, rowFrame } from '#store/backup/frames.ts'
import type { SnapshotRow } from '#store/engine/snapshot.ts'
import { exitCodes } from '../../../../daemon/process/lifecycle.ts'
import { unfinishedRestore } from '../../../../daemon/process/data-folder.ts'
import { verifyBackup } from '../../../../daemon/commands/backup/backup-command.ts'
import { restore } from '../../../../daemon/commands/backup/restore-command.ts'
import { temporaryFolder } from '../../../support/daemon/workspace.ts'

const nothing = Buffer.alloc(0)
const begin = jsonFrame('begin', { version: '9', id: 'full' })
const row = (name: string, kind: SnapshotRow['kind'] = 'inline'): Buffer =>
  rowFrame({ kind, key: Buffer.from(name), version: 9n, body: kind === 'same' ? nothing : Buffer.from(name) })
const file = (path: string, ...pieces: readonly string[]): Buffer =>
  Buffer.concat([
    encodeFrame({ type: 'file', key: Buffer.from(path), body: Buffer.from('{"mode":384}') }),
    ...pieces.map((piece) => encodeFrame({ type: 'piece', key: nothing, body: Buffer.from(piece) })),
  ])
const end = (rows: number, files: number): Buffer => jsonFrame('end', { rows, files })
const odd = (type: 'begin' | 'inline' | 'file' | 'end' | 'large', body: string): Buffer =>
  encodeFrame({ type, key: Buffer.from('z'), body: Buffer.from(body) })

const disagree = 'The backup is damaged: its parts do not agree.'
const good: readonly Buffer[] = [begin, row('a'), row('b', 'large'), file('one', '1', '2'), file('two'), end(2, 2)]

const broken: Readonly<Record<string, readonly [readonly Buffer[], string]>> = {
  'rows in another order': [[begin, row('b'), row('a'), end(2, 0)], disagree],
  'large rows in another order': [[begin, row('b', 'large'), row('a', 'large'), end(2, 0)], disagree],
  'a row twice': [[begin, row('a'), row('a'), end(2, 0)], disagree],
  'fewer rows than were written': [[begin, row('a'), end(2, 0)], disagree],
  'more rows than were written': [[begin, row('a'), row('b'), end(1, 0)], disagree],
  'fewer files than were written': [[begin, row('a'), file('one'), end(1, 2)], disagree],
  'more files than were written': [[begin, row('a'), file('one', '1'), end(1, 0)], disagree],
  'no beginning': [[row('a'), end(1, 0)], disagree],
  'two beginnings': [[begin, begin, row('a'), end(1, 0)], disagree],
  'a row after a file': [[begin, row('a'), file('one'), row('b'), end(2, 1)], disagree],
  'a row in place of a file': [[begin, file('one'), odd('inline', '{"mode":384}'), end(0, 2)], disagree],
  'content without a file': [[begin, encodeFrame({ type: 'piece', key: nothing, body: nothing }), end(0, 0)], disagree],
  'an end that is no JSON': [[begin, odd('end', '{')], disagree],
  'an end of nothing': [[begin, odd('end', 'null')], disagree],
  'a beginning of nothing': [[odd('begin', 'null'), end(0, 0)], disagree],
  'a file of nothing': [[begin, odd('file', 'null'), end(0, 1)], disagree],
  'a large row without a version': [[begin, odd('large', '1234567'), end(1, 0)], 'The backup is damaged.'],
  'no end': [[begin, row('a')], 'The backup is truncated: its end is missing.'],
  'a row after the end': [[begin, row('a'), end(1, 0), row('b')], 'The backup continues after its last frame: it is damaged.'],
}

interface Chained {
  readonly id?: string
  /** The backup that this one is based on. */
  readonly since?: string
}

/** Writes a sealed backup of these frames. */
async function sealed(path: string, frames: readonly Buffer[], { id = 'full', since }: Chained = {}): Promise<string> {
  const from = since === undefined ? null : { id: since, until: '9' }
  const head = { id, created_at: '2030-01-01T00:00:00.000Z', until: '9', since: from }
  await writeFile(path, sealBackup(head, undefined, Readable.from(frames)))
  return path
}

/** A folder and an output for the commands; `said()` returns the output. */
async function workspace(t: ExecutionContext) {
  const folder = await temporaryFolder('broken-backups')
  t.teardown(() => folder[Symbol.asyncDispose]())
  const at = (name: string): string => join(folder.path, name)
  const stdout = new PassThrough({ encoding: 'utf8' })
  const around = { env: {}, stdout, stderr: stdout }
  return {
    at,
    around,
    said: () => String(stdout.read()),
    restored: (...files: readonly string[]) => restoreInto(at('data'), files, around),
  }
}

async function restoreInto(into: string, files: readonly string[], around: Parameters<typeof restore>[1]) {
  await rm(into, { recursive: true, force: true })
  const outcome = await restore({ files, into, passphraseFile: undefined }, around).catch((error: unknown) => error)
  return { outcome, names: (await readdir(into).catch((): string[] => [])).toSorted(), into }
}

test('verify FILE: refuses a sealed backup with contradicting parts', async (t) => {
  const { at, said, around } = await workspace(t)
  t.is(await verifyBackup(await sealed(at('good'), good), undefined, around), exitCodes.ok)
  t.regex(said(), /^Backup full of .*: 2 rows and 2 files, complete\n$/)
  for (const [what, [frames, message]] of Object.entries(broken))
    await t.throwsAsync(verifyBackup(await sealed(at('broken'), frames), undefined, around), { name: 'StartRefused', message }, what)
})

test('restore: refuses contradicting parts and marks the folder as unfinished', async (t) => {
  const { at, said, restored } = await workspace(t)
  const { outcome, names, into } = await restored(await sealed(at('good'), good))
  t.is(outcome, exitCodes.ok)
  t.regex(said(), /: 2 rows and 2 files\.\n$/)
  t.deepEqual(names, ['one', 'store', 'two'])
  t.is(await readFile(join(into, 'one'), 'utf8'), '12')
  for (const [what, [frames, message]] of Object.entries(broken)) {
    const refused = await restored(await sealed(at('broken'), frames))
    t.true(String(refused.outcome).startsWith(`StartRefused: ${message}`), `${what}: ${String(refused.outcome)}`)
    if (refused.names.length > 0) t.true(refused.names.includes(unfinishedRestore('')), what)
  }
})

test('restore: refuses files outside the folder or inside the store', async (t) => {
  const { at, restored } = await workspace(t)
  for (const path of ['../outside', 'a/../../outside', at('outside'), 'store/x', 'a/../store/x', '..']) {
    const { outcome } = await restored(await sealed(at('broken'), [begin, file(path, 'x'), end(0, 1)]))
    t.regex(String(outcome), /^StartRefused: The backup names a file outside its folder: /, path)
  }
  t.deepEqual((await readdir(at('.'))).toSorted(), ['broken', 'data'])
})

test('restore: refuses a chain of damaged or unrelated backups', async (t) => {
  const { at, restored } = await workspace(t)
  const full = await sealed(at('full'), [begin, row('a'), row('b'), row('c'), end(3, 0)])
  const next = async (frames: readonly Buffer[], id = 'next', since = 'full') => sealed(at(id), [begin, ...frames], { id, since })
  const good = await next([row('a', 'same'), row('aa'), end(2, 0)])
  t.is((await restored(full, good)).outcome, exitCodes.ok, 'b and c were deleted')
  const last = await next([row('aa', 'same'), end(1, 0)], 'last', 'next')
  t.is((await restored(full, good, last)).outcome, exitCodes.ok)
  const apart = 'The backups do not form a chain. '
  const damagedFull = await sealed(at('damaged'), [begin, row('a'), row('c'), row('b'), end(3, 0)])
  const refusals: readonly (readonly [readonly string[], string])[] = [
    [[good], 'The first backup is based on backup full. '],
    [[full, last], apart],
    [[full, good, good], apart],
    [[full, full], apart],
    [[full, await next([row('a', 'same'), row('ab', 'same'), end(2, 0)], 'unknown')], disagree],
    [[full, await next([row('a', 'same'), row('d', 'same'), end(2, 0)], 'beyond')], disagree],
    [[damagedFull, good], disagree],
    [[await sealed(at('miscounted'), [begin, row('a'), end(2, 0)]), good], disagree],
  ]
  for (const [files, message] of refusals) {
    const { outcome } = await restored(...files)
    t.true(String(outcome).startsWith(`StartRefused: ${message}`), `${files.join(' ')}: ${String(outcome)}`)
  }
})

test('verify FILE, restore: report a master key that cannot decrypt the backup', async (t) => {
  const { at, said, around, restored } = await workspace(t)
  const key = Buffer.alloc(32, 7)
  const sealedByKey = new SecretBox(key).seal('postern', 'master-key/check')
  const withKey = (...pieces: readonly string[]): readonly Buffer[] => [
    jsonFrame('begin', { version: '9', id: 'full', sealed: sealedByKey }),
    ...[row('a'), file('master.key', ...pieces), end(1, 1)],
  ]
  const text = key.toString('base64')
  const good = await sealed(at('good'), withKey(text.slice(0, 9), `${text.slice(9)}\n`))
  t.is(await verifyBackup(good, undefined, around), exitCodes.ok)
  t.regex(said(), / complete\n$/)
  t.is((await restored(good)).outcome, exitCodes.ok)
  said()
  const none = await sealed(at('none'), [jsonFrame('begin', { version: '9', sealed: sealedByKey }), row('a'), end(1, 0)])
  t.is(await verifyBackup(none, undefined, around), exitCodes.ok, 'the key is configured elsewhere')
  said()
  const problems = [
    [Buffer.alloc(32, 8).toString('base64'), 'The master key is not the one this data was written with; restore '],
    [text.slice(1), ''],
  ] as const
  for (const [other, sentence] of problems) {
    const bad = await sealed(at('bad'), withKey(other))
    t.is(await verifyBackup(bad, undefined, around), exitCodes.failed)
    const found = said()
    t.regex(found, /: 1 rows and 1 files, 1 problem\n/)
    t.regex(found, new RegExp(`^${sentence}master\\.key `, 'm'))
    const { outcome, names, into } = await restored(bad)
    t.is(outcome, exitCodes.failed)
    t.deepEqual(names, ['master.key', 'store'], 'the data are there, and the key can be replaced')
    t.regex(said(), new RegExp(`^${sentence}${into}/master\\.key .*Until then, no daemon starts on this folder\\.$`, 'm'))
  }
})
