/** What is kept of orders in the data folder, for its owner only: the certificate, and the account of each certificate authority. */
import { createHash, generateKeyPairSync } from 'node:crypto'
import { mkdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { placeWhole } from '../../backup/whole-file.ts'

/** A certificate with its key, both in PEM, and the directory of who issued it. In one file, so that they always belong together. */
export interface Ordered {
  readonly directory: string
  readonly cert: string
  readonly key: string
}

/** An account (RFC 8555 §7.3). */
export interface Account {
  readonly directory: string
  /** In PEM. */
  readonly key: string
  /** Null until the account exists. */
  readonly url: string | null
  /** What the authority was last told. */
  readonly email: string | null
}

const folderOf = (dataDir: string): string => join(dataDir, 'tls', 'acme')
const certificateFile = (dataDir: string): string => join(folderOf(dataDir), 'certificate.json')
const accountFile = (dataDir: string, directory: string): string =>
  join(folderOf(dataDir), `account-${createHash('sha256').update(directory).digest('hex').slice(0, 16)}.json`)

/** Undefined when nothing was ordered yet, or the file is damaged: then it is ordered again. */
export async function readOrdered(dataDir: string): Promise<Ordered | undefined> {
  const { directory, cert, key } = await read(certificateFile(dataDir))
  return isText(directory) && isText(cert) && isText(key) ? { directory, cert, key } : undefined
}

export const keepOrdered = (dataDir: string, ordered: Ordered): Promise<void> => write(dataDir, certificateFile(dataDir), ordered)

/** The account at a directory. Its key is on disk before it is used. */
export async function accountAt(dataDir: string, directory: string): Promise<Account> {
  const { key, url, email } = await read(accountFile(dataDir, directory))
  if (isText(key)) return { directory, key, url: isText(url) ? url : null, email: isText(email) ? email : null }
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const account = { directory, key: String(privateKey.export({ type: 'pkcs8', format: 'pem' })), url: null, email: null }
  await keepAccount(dataDir, account)
  return account
}

export const keepAccount = (dataDir: string, account: Account): Promise<void> =>
  write(dataDir, accountFile(dataDir, account.directory), account)

const isText = (value: unknown): value is string => typeof value === 'string'

/** Without values when there is no such file, or it is damaged. */
async function read(path: string): Promise<Readonly<Record<string, unknown>>> {
  try {
    const value: unknown = JSON.parse(await readFile(path, 'utf8'))
    return typeof value === 'object' && value !== null ? { ...value } : {}
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code !== 'ENOENT') throw error
    return {}
  }
}

async function write(dataDir: string, path: string, content: unknown): Promise<void> {
  await mkdir(folderOf(dataDir), { recursive: true, mode: 0o700 })
  await placeWhole(path, [Buffer.from(`${JSON.stringify(content, undefined, 2)}\n`)])
}
