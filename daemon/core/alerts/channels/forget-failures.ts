/** Ends the state of failing of a channel, in the write that repairs it, turns it off or gives it another target. */
import type { Database } from '#store/database.ts'
import type { Settle } from '../../findings/settle.ts'
import type { Transaction } from '../../writes/transact.ts'
import { readState, writeState } from '../channel-state.ts'

export interface FailuresOptions {
  readonly database: Database
  readonly settle: Pick<Settle, 'end'>
}

/** Must precede other changes of the state in the same write. */
export async function forgetFailures(
  { database, settle }: FailuresOptions,
  change: Transaction,
  organizationId: string,
  channelId: string,
): Promise<void> {
  const before = await readState(database, organizationId, channelId)
  const { failingSince, unchecked } = before.state
  if (failingSince === null && unchecked.length === 0) return
  writeState(change, organizationId, channelId, before, { ...before.state, unchecked: [], failingSince: null })
  await settle.end(change, organizationId, { kind: 'alerts.undeliverable', subject: channelId })
}
