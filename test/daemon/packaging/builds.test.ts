/** Builds that follow one another: what a running daemon has not loaded yet stays, and what no daemon can want goes. */
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

test('parts of the build before stay for a daemon that began with it, however old they are', async (t) => {
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
