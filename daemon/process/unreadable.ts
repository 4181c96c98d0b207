/** Reads files in a data folder that may belong to another user. The error names that user. */
import { readFile, stat } from 'node:fs/promises'
import { dirname } from 'node:path'
import { exitCodes } from './lifecycle.ts'
import { StartRefused } from './start-refused.ts'

const denials: ReadonlySet<string> = new Set(['EACCES', 'EPERM'])

/** Whether the file system refused access for this user. */
const isDenied = (error: unknown): boolean => denials.has(String((error as NodeJS.ErrnoException).code))

/** A file that only another user can read. */
export class Unreadable extends StartRefused {
  /** Such as `postern (uid 998)`. */
  readonly owner: string

  constructor(path: string, owner: string, cause: unknown) {
    super(`${path} cannot be read by this user, only by ${owner}; run the command as that user.`, exitCodes.failed, { cause })
    this.owner = owner
  }
}

/** Returns the text of a file; undefined if it does not exist. Throws `Unreadable`. */
export async function readOwn(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, 'utf8')
  } catch (error) {
    if (isDenied(error)) throw new Unreadable(path, await ownerOf(path), error)
    return undefined
  }
}

/** Whether the file or folder exists. Throws `Unreadable` if that is not visible. */
export async function isThere(path: string): Promise<boolean> {
  try {
    await stat(path)
    return true
  } catch (error) {
    if (isDenied(error)) throw new Unreadable(path, await ownerOf(path), error)
    return false
  }
}

/** Returns the owner of the file, or of the nearest visible folder around it. */
async function ownerOf(path: string): Promise<string> {
  for (let at = path; ; at = dirname(at)) {
    const found = await stat(at).catch(() => undefined)
    if (found) return nameOf(found.uid)
    if (at === dirname(at)) return 'another user'
  }
}

async function nameOf(uid: number): Promise<string> {
  const users = await readFile('/etc/passwd', 'utf8').catch(() => '')
  const row = users.split('\n').find((line) => line.split(':')[2] === String(uid))
  return row === undefined ? `the user with uid ${uid}` : `${row.split(':')[0]} (uid ${uid})`
}
