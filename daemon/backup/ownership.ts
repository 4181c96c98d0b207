/** Changes the owner of files that root writes into the daemon's folders, because the daemon could not use them otherwise. */
import { lchown, readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'

export interface Owner {
  readonly uid: number
  readonly gid: number
}

/** Returns the required owner of a file that this process writes into the folder; undefined unless the process runs as root. */
export async function ownerForRoot(folder: string): Promise<Owner | undefined> {
  return process.getuid?.() === 0 ? stat(folder) : undefined
}

/** Gives all entries of a folder to the folder's owner. Does nothing unless the process runs as root. */
export async function giveToOwnerOf(folder: string): Promise<void> {
  if (process.getuid?.() !== 0) return
  const owner = await stat(folder)
  if (owner.uid === 0) return
  for (const entry of await readdir(folder, { recursive: true })) await give(join(folder, entry), owner)
}

/** Like `giveToOwnerOf`, for one file of the folder. */
export async function giveFileToOwnerOf(folder: string, name: string): Promise<void> {
  if (process.getuid?.() === 0) await give(join(folder, name), await stat(folder))
}

const give = (path: string, { uid, gid }: Owner): Promise<void> => lchown(path, uid, gid)
