/**
 * Large values of a store as objects. An object becomes durable before the row that names it, and is removed after the row. Its name is
 * never used again. The name ends in the key of the row, so that a sweep can find out whether the row still names the object.
 */
import { createHash, randomUUID } from 'node:crypto'
import type { Client } from 'pg'
import { objectIdOf, objectOf, sealObject, seal, type ObjectPlace } from '../../engine/codec.ts'
import type { LargeValue } from '../../engine/group.ts'
import { joined, lengthOf, StoreAway, StoreFailure, StoreUnavailable, type Bytes, type Setting } from '../../kv.ts'
import { Slots } from './slots.ts'
import type { ObjectStore } from './object-store.ts'

/** Settings for the storage of large values. */
export interface ObjectOptions {
  readonly objects: ObjectStore
  /** Smallest size of a large value, in octets. 262,144 by default, the size of a full row of content. */
  readonly leastBytes?: number
}

interface Kept extends ObjectPlace {
  readonly name: string
  readonly at: number
}

const defaultLeastBytes = 256 * 1024
/** Values with longer keys stay in the database, because a file name has at most 255 octets. */
const maxKeyBytes = 150
/** Largest number of requests in flight. */
const maxAtOnce = 32
/**
 * Largest age of an object when a row names it, because a sweep may remove older objects. Less than a minute passes between this check and
 * the commit, because the database ends sessions with idle transactions.
 */
const maxAgeMs = 3_600_000
/** Advisory lock for creating the table; the name in bytes. */
const tableLock = 0x7074_6f73

export class LargeValues {
  readonly leastBytes: number
  readonly objects: ObjectStore
  /** First part of the names of all objects. */
  readonly folder: string
  readonly #slots = new Slots(maxAtOnce)
  readonly #kept = new WeakMap<Setting, Kept>()

  private constructor({ objects, leastBytes = defaultLeastBytes }: ObjectOptions, folder: string) {
    this.objects = objects
    this.leastBytes = leastBytes
    this.folder = folder
  }

  /** Throws `StoreUnavailable` if the objects of this store are in another place or unreadable. */
  static async open(client: Client, options: ObjectOptions): Promise<LargeValues> {
    const { objects } = options
    try {
      return new LargeValues(options, await folderOf(client, objects))
    } catch (error) {
      if (error instanceof StoreAway) throw new StoreUnavailable(error.message, { cause: error })
      throw error
    }
  }

  isLarge({ key, value }: Setting): boolean {
    return (value instanceof Uint8Array ? value.length : lengthOf(value)) >= this.leastBytes && key.length <= maxKeyBytes
  }

  /** Resolves when the value of a setting is durable as an object. Throws `StoreAway`. */
  async keep(setting: Setting): Promise<void> {
    const { key, value } = setting
    const id = Buffer.from(randomUUID().replaceAll('-', ''), 'hex')
    const content = value instanceof Uint8Array ? value : joined(value)
    const sha256 = createHash('sha256').update(content).digest()
    const name = this.#nameOf(key, id)
    const at = Date.now()
    await this.#slots.run(() => this.objects.put(name, content, sha256.toString('hex')))
    this.#kept.set(setting, { name, at, id, size: content.length, sha256 })
  }

