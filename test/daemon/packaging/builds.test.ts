/** Successive builds: modules that a running daemon may still load are kept, and older ones are removed. */
import { readdir, readFile, stat, utimes } from 'node:fs/promises'
import { join } from 'node:path'
import test, { type ExecutionContext } from '#test'
import { placeFiles } from '../../../admin-api/dashboard/place-files.ts'
import { temporaryFolder } from '../../support/daemon/workspace.ts'

const hour = 60 * 60

async function folderOf(t: ExecutionContext): Promise<string> {
  const folder = await temporaryFolder('packaging')
  t.teardown(() => folder[Symbol.asyncDispose]())
  return folder.path
}

/** Makes all files of the folder older. */
async function age(folder: string, seconds: number): Promise<void> {
  for (const name of await readdir(folder)) {
    const { mtimeMs } = await stat(join(folder, name))
    await utimes(join(folder, name), 0, mtimeMs / 1000 - seconds)
  }
}

test('builds: keep parts of the previous build for a running daemon', async (t) => {
  const folder = await folderOf(t)
  placeFiles(folder, [
    ['part-1', 'one'],
    ['index', '1'],
  ])
  await age(folder, 1000 * hour)
  placeFiles(folder, [
    ['part-2', 'two'],
    ['index', '2'],
  ])
  t.deepEqual((await readdir(folder)).sort(), ['index', 'part-1', 'part-2'])
  t.is(await readFile(join(folder, 'index'), 'utf8'), '2')
  await age(folder, hour)
  placeFiles(folder, [
    ['part-3', 'three'],
    ['index', '3'],
  ])
  t.deepEqual((await readdir(folder)).sort(), ['index', 'part-2', 'part-3'])
})
