/** Files that are complete or absent, also with several writers. */
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import test from '#test'
import { placeWhole } from '../../../daemon/backup/whole-file.ts'
import { temporaryFolder } from '../../support/daemon/workspace.ts'

test('placeWhole(): simultaneous writers all succeed, and one complete file remains', async (t) => {
  await using folder = await temporaryFolder('whole')
  const path = join(folder.path, 'certificate.json')
  const contents = Array.from({ length: 20 }, (_, i) => String(i).repeat(100_000))
  await Promise.all(
    contents.map((content) => placeWhole(path, [Buffer.from(content.slice(0, 50_000)), Buffer.from(content.slice(50_000))])),
  )
  t.true(contents.includes(await readFile(path, 'utf8')))
  t.deepEqual(await readdir(folder.path), ['certificate.json'])
})
