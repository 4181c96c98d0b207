/** The temporary folder of a run, deleted with the run, and the cleanup of folders of killed runs. */
import { rmSync } from 'node:fs'
import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { hostname, tmpdir } from 'node:os'
import { join } from 'node:path'

const prefix = 'postern-capture-'
const ownerFile = 'owner.json'
/** A folder without an owner file may belong to a run that has just started, so it is kept for this time. */
const namelessMs = 3_600_000

interface Owner {
  readonly pid: number
  readonly host: string
}

/** Creates a folder that only its user can read. The exit of the process deletes it at the latest. */
export async function makeRunFolder(parent = tmpdir()): Promise<string> {
  const folder = await mkdtemp(join(parent, prefix))
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }))
  const owner: Owner = { pid: process.pid, host: hostname() }
  await writeFile(join(folder, ownerFile), JSON.stringify(owner), { mode: 0o600 })
  return folder
}

export const removeRunFolder = (folder: string): Promise<void> => rm(folder, { recursive: true, force: true, maxRetries: 3 })

/** Removes folders of this user whose process has ended. Keeps folders of other machines, because machines can share the parent folder. */
export async function removeLeftFolders(parent = tmpdir()): Promise<void> {
  const names = await readdir(parent).catch(() => [])
  const ours = names.filter((name) => name.startsWith(prefix)).map((name) => join(parent, name))
  await Promise.all(ours.map((folder) => removeIfLeft(folder).catch(() => undefined)))
}

async function removeIfLeft(folder: string): Promise<void> {
  const found = await stat(folder)
  if (process.getuid !== undefined && found.uid !== process.getuid()) return
  const owner = await ownerOf(folder)
  const isLeft = owner ? owner.host === hostname() && !isAlive(owner.pid) : Date.now() - found.mtimeMs > namelessMs
  if (isLeft) await removeRunFolder(folder)
}

async function ownerOf(folder: string): Promise<Owner | undefined> {
  try {
    return JSON.parse(await readFile(join(folder, ownerFile), 'utf8')) as Owner
  } catch {
    return undefined
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}
