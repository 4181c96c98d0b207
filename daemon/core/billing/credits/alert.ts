/** Credits that are nearly used up, of which members are to be notified: a row of the write that used them. */
import { decode, encode, type Change } from '#store/change.ts'
import { globalKey } from '#store/record-kind.ts'
import type { Bytes } from '#store/kv.ts'
import type { Element } from '#store/tuple.ts'

/** A row for each organization whose members are still to be notified, with the share that is used, in percent. */
export const creditAlertPrefix = globalKey('credit.alert')
/** One came. See `Database.onWork`. */
export const creditAlertWork = 'credit.alert'

export const creditAlertKey = (organizationId: string): readonly Element[] => [...creditAlertPrefix, organizationId]

/** A later one takes the place of one that is not told yet. */
export const noteAlert = (change: Change, organizationId: string, percent: number): Change =>
  change.set(creditAlertKey(organizationId), encode(percent)).schedule(creditAlertWork, organizationId)

export const alertPercentOf = (value: Bytes): number => decode<number>(value)
