/** The master key under which secrets are stored: from the configuration, or made in the data folder at the first start. */
import { randomBytes } from 'node:crypto'
import { open, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { parseMasterKey } from '#config/settings/formats.ts'
import type { SecretBox } from '#core/access/secret-box.ts'
import { Change } from '#store/change.ts'
import type { Database } from '#store/database.ts'
import { globalKey } from '#store/record-kind.ts'
import { pack } from '#store/tuple.ts'
import { hasStore } from './data-folder.ts'
import { exitCodes } from './lifecycle.ts'
import { StartRefused } from './start-refused.ts'

const keyFile = 'master.key'
const checkKey = globalKey('master-key')
const checkContext = 'master-key/check'
const checkText = 'postern'

/**
 * 32 bytes. A key made here is on disk before it is used, and is made only before the store is: a new key beside data
 * written with another one would make every stored password useless without a word.
 */
export async function masterKey(configured: Uint8Array | null, dataDir: string): Promise<Uint8Array> {
  if (configured) return configured
  const path = join(dataDir, keyFile)
  const kept = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined
    throw error
  })
  if (kept !== undefined) return readKey(kept, path)
  if (await hasStore(dataDir)) {
    throw new StartRefused(
      `The master key is missing, but ${dataDir} holds data written with one; restore ${path} or set POSTERN_MASTER_KEY.`,
      exitCodes.configuration,
    )
  }
  const key = randomBytes(32)
  await using file = await open(path, 'wx', 0o600)
  await file.writeFile(`${key.toString('base64')}\n`)
  await file.sync()
  return key
}

/** Compares the key with what it sealed at the first start, which is written then. Throws `StartRefused` when it is another one. */
export async function checkMasterKey(database: Database, secrets: SecretBox, dataDir: string): Promise<void> {
  const kept = await database.kv.get(pack(checkKey))
  if (!kept) {
    await database.commit(new Change().setNew(checkKey, Buffer.from(secrets.seal(checkText, checkContext))))
    return
  }
  if (secrets.open(Buffer.from(kept.value).toString('utf8'), checkContext) === checkText) return
  throw new StartRefused(
    `The master key is not the one this data was written with; restore ${join(dataDir, keyFile)} or POSTERN_MASTER_KEY.`,
    exitCodes.configuration,
  )
}

function readKey(text: string, path: string): Uint8Array {
  const key = parseMasterKey(text.trim())
  if (key) return key
  throw new StartRefused(
    `${path} does not hold a master key of 32 bytes. Restore the file; without it stored passwords cannot be read.`,
    exitCodes.configuration,
  )
}
