/** Stores the records of orders in the data folder, readable only by its owner. */
import { createHash } from 'node:crypto'
import { mkdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { placeWhole } from '../../backup/whole-file.ts'
import { isWholeKey, newAccount, type Account, type Ordered, type OrderRecords } from './order-records.ts'

export class OrderFiles implements OrderRecords {
  readonly #folder: string

  constructor(dataDir: string) {
    this.#folder = join(dataDir, 'tls', 'acme')
  }

  async certificate(): Promise<Ordered | undefined> {
    const { directory, cert, key } = await read(this.#certificateFile)
    return isText(directory) && isText(cert) && isText(key) ? { directory, cert, key } : undefined
  }

  keepCertificate(ordered: Ordered): Promise<void> {
    return this.#write(this.#certificateFile, ordered)
  }

  async account(directory: string): Promise<Account> {
    const known = await this.knownAccount(directory)
    if (known) return known
    const account = newAccount(directory)
    await this.keepAccount(account)
    return account
  }

  async knownAccount(directory: string): Promise<Account | undefined> {
    const { key, url, email } = await read(this.#accountFile(directory))
    return isText(key) && isWholeKey(key)
      ? { directory, key, url: isText(url) ? url : null, email: isText(email) ? email : null }
      : undefined
  }

  keepAccount(account: Account): Promise<void> {
    return this.#write(this.#accountFile(account.directory), account)
  }

  get #certificateFile(): string {
    return join(this.#folder, 'certificate.json')
  }

  #accountFile(directory: string): string {
    return join(this.#folder, `account-${createHash('sha256').update(directory).digest('hex').slice(0, 16)}.json`)
  }

  async #write(path: string, content: unknown): Promise<void> {
    await mkdir(this.#folder, { recursive: true, mode: 0o700 })
    await placeWhole(path, [Buffer.from(`${JSON.stringify(content, undefined, 2)}\n`)])
  }
}

const isText = (value: unknown): value is string => typeof value === 'string'

/** Returns an empty object if the file is missing or damaged. */
async function read(path: string): Promise<Readonly<Record<string, unknown>>> {
  try {
    const value: unknown = JSON.parse(await readFile(path, 'utf8'))
    return typeof value === 'object' && value !== null ? { ...value } : {}
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code !== 'ENOENT') throw error
    return {}
  }
}