  /** Returns the names of the objects of these settings. */
  namesOf(settings: readonly Setting[]): string[] {
    return settings.flatMap((setting) => this.#kept.get(setting)?.name ?? [])
  }

  /** Returns the name of the object in a row. The first octets of the row are sufficient. */
  nameIn(key: Bytes, stored: Bytes): string {
    return this.#nameOf(key, objectIdOf(stored))
  }

  /** Returns the row for a large value. Throws if its object became too old while the write waited. */
  sealed({ setting, pieces, version }: Pick<LargeValue, 'setting' | 'pieces' | 'version'>): Bytes {
    const kept = this.#kept.get(setting)
    if (!kept) return seal(version, joined(pieces))
    if (kept.at < Date.now() - maxAgeMs) throw new StoreFailure('A write waited for more than an hour after its objects were stored.')
    return sealObject(version, kept)
  }

  /** Reads the value of a row and verifies its hash. Returns undefined if the object is missing. Throws `StoreAway`, `StoreFailure`. */
  async load(key: Bytes, stored: Bytes): Promise<Bytes | undefined> {
    const name = this.nameIn(key, stored)
    const content = await this.#slots.run(() => this.objects.get(name))
    if (!content) return undefined
    const { size, sha256 } = objectOf(stored)
    if (content.length === size && createHash('sha256').update(content).digest().equals(sha256)) return content
    throw new StoreFailure(`The object ${name} in ${this.objects.shown} differs from its hash: ${remedy}`, { key })
  }

  /** Returns the error for a missing object that a row names. */
  async missing(key: Bytes, stored: Bytes): Promise<Error> {
    if (!(await this.objects.get(markerIn(this.folder))))
      return new StoreAway(
        `${this.objects.shown} does not contain the objects of this store at the moment. Check that the folder is mounted.`,
      )
    return new StoreFailure(`The object ${this.nameIn(key, stored)} is missing in ${this.objects.shown}: ${remedy}`, { key })
  }

  /** Returns the key in the name, and the id of the object; undefined for any other name. */
  placeIn(name: string): { readonly key: Buffer; readonly id: Buffer } | undefined {
    const [, id = '', key = ''] = /\/([0-9a-f]{32})\.([\w-]*)$/.exec(name) ?? []
    return id === '' ? undefined : { key: Buffer.from(key, 'base64url'), id: Buffer.from(id, 'hex') }
  }

  #nameOf(key: Bytes, id: Bytes): string {
    const hex = Buffer.from(id).toString('hex')
    return `${this.folder}/${hex.slice(0, 2)}/${hex}.${Buffer.from(key).toString('base64url')}`
  }
}

const remedy = 'restore it from a copy of the objects, or restore a backup.'
/** Marker, written as the first object. It identifies the place of the objects of this store. */
const markerIn = (folder: string): string => `${folder}/store`

/** Returns the folder of the store, which the first start with objects creates. */
async function folderOf(client: Client, objects: ObjectStore): Promise<string> {
  await client.query('BEGIN')
  try {
    await client.query('SET LOCAL idle_in_transaction_session_timeout = 60000') // the first object is written during the transaction
    await client.query('SELECT pg_advisory_xact_lock($1)', [tableLock])
    await client.query(
      'CREATE TABLE IF NOT EXISTS postern_objects (single boolean PRIMARY KEY CHECK (single), folder text NOT NULL, place text NOT NULL)',
    )
    const { rows } = await client.query<{ folder: string; place: string }>('SELECT folder, place FROM postern_objects')
    const folder = rows[0]?.folder ?? randomUUID()
    if (!rows[0]) await begin(objects, folder)
    else if (!(await objects.get(markerIn(folder))))
      throw new StoreUnavailable(`${objects.shown} does not contain ${folder}, the objects of this store. They were in ${rows[0].place}.`)
    await client.query(
      'INSERT INTO postern_objects (single, folder, place) VALUES (true, $1, $2) ON CONFLICT (single) DO UPDATE SET place = $2',
      [folder, objects.shown],
    )
    await client.query('COMMIT')
    return folder
  } catch (error) {
    await client.query('ROLLBACK').catch(() => undefined)
    throw error
  }
}

async function begin(objects: ObjectStore, folder: string): Promise<void> {
  const content = Buffer.from(
    'Objects of a Postern store. They are useless without its database, and the database is useless without them.\n',
  )
  await objects.prepare(folder)
  await objects.put(markerIn(folder), content, createHash('sha256').update(content).digest('hex'))
}

/** For a start without objects. Throws `StoreUnavailable` if the store has objects. */
export async function refuseWithObjects(client: Client): Promise<void> {
  const { rows } = await client.query<{ there: boolean }>("SELECT to_regclass('postern_objects') IS NOT NULL AS there")
  if (rows[0]?.there !== true) return
  const { rows: places } = await client.query<{ place: string }>('SELECT place FROM postern_objects')
  if (places[0]) throw new StoreUnavailable(`Contents of this store are in ${places[0].place}; set POSTERN_STORE_OBJECTS to it.`)
}
