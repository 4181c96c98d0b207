/** What root writes into a folder of the daemon's user belongs to that user, or the daemon could not use it. */
import { lchown, readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'

export interface Owner {
  readonly uid: number
  readonly gid: number
}

/** Whose a file that this process writes into the folder must be; undefined unless root writes it. */
export async function ownerForRoot(folder: string): Promise<Owner | undefined> {
  return process.getuid?.() === 0 ? stat(folder) : undefined
}

/** Gives a folder and everything in it to the owner that the folder has; does nothing for any other user than root. */
export async function giveToOwnerOf(folder: string): Promise<void> {
  if (process.getuid?.() !== 0) return
  const owner = await stat(folder)
  if (owner.uid === 0) return
  for (const entry of await readdir(folder, { recursive: true })) await give(join(folder, entry), owner)
}

/** The same for one file of the folder. */
export async function giveFileToOwnerOf(folder: string, name: string): Promise<void> {
  if (process.getuid?.() === 0) await give(join(folder, name), await stat(folder))
}

const give = (path: string, { uid, gid }: Owner): Promise<void> => lchown(path, uid, gid)
