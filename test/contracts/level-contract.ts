/** The contract of the ordered map, for the embedded store. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestFn } from 'ava'
import type { Kv } from '#store/kv.ts'
import { LevelKv, type LevelOptions } from '#store/level/level-kv.ts'
import { kvContract } from './kv-contract.ts'

/** Declares the tests of the contract, for a store opened with these options. */
export function levelContract(test: TestFn, options: LevelOptions = {}): void {
  const folders = new Map<Kv, string>()
  const openIn = async (folder: string): Promise<Kv> => {
    const kv = await LevelKv.open(folder, options)
    folders.set(kv, folder)
    const close = kv[Symbol.asyncDispose].bind(kv)
    const closeAndRemove = async (): Promise<void> => {
      await close()
      if (folders.has(kv)) await rm(folder, { recursive: true, force: true })
    }
    return Object.assign(kv, { [Symbol.asyncDispose]: closeAndRemove })
  }
  kvContract(test, {
    open: async () => openIn(await mkdtemp(join(tmpdir(), 'postern-contract-'))),
    async reopen(kv) {
      const folder = folders.get(kv) ?? ''
      folders.delete(kv)
      await kv[Symbol.asyncDispose]()
      return openIn(folder)
    },
  })
}
