/** Kinds of records for the tests of the store: one for each sort of index, and a setting. */
import { z } from 'zod'
import { Database } from '#store/database.ts'
import type { Bytes, Kv } from '#store/kv.ts'
import { defineRecord } from '#store/record-kind.ts'
import { unpack, type Element } from '#store/tuple.ts'

const petSchema = z.object({
  id: z.string(),
  project: z.string(),
  name: z.string(),
  tag: z.string(),
  colours: z.array(z.string()),
  born: z.number(),
})
export type Pet = z.infer<typeof petSchema>

/** Indexed by color and birthday; unique by name in the organization, and by tag in the whole store. */
export const pets = defineRecord<Pet>({
  name: 'pet',
  schema: petSchema,
  indexes: { colour: (pet) => pet.colours.map((colour) => [colour, pet.born]), born: (pet) => [[pet.born]] },
  unique: { name: (pet) => [[pet.name]] },
  lookups: { tag: (pet) => [[pet.tag]] },
  projectOf: (pet) => pet.project,
})

const buildingSchema = z.object({ id: z.string(), street: z.string() })
export const fixtures = defineRecord<z.infer<typeof buildingSchema>>({ name: 'house', schema: buildingSchema, isSetting: true })

export const pet = (id: string, more: Partial<Pet> = {}): Pet => ({
  id,
  project: 'prj_a',
  name: `name of ${id}`,
  tag: `tag of ${id}`,
  colours: ['grey'],
  born: 0,
  ...more,
})

/** Returns all keys of the store as elements, without values. */
export async function keysOf({ kv }: Database): Promise<readonly (readonly Element[])[]> {
  const keys: Element[][] = []
  for await (const { key } of kv.range({ start: Buffer.of(0), end: Buffer.of(0xff) })) keys.push(unpack(key))
  return keys
}

/** Returns a database on a map that passes calls to another map, except for the replaced methods. */
export const databaseWith = (kv: Kv, replaced: Partial<Kv>): Database =>
  new Database({
    get: (key: Bytes) => kv.get(key),
    getMany: (keys) => kv.getMany(keys),
    range: (range) => kv.range(range),
    counter: (key) => kv.counter(key),
    counters: (keys) => kv.counters(keys),
    write: (write) => kv.write(write),
    [Symbol.asyncDispose]: () => kv[Symbol.asyncDispose](),
    ...replaced,
  })
