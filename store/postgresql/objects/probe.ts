/** Tests object storage: writes, reads and removes an object outside the folders of stores. */
import { createHash, randomUUID } from 'node:crypto'
import { StoreAway } from '../../kv.ts'
import type { ObjectStore } from './object-store.ts'

const folder = 'doctor'

/** Throws `StoreAway` if the storage is unreachable, refuses, or returns other content. */
export async function probeObjects(objects: ObjectStore): Promise<void> {
  const name = `${folder}/${randomUUID()}`
  const content = Buffer.from(name)
  await objects.prepare(folder)
  await objects.put(name, content, createHash('sha256').update(content).digest('hex'))
  const found = await objects.get(name)
  await objects.remove(name)
  if (!found || Buffer.compare(found, content) !== 0)
    throw new StoreAway(`${objects.shown} does not return an object that was just written.`)
}
