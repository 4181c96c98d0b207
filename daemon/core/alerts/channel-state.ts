/**
 * What Postern remembers of a channel beside its settings: when it looks again, its latest messages, and whether they arrive. Each row has
 * a twin in order of time, which the notifier reads.
 */
import { Change, decode, encode } from '#store/change.ts'
import type { Database } from '#store/database.ts'
import { globalKey } from '#store/record-kind.ts'
import { pack, unpack, within, type Element } from '#store/tuple.ts'

export interface ChannelState {
  /** Time of the next look; null if nothing is expected. */
  readonly dueMs: number | null
  /** Times of the messages of the last hour, in order. */
  readonly sentAt: readonly number[]
  /** Messages whose arrival was not checked yet: time, id of the delivery, which is empty for mail, and ids of the mails. */
  readonly unchecked: readonly (readonly [at: number, deliveryId: string, mailIds?: readonly string[]])[]
  /** Since when messages do not arrive; null if they do. */
  readonly failingSince: number | null
}

const emptyState: ChannelState = { dueMs: null, sentAt: [], unchecked: [], failingSince: null }

export interface StoredState {
  readonly state: ChannelState
  /** Undefined before the first write. */
  readonly version: bigint | undefined
}

/** See `Database.onWork`. */
export const alertWork = 'alert.due'

/** Number of states that one write removes. */
const mostRemoved = 50

const stateKey = (organizationId: string, ...rest: readonly Element[]): readonly Element[] => [organizationId, 'alert.state', ...rest]
const dueKey = (...rest: readonly Element[]): readonly Element[] => globalKey('alert.due', ...rest)

export async function readState({ kv }: Pick<Database, 'kv'>, organizationId: string, channelId: string): Promise<StoredState> {
  const row = await kv.get(pack(stateKey(organizationId, channelId)))
  return { state: row ? decode<ChannelState>(row.value) : emptyState, version: row?.version }
}

/**
 * Writes the state with its due row. The commit is a conflict if the state was changed after the read. A second call for one write replaces
 * the first state; it must not remove the time of the next look.
 */
export function writeState(change: Change, organizationId: string, channelId: string, before: StoredState, next: ChannelState): void {
  const key = stateKey(organizationId, channelId)
  const pending = pendingState(change, organizationId, channelId)
  if (!pending) change.check(key, before.version)
  const name = slotName(organizationId, channelId)
  change.setSlot(name, key, encode(next))
  const hasOldRow = (pending ?? before.state).dueMs === before.state.dueMs
  if (hasOldRow && before.state.dueMs !== next.dueMs) removeDue(change, organizationId, channelId, before.state)
  if (next.dueMs !== null) change.setSlot(`${name} due`, dueKey(next.dueMs, organizationId, channelId)).schedule(alertWork, channelId)
}

const slotName = (organizationId: string, channelId: string): string => `alert ${organizationId} ${channelId}`

/** Returns the state that the change writes so far. */
function pendingState(change: Change, organizationId: string, channelId: string): ChannelState | undefined {
  const value = change.slot(slotName(organizationId, channelId))
  return value && decode<ChannelState>(value)
}

/** Removes the state of a deleted channel. */
export function removeState(change: Change, organizationId: string, channelId: string, { state, version }: StoredState): void {
  if (version === undefined) return
  const key = stateKey(organizationId, channelId)
  change.check(key, version).delete(key)
  removeDue(change, organizationId, channelId, state)
}

function removeDue(change: Change, organizationId: string, channelId: string, { dueMs }: ChannelState): void {
  if (dueMs !== null) change.delete(dueKey(dueMs, organizationId, channelId))
}

/**
 * Lets the channel look at this time at the latest. Always changes the row, so that a look in progress begins again. Several calls for one
 * write keep the earliest time.
 */
export async function lookBy(database: Database, change: Change, organizationId: string, channelId: string, dueMs: number): Promise<void> {
  const before = await readState(database, organizationId, channelId)
  const state = pendingState(change, organizationId, channelId) ?? before.state
  writeState(change, organizationId, channelId, before, { ...state, dueMs: Math.min(state.dueMs ?? Infinity, dueMs) })
}

export interface DueChannel {
  readonly dueMs: number
  readonly organizationId: string
  readonly channelId: string
}

/** Returns the channels that look now, earliest first, and after the given one. */
export async function dueChannels(
  { kv }: Pick<Database, 'kv'>,
  now: number,
  limit: number,
  after?: DueChannel,
): Promise<readonly DueChannel[]> {
  const found: DueChannel[] = []
  const { end: start } = after ? within(dueKey(after.dueMs, after.organizationId, after.channelId)) : { end: pack(dueKey()) }
  for await (const { key } of kv.range({ start, end: pack(dueKey(now + 1)), limit })) found.push(toDue(key))
  return found
}

/** Removes the states of all channels of an organization that is being removed, with the rows of their next looks. */
export async function removeStates(
  { database, stopping }: { readonly database: Database; readonly stopping: () => boolean },
  organizationId: string,
): Promise<void> {
  while (!stopping()) {
    const change = new Change()
    for await (const { key, value, version } of database.kv.range({ ...within(stateKey(organizationId)), limit: mostRemoved })) {
      const channelId = String(unpack(key).at(-1))
      removeState(change, organizationId, channelId, { state: decode<ChannelState>(value), version })
    }
    if (change.deletes.length === 0) return
    await database.commit(change) // if a state changed concurrently, the next iteration reads it again
  }
}

/** Returns the time of the next look of any channel; Infinity without one. */
export async function nextDueMs({ kv }: Pick<Database, 'kv'>): Promise<number> {
  for await (const { key } of kv.range({ ...within(dueKey()), limit: 1 })) return toDue(key).dueMs
  return Infinity
}

function toDue(key: Uint8Array): DueChannel {
  const [, , dueMs, organizationId, channelId] = unpack(key)
  return { dueMs: Number(dueMs), organizationId: String(organizationId), channelId: String(channelId) }
}

/** Deletes a due row whose state has another time, which an earlier write left behind. */
export const deleteDue = (change: Change, { dueMs, organizationId, channelId }: DueChannel): Change =>
  change.delete(dueKey(dueMs, organizationId, channelId))

/** Checks for `postern verify` that the state of a due row has its time. */
export async function checkDueRow(database: Database, key: readonly Element[]): Promise<string[]> {
  const { dueMs, organizationId, channelId } = toDue(pack(key))
  const { state } = await readState(database, organizationId, channelId)
  return state.dueMs === dueMs ? [] : [`the channel ${channelId} does not look at that time`]
}

/** Checks for `postern verify` that a state has its due row. */
export async function checkState(
  { kv }: Database,
  [organizationId, , channelId]: readonly Element[],
  value: Uint8Array,
): Promise<string[]> {
  const { dueMs } = decode<ChannelState>(value)
  if (dueMs === null || (await kv.get(pack(dueKey(dueMs, organizationId as string, channelId as string))))) return []
  return ['its next look has no due row']
}
