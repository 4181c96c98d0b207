/** How the command line finds and convinces a running daemon: a file in the data folder, which only its user can read. */
import { readFile, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { formatEndpoint, type Endpoint } from '#config/formats.ts'

/** Where a running daemon takes orders of its operator. */
export interface OperatorAccess {
  /** Scheme, host and port. */
  readonly origin: string
  readonly token: string
}

const operatorFile = (dataDir: string): string => join(dataDir, 'operator.json')

/** Writes the file beside its place and renames it, so that a reader never sees half of it. */
export async function writeOperatorFile(dataDir: string, { host, port }: Endpoint, token: string): Promise<void> {
  const reachable = host === '0.0.0.0' ? '127.0.0.1' : host === '::' ? '::1' : host
  const access: OperatorAccess = { origin: `http://${formatEndpoint({ host: reachable, port })}`, token }
  const unfinished = `${operatorFile(dataDir)}.tmp`
  await writeFile(unfinished, `${JSON.stringify(access)}\n`, { mode: 0o600 })
  await rename(unfinished, operatorFile(dataDir))
}

/** Undefined when no daemon runs, as far as the file tells. */
export async function readOperatorFile(dataDir: string): Promise<OperatorAccess | undefined> {
  const text = await readFile(operatorFile(dataDir), 'utf8').catch(() => undefined)
  return text === undefined ? undefined : (JSON.parse(text) as OperatorAccess)
}

export const clearOperatorFile = (dataDir: string): Promise<void> => rm(operatorFile(dataDir), { force: true })
