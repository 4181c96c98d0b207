/** Stores in temporary folders that disappear with the test. */
import { cp, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { ExecutionContext } from 'ava'
import { LevelKv, type LevelOptions } from '#store/level/level-kv.ts'

/** An empty folder of this test. */
export async function folderOf(t: ExecutionContext): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'postern-store-'))
  t.teardown(() => rm(folder, { recursive: true, force: true }))
  return folder
}

/** A store in a new folder, closed after the test. */
export async function storeOf(t: ExecutionContext, options: LevelOptions = {}): Promise<{ kv: LevelKv; folder: string }> {
  const folder = await folderOf(t)
  return { kv: await openedBy(t, folder, options), folder }
}

/** The store in this folder, closed after the test. */
export async function openedBy(t: ExecutionContext, folder: string, options: LevelOptions = {}): Promise<LevelKv> {
  const kv = await LevelKv.open(folder, options)
  t.teardown(() => kv[Symbol.asyncDispose]())
  return kv
}

/** Returns a copy of a folder with an open store: the state after a crash of the process. */
export async function crashCopy(t: ExecutionContext, folder: string): Promise<string> {
  const copy = await folderOf(t)
  await cp(folder, copy, { recursive: true })
  return copy
}
