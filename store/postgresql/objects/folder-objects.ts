/** Objects as files in a folder that all daemons share. */
import { mkdir, open, opendir, readFile, rename, rm, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { StoreAway, type Bytes } from '../../kv.ts'
import type { ListedObject, ObjectStore } from './object-store.ts'

/** Suffix of an incomplete file. */
export const partSuffix = '.part'

const codeOf = (error: unknown): unknown => (error as { code?: unknown }).code

export class FolderObjects implements ObjectStore {
  readonly shown: string
  readonly #root: string
  readonly #made = new Set<string>()

  constructor(root: string) {
    this.#root = root
    this.shown = `file://${root}`
  }

  async prepare(folder: string): Promise<void> {
    await this.#try(async () => {
      await stat(this.#root) // must exist: creating it for an unmounted folder would write to the disk below the mount point
      await mkdir(join(this.#root, folder), { mode: 0o700 }).catch(unlessThere)
      await syncFolder(this.#root)
    })
  }

  /** Syncs the file, renames it to its name, then syncs the folder. */
  async put(name: string, content: Bytes): Promise<void> {
    const path = join(this.#root, name)
    const folder = dirname(path)
    await this.#try(async () => {
      if (!this.#made.has(folder)) await this.#make(folder)
      const file = await open(path + partSuffix, 'w', 0o600)
      try {
        await file.writeFile(content)
        await file.sync()
      } finally {
        await file.close()
      }
      await rename(path + partSuffix, path)
      await syncFolder(folder)
    })
  }

  async get(name: string): Promise<Bytes | undefined> {
    return this.#try(async () => {
      try {
        return await readFile(join(this.#root, name))
      } catch (error) {
        if (codeOf(error) === 'ENOENT') return undefined
        throw error
      }
    })
  }

  async remove(name: string): Promise<void> {
    await this.#try(() => rm(join(this.#root, name), { force: true }))
  }

  async *list(folder: string): AsyncIterable<ListedObject> {
    for await (const { name, parentPath } of await this.#try(() => opendir(join(this.#root, folder), { recursive: true }))) {
      const path = join(parentPath, name)
      const found = await stat(path).catch(() => undefined) // removed after it was listed
      if (found?.isFile()) yield { name: path.slice(this.#root.length + 1), modifiedAt: found.mtimeMs }
    }
  }

  /** Creates a folder, but not its parent. If the parent is missing, the file system is not mounted, and the call throws. */
  async #make(folder: string): Promise<void> {
    await mkdir(folder, { mode: 0o700 }).catch(unlessThere)
    await syncFolder(dirname(folder))
    this.#made.add(folder)
  }

  async #try<Result>(work: () => Promise<Result>): Promise<Result> {
    try {
      return await work()
    } catch (error) {
      throw new StoreAway(`The folder of objects at ${this.#root} cannot be used: ${(error as Error).message}`, { cause: error })
    }
  }
}

function unlessThere(error: unknown): void {
  if (codeOf(error) !== 'EEXIST') throw error
}

async function syncFolder(path: string): Promise<void> {
  const folder = await open(path)
  try {
    await folder.sync()
  } finally {
    await folder.close()
  }
}
