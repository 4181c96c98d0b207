/** The master key under which secrets are stored: from the configuration, or made in the data folder at the first start. */
import { randomBytes } from 'node:crypto'
import { open, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { parseMasterKey } from '#config/formats.ts'

const keyFile = 'master.key'

/** 32 bytes. A key made here is on disk before it is used; losing the file means that stored passwords must be set again. */
export async function masterKey(configured: Uint8Array | null, dataDir: string): Promise<Uint8Array> {
  if (configured) return configured
  const path = join(dataDir, keyFile)
  const kept = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined
    throw error
  })
  if (kept !== undefined) return readKey(kept, path)
  const key = randomBytes(32)
  const file = await open(path, 'wx', 0o600)
  try {
    await file.writeFile(`${key.toString('base64')}\n`)
    await file.sync()
  } finally {
    await file.close()
  }
  return key
}

function readKey(text: string, path: string): Uint8Array {
  const key = parseMasterKey(text.trim())
  if (key) return key
  throw new Error(`${path} does not hold a master key of 32 bytes. Restore the file; without it stored passwords cannot be read.`)
}
