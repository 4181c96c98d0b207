/** The limit for compiled code in a data folder: code of other Node versions is removed, then the oldest code above the limit. */
import { mkdir, readdir, truncate, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import test, { type ExecutionContext } from '#test'
import { boundCompiled } from '../../../daemon/process/compiled-code.ts'
import { temporaryFolder } from '../../support/daemon/workspace.ts'

async function compiledOf(t: ExecutionContext, ...files: readonly string[]): Promise<string> {
  const folder = await temporaryFolder('compiled')
  t.teardown(() => folder[Symbol.asyncDispose]())
  for (const version of ['v24.1', 'v24.2']) {
    await mkdir(join(folder.path, 'compiled', version), { recursive: true })
    for (const [age, name] of files.entries()) {
      const path = join(folder.path, 'compiled', version, name)
      await writeFile(path, '')
      await truncate(path, 8 * 1024 ** 2)
      await utimes(path, 0, 1_000_000 - age)
    }
  }
  return folder.path
}

test('boundCompiled(): keeps the latest 32 MiB of code of this Node version', async (t) => {
  const dataDir = await compiledOf(t, '1', '2', '3', '4', '5', '6')
  const current = join(dataDir, 'compiled', 'v24.2')
  await boundCompiled(dataDir, current)
  t.deepEqual(await readdir(join(dataDir, 'compiled')), ['v24.2'])
  t.deepEqual((await readdir(current)).toSorted(), ['1', '2', '3', '4'])
})

test('boundCompiled(): changes only its data folder', async (t) => {
  const dataDir = await compiledOf(t, '1', '2', '3', '4', '5')
  await boundCompiled(join(dataDir, 'other'), join(dataDir, 'compiled', 'v24.2'))
  await boundCompiled(dataDir, join(dataDir, 'compiled'))
  t.deepEqual((await readdir(dataDir, { recursive: true })).length, 13)
  await t.notThrowsAsync(boundCompiled(join(dataDir, 'gone'), join(dataDir, 'gone', 'compiled', 'v24.2')))
})
