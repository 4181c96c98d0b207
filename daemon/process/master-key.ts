/** The master key, which encrypts stored secrets. It is configured, or created in the data folder at the first start. */
import { randomBytes } from 'node:crypto'
import { open, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { parseMasterKey } from '#config/settings/formats.ts'
import type { Config } from '#config/settings/load.ts'
import { SecretBox, type SealedSecret } from '#core/access/secret-box.ts'
import type { KeyFault } from '#core/doctor/process-findings.ts'
import { Change } from '#store/change.ts'
import type { Database } from '#store/database.ts'
import type { Kv } from '#store/kv.ts'
import { globalKey } from '#store/record-kind.ts'
import { pack } from '#store/tuple.ts'
import { hasStore } from './data-folder.ts'
import { exitCodes } from './lifecycle.ts'
import { StartRefused } from './start-refused.ts'

/** Name of the key file in the data folder. */
export const keyFile = 'master.key'
const checkKey = globalKey('master-key')
const checkContext = 'master-key/check'
const checkText = 'postern'

/** The configured key and its file; null for `master.key` in the data folder. */
export type KeySettings = Pick<Config, 'masterKey' | 'masterKeyFile'>
type KeyPlace = KeySettings & Pick<Config, 'dataDir'>

/**
 * Returns the key of 32 bytes. A new key is first written to disk. It is created only without a store, because a new key would
 * silently make all stored passwords unreadable.
 */
export async function masterKey(configured: Uint8Array | null, dataDir: string): Promise<Uint8Array> {
  if (configured) return configured
  const path = join(dataDir, keyFile)
  const kept = await keyIn(path)
  if (kept) return kept
  if (await hasStore(dataDir)) throw refused(missing(path, dataDir))
  const key = randomBytes(32)
  await using file = await open(path, 'wx', 0o600)
  await file.writeFile(keyText(key))
  await file.sync()
  return key
}

/** Returns the content of a key file. */
export const keyText = (key: Uint8Array): string => `${Buffer.from(key).toString('base64')}\n`

/**
 * Checks the key against a value encrypted at the first start, and writes that value at the first start. Throws `StartRefused` for another
 * key.
 */
export async function checkMasterKey(database: Database, secrets: SecretBox, dataDir: string): Promise<void> {
  const sealed = await sealedCheck(database.kv)
  if (sealed === undefined) await database.commit(new Change().setNew(checkKey, Buffer.from(secrets.seal(checkText, checkContext))))
  else if (!isOpenedBy(secrets, sealed)) throw refused(another(join(dataDir, keyFile)))
}

/** Returns the value encrypted at the first start; undefined before. Backups contain it too. */
export async function sealedCheck(kv: Pick<Kv, 'get'>): Promise<SealedSecret | undefined> {
  const kept = await kv.get(pack(checkKey))
  return kept && Buffer.from(kept.value).toString('utf8')
}

const isOpenedBy = (secrets: SecretBox, sealed: SealedSecret): boolean => secrets.open(sealed, checkContext) === checkText

/** Problem of a key, in a sentence. */
export interface KeyProblem {
  readonly problem: string
  /** For the doctor's finding. */
  readonly fault: KeyFault
}

/** Checks the key that the next start would use, as that start does. */
export async function examineKey(
  { dataDir, masterKey: configured, masterKeyFile }: KeyPlace,
  sealed: SealedSecret,
): Promise<{ readonly key: Uint8Array } | KeyProblem> {
  const path = masterKeyFile ?? join(dataDir, keyFile)
  const wrong = { kind: 'master_key.wrong', path, folder: dataDir } as const
  try {
    const key = configured && masterKeyFile === null ? configured : await keyIn(path)
    if (!key) return { problem: missing(path, dataDir), fault: { ...wrong, kind: 'master_key.missing' } }
    return isOpenedBy(new SecretBox(key), sealed) ? { key } : { problem: another(path), fault: wrong }
  } catch (error) {
    if (error instanceof StartRefused) return { problem: error.message, fault: { ...wrong, isUnreadable: true } }
    throw error
  }
}

/** Returns the problem with the key that the next start would use; undefined if the key matches the store. */
export async function keyProblem(place: KeyPlace, kv: Pick<Kv, 'get'>): Promise<KeyProblem | undefined> {
  const sealed = await sealedCheck(kv)
  const examined = sealed === undefined ? undefined : await examineKey(place, sealed)
  return examined && 'problem' in examined ? examined : undefined
}

/** Returns the problem with the `master.key` of a backup or of a folder. `text`: its content. */
export function keyTextProblem(text: string, sealed: SealedSecret, path = keyFile): string | undefined {
  const key = parseMasterKey(text)
  if (!key) return unreadable(path)
  return isOpenedBy(new SecretBox(key), sealed) ? undefined : another(path)
}

const missing = (path: string, dataDir: string): string =>
  `The master key is missing, but ${dataDir} holds data written with one; restore ${path} or set POSTERN_MASTER_KEY.`
const another = (path: string): string => `The master key is not the one this data was written with; restore ${path} or POSTERN_MASTER_KEY.`
const unreadable = (path: string): string =>
  `${path} does not hold a master key of 32 bytes; restore the file, as stored passwords cannot be read without it.`
const refused = (sentence: string): StartRefused => new StartRefused(sentence, exitCodes.configuration)

/** Returns undefined if the file does not exist. Throws `StartRefused` for a file without a key. */
async function keyIn(path: string): Promise<Uint8Array | undefined> {
  const text = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined
    throw error
  })
  if (text === undefined) return undefined
  const key = parseMasterKey(text)
  if (key) return key
  throw refused(unreadable(path))
}
