/** Files that are whole or not there, when several writers are at one of them. */
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import test from '#test'
import { placeWhole } from '../../../daemon/backup/whole-file.ts'
import { temporaryFolder } from '../../support/daemon/workspace.ts'

test('of several that write a file at once each ends well, and one of them stays whole', async (t) => {
  await using folder = await temporaryFolder('whole')
  const path = join(folder.path, 'certificate.json')
  const contents = Array.from({ length: 20 }, (_, i) => String(i).repeat(100_000))
  await Promise.all(
    contents.map((content) => placeWhole(path, [Buffer.from(content.slice(0, 50_000)), Buffer.from(content.slice(50_000))])),
  )
  t.true(contents.includes(await readFile(path, 'utf8')))
  t.deepEqual(await readdir(folder.path), ['certificate.json'])
})
