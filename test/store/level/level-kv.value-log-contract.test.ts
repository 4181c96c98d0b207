/** The contract of the ordered map, for the embedded store: with every value in the value log, in tiny segments. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test from 'ava'
import type { Kv } from '#store/kv.ts'
import { LevelKv } from '#store/level/level-kv.ts'
import { kvContract } from '../../contracts/kv-contract.ts'

const folders = new Map<Kv, string>()

async function openIn(folder: string): Promise<Kv> {
  const kv = await LevelKv.open(folder, { maxInline: 0, segmentBytes: 4096 })
  folders.set(kv, folder)
  return kv
}

kvContract(test, {
  open: async () => openIn(await mkdtemp(join(tmpdir(), 'postern-contract-'))),
  async reopen(kv) {
    await kv[Symbol.asyncDispose]()
    return openIn(folders.get(kv) ?? '')
  },
})

test.after.always(() => Promise.all([...new Set(folders.values())].map((folder) => rm(folder, { recursive: true, force: true }))))
